// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/flow_graph.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/core.h>

namespace fkt {
namespace {

constexpr std::size_t kMostTableEntries = 4096;
constexpr std::string_view kIndirectThunks[] = {"__x86_indirect_thunk_", "__x86_indirect_call_",
                                                "__x86_indirect_jump_", "__x86_indirect_its_"};
constexpr std::string_view kReturnThunks[] = {"__x86_return_thunk",      "retbleed_return_thunk",
                                              "srso_return_thunk",       "srso_alias_return_thunk",
                                              "call_depth_return_thunk", "its_return_thunk"};
// A nop of five bytes: ftrace puts it in the place of the call of __fentry__ while the function is
// not traced.
constexpr std::array<std::uint8_t, 5> kTracersNop = {0x0f, 0x1f, 0x44, 0x00, 0x00};
constexpr std::uint8_t kCall = 0xe8;

}  // namespace

std::string_view edge_key(EdgeKind kind) {
  constexpr std::string_view kKeys[] = {"falls",     "branch",    "jump",    "label",   "table",
                                        "exception", "tail_call", "returns", "unknown", "stops"};
  return kKeys[static_cast<std::size_t>(kind)];
}

class FlowGraph::Builder {
 public:
  Builder(const CodeImage& image, FlowGraph& graph) : image_(image), graph_(graph) {}

  Status build() {
    const CodeFunction& function = graph_.function_;
    FKT_TRY(decode(function));
    for (std::size_t part = 0; part < graph_.parts_.size(); part++) FKT_TRY(decode_aside(part));
    find_entry();
    find_leaders();
    make_blocks();
    for (std::uint32_t i = 0; i < graph_.blocks_.size(); i++) make_edges(i);
    drop_padding();
    return Done{};
  }

 private:
  // A leader begins a block; it is met if anything leads there but the instruction before it.
  static constexpr std::uint8_t kLeader = 1, kMet = 2;

  Status decode(const CodeFunction& function) {
    const std::uint64_t begin = function.begin, end = function.end;
    std::uint64_t furthest = begin;  // that something so far leads to
    std::vector<Instruction>& all = graph_.instructions_;
    Part part{begin, end, static_cast<std::uint32_t>(all.size()), 0};
    const ByteView code = image_.at(begin, end - begin);
    for (std::uint64_t at = begin; at < part.end;) {
      const auto one = decode_instruction(subview(code, at - begin, kLongestInstruction), at);
      if (!one || one->end() > end) {
        return Error{ErrorCode::format,
                     fmt::format("{}: no instruction begins at +{:#x}", graph_.function_.name,
                                 at - graph_.function_.begin)};
      }
      all.push_back(*one);
      name_flow(all.back());
      at = one->end();
      furthest = std::max(furthest, furthest_from(*one, end));
      if (function.has_open_end && one->ends_path() && at > furthest) part.end = at;
    }
    part.behind = static_cast<std::uint32_t>(all.size());
    graph_.parts_.push_back(part);
    return Done{};
  }

  // Returns the address furthest on, before `end`, that an instruction leads to.
  std::uint64_t furthest_from(const Instruction& one, std::uint64_t end) const {
    std::uint64_t furthest = 0;
    const auto note = [&](std::uint64_t target) {
      if (target < end) furthest = std::max(furthest, target);
    };
    if (one.flow == Flow::jump || one.flow == Flow::conditional) note(one.target);
    for (const CodeSite& site : image_.sites_at(one.address)) {
      note(site.kind == SiteKind::warning ? one.end() : site.target);
    }
    return furthest;
  }

  // A jump or call of a thunk is what the thunk does.
  void name_flow(Instruction& one) const {
    if (one.flow != Flow::jump && one.flow != Flow::call) return;
    const CodeFunction* const to = image_.function_at(one.target);
    if (to == nullptr || to->begin != one.target) return;
    const auto begins = [&](std::string_view prefix) { return to->name.starts_with(prefix); };
    if (std::ranges::any_of(kIndirectThunks, begins)) {
      one.flow = one.flow == Flow::jump ? Flow::indirect_jump : Flow::indirect_call;
    } else if (one.flow == Flow::jump && std::ranges::any_of(kReturnThunks, begins)) {
      one.flow = Flow::returns;
    }
  }

  bool is_inside(std::uint64_t address) const {
    return std::ranges::any_of(graph_.parts_, [&](const Part& part) {
      return address - part.begin < part.end - part.begin;
    });
  }

  // Adds the parts put aside that this part jumps to.
  Status decode_aside(std::size_t number) {
    const Part part = graph_.parts_[number];
    for (std::uint32_t i = part.first; i < part.behind; i++) {
      const Instruction one = graph_.instructions_[i];
      if ((one.flow != Flow::jump && one.flow != Flow::conditional) || is_inside(one.target)) {
        continue;
      }
      const CodeFunction* const to = image_.function_at(one.target);
      if (to != nullptr && to->name.find(".cold") != std::string_view::npos) {
        FKT_TRY(decode(*to));
      }
    }
    return Done{};
  }

  // At the function's first instruction, or behind the mark of a target of indirect jumps.
  void find_entry() {
    for (std::uint32_t i = 0; i < 2 && i < graph_.instructions_.size(); i++) {
      const Instruction& one = graph_.instructions_[i];
      const ByteView code = image_.at(one.address, kTracersNop.size());
      if (code.size() < kTracersNop.size() || one.bytes != kTracersNop.size()) continue;
      const bool is_nop = std::memcmp(code.data(), kTracersNop.data(), kTracersNop.size()) == 0;
      if (is_nop || (static_cast<std::uint8_t>(code[0]) == kCall && calls_tracer(one))) {
        graph_.entry_ = one.address;
        return;
      }
    }
  }
  bool calls_tracer(const Instruction& one) const {
    const CodeFunction* const to = image_.function_at(one.target);
    // A tracer's own trampoline is in no function.
    return to == nullptr || to->name == "__fentry__" || to->name.starts_with("ftrace_");
  }

  void lead(std::uint64_t address, std::uint8_t how) {
    if (const auto index = graph_.instruction_at(address)) leaders_[*index] |= how;
  }

  void find_leaders() {
    const auto& all = graph_.instructions_;
    leaders_.assign(all.size() + 1, 0);
    for (const Part& part : graph_.parts_) leaders_[part.first] |= kLeader;
    leaders_[0] |= kMet;
    for (std::size_t i = 0; i < all.size(); i++) {
      if (all[i].flow == Flow::jump || all[i].flow == Flow::conditional) {
        lead(all[i].target, kLeader | kMet);
      }
      bool ends = all[i].ends_path() || all[i].flow == Flow::conditional;
      for (const CodeSite& site : image_.sites_at(all[i].address)) {
        if (site.target != 0) lead(site.target, kLeader | kMet);
        ends |= site.kind == SiteKind::jump_label || site.kind == SiteKind::exception;
        if (site.kind == SiteKind::warning && all[i].flow == Flow::traps) ends = false;
      }
      if (ends) leaders_[i + 1] |= kLeader;
      read_jump_table(all[i].table);
    }
  }

  // Notes the targets of an array of addresses in this function, if it is one.
  void read_jump_table(std::uint64_t table) {
    if (table == 0) return;
    for (std::size_t i = 0; i < kMostTableEntries; i++) {
      std::uint64_t target = 0;
      const ByteView entry = image_.at(table + i * sizeof target, sizeof target);
      if (!read_at(entry, 0, target) || !graph_.instruction_at(target)) return;
      lead(target, kLeader | kMet);
      table_targets_.push_back(target);
    }
  }

  void make_blocks() {
    const auto& all = graph_.instructions_;
    for (std::uint32_t i = 0; i < all.size(); i++) {
      if ((leaders_[i] & kLeader) != 0) {
        graph_.blocks_.push_back({.begin = all[i].address, .end = 0, .first = i, .count = 0});
      }
      graph_.blocks_.back().end = all[i].end();
      graph_.blocks_.back().count++;
    }
    std::ranges::sort(table_targets_);
    table_targets_.erase(std::unique(table_targets_.begin(), table_targets_.end()),
                         table_targets_.end());
  }

  void add_edge(std::uint32_t from, EdgeKind kind, std::uint64_t target, bool is_open = true) {
    const auto to = target == 0 ? std::nullopt : graph_.block_at(target);
    if (!to && (kind == EdgeKind::jump || kind == EdgeKind::branch)) kind = EdgeKind::tail_call;
    graph_.edges_.push_back(
        {from, to.value_or(FlowEdge::kOutside), kind, to ? 0 : target, is_open});
  }

  // Adds the edge to the next block; where there is none, a call does not come back.
  void fall(std::uint32_t from, bool is_open = true) {
    const std::uint64_t next = graph_.blocks_[from].end;
    if (graph_.block_at(next)) return add_edge(from, EdgeKind::falls, next, is_open);
    add_edge(from, EdgeKind::stops, 0);
  }

  void make_edges(std::uint32_t from) {
    const BasicBlock& block = graph_.blocks_[from];
    const Instruction& last = graph_.instructions_[block.first + block.count - 1];
    bool is_trap = last.flow == Flow::traps;
    for (const CodeSite& site : image_.sites_at(last.address)) {
      if (site.kind == SiteKind::warning) is_trap = false;
      if (site.kind == SiteKind::exception) add_edge(from, EdgeKind::exception, site.target);
      if (site.kind == SiteKind::jump_label) {
        const bool is_taken = last.flow == Flow::jump;
        add_edge(from, EdgeKind::label, site.target, is_taken);
        return fall(from, !is_taken);
      }
    }
    switch (last.flow) {
      case Flow::conditional:
        add_edge(from, EdgeKind::branch, last.target);
        return fall(from);
      case Flow::jump:
        return add_edge(from, EdgeKind::jump, last.target);
      case Flow::indirect_jump:
        return leave_by_table(from);
      case Flow::returns:
        return add_edge(from, EdgeKind::returns, 0);
      case Flow::traps:
        if (is_trap) return add_edge(from, EdgeKind::stops, 0);
        return fall(from);
      default:
        return fall(from);
    }
  }

  void leave_by_table(std::uint32_t from) {
    for (const std::uint64_t target : table_targets_) add_edge(from, EdgeKind::table, target);
    if (table_targets_.empty()) add_edge(from, EdgeKind::unknown, 0);
  }

  // Takes out blocks that fill up the space between others: nops and traps that nothing leads to
  // but others of them.
  void drop_padding() {
    auto& blocks = graph_.blocks_;
    auto& edges = graph_.edges_;
    std::vector<std::uint32_t> ways_in(blocks.size());
    for (const FlowEdge& edge : edges) {
      if (edge.to != FlowEdge::kOutside && edge.to != edge.from) ways_in[edge.to]++;
    }
    std::vector<std::uint32_t> numbers(blocks.size(), FlowEdge::kOutside);
    std::uint32_t kept = 0;
    // Edges are in the order of the blocks that they leave.
    auto edge = edges.begin();
    for (std::uint32_t i = 0; i < blocks.size(); i++) {
      const bool is_met = (leaders_[blocks[i].first] & kMet) != 0 || ways_in[i] > 0;
      const bool is_dropped = !is_met && is_padding(blocks[i]);
      for (; edge != edges.end() && edge->from == i; ++edge) {
        if (is_dropped && edge->to != FlowEdge::kOutside && edge->to != i) ways_in[edge->to]--;
      }
      if (is_dropped) continue;
      numbers[i] = kept;
      blocks[kept++] = blocks[i];
    }
    blocks.resize(kept);
    std::erase_if(edges,
                  [&](const FlowEdge& one) { return numbers[one.from] == FlowEdge::kOutside; });
    for (FlowEdge& one : edges) {
      one.from = numbers[one.from];
      if (one.to != FlowEdge::kOutside) one.to = numbers[one.to];
    }
  }
  bool is_padding(const BasicBlock& block) const {
    return std::ranges::all_of(graph_.instructions_of(block), [&](const Instruction& one) {
      return (one.is_nop || one.flow == Flow::traps) && image_.sites_at(one.address).empty();
    });
  }

  const CodeImage& image_;
  FlowGraph& graph_;
  std::vector<std::uint8_t> leaders_;  // by instruction
  std::vector<std::uint64_t> table_targets_;
};

Result<FlowGraph> FlowGraph::of(const CodeImage& image, const CodeFunction& function) {
  FlowGraph graph;
  graph.function_ = function;
  FKT_TRY(Builder(image, graph).build());
  return graph;
}

std::optional<std::uint32_t> FlowGraph::instruction_at(std::uint64_t address) const {
  for (const Part& part : parts_) {
    if (address - part.begin >= part.end - part.begin) continue;
    const std::span some = instructions().subspan(part.first, part.behind - part.first);
    const auto found = std::ranges::lower_bound(some, address, {}, &Instruction::address);
    if (found == some.end() || found->address != address) return std::nullopt;
    return part.first + static_cast<std::uint32_t>(found - some.begin());
  }
  return std::nullopt;
}

std::optional<std::uint32_t> FlowGraph::block_at(std::uint64_t address) const {
  // By their instructions, whose order is that of the blocks.
  const auto index = instruction_at(address);
  if (!index) return std::nullopt;
  const auto found = std::ranges::lower_bound(blocks_, *index, {}, &BasicBlock::first);
  if (found == blocks_.end() || found->first != *index) return std::nullopt;
  return static_cast<std::uint32_t>(found - blocks_.begin());
}

}  // namespace fkt
