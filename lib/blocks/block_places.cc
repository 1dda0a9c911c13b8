// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/block_places.h"

#include <algorithm>

#include <fmt/core.h>

#include <fkt/call_place.h>

#include "lib/base/suggest.h"
#include "lib/base/text.h"
#include "lib/blocks/block_hooks.h"
#include "lib/blocks/flow_graph.h"

namespace fkt {
namespace {

constexpr const char* kRefused = "a trap, or an instruction that the kernel itself changes";
constexpr const char* kDerived = "its count follows from others' (fkt_blocks --hits tells it)";
constexpr const char* kTooMany = "neither can it be spliced nor are there as many kprobes";

// When a conditional jump is taken, by the low bits of its operation; each odd one is the opposite
// of the one before it (Intel's manual, volume 2, Jcc).
constexpr const char* kJumpConditions[] = {
    "regs.of == 1",
    "regs.of == 0",
    "regs.cf == 1",
    "regs.cf == 0",
    "regs.zf == 1",
    "regs.zf == 0",
    "regs.cf == 1 || regs.zf == 1",
    "regs.cf == 0 && regs.zf == 0",
    "regs.sf == 1",
    "regs.sf == 0",
    "regs.pf == 1",
    "regs.pf == 0",
    "regs.sf != regs.of",
    "regs.sf == regs.of",
    "regs.zf == 1 || regs.sf != regs.of",
    "regs.zf == 0 && regs.sf == regs.of",
};

// Returns the condition on which a jump goes where the edge leads; nothing: it does not depend on
// flags.
std::optional<Expression> jump_condition(ByteView code, EdgeKind kind) {
  const auto byte = [&](std::size_t i) {
    return i < code.size() ? static_cast<unsigned>(code[i]) : 0;
  };
  // An exception has no condition.
  if (kind != EdgeKind::branch && kind != EdgeKind::falls) return std::nullopt;
  constexpr unsigned kShort = 0x70, kNear = 0x80, kTwoBytes = 0x0f, kCondition = 0x0f;
  const bool is_near = byte(0) == kTwoBytes;
  const unsigned operation = byte(is_near ? 1 : 0);
  if ((operation & ~kCondition) != (is_near ? kNear : kShort)) return std::nullopt;
  const unsigned taken = operation & kCondition;
  const unsigned wanted = kind == EdgeKind::branch ? taken : taken ^ 1;
  auto made = Expression::parse(kJumpConditions[wanted], ExpressionSyntax::hit);
  if (!made) return std::nullopt;
  return std::move(*made);
}

// Returns the first of the instructions that a kprobe can be at; nullptr: at none of them.
const Instruction* first_probed(const CodeImage& image, const FlowGraph& graph,
                                std::span<const Instruction> instructions) {
  if (graph.function().forbidden != nullptr) return nullptr;
  const auto found = std::ranges::find_if(
      instructions, [&](const Instruction& one) { return takes_kprobe(image, one); });
  return found == instructions.end() ? nullptr : &*found;
}

// Returns the instruction of a block where it is seen; nullptr: at none of them.
const Instruction* block_place(const CodeImage& image, const FlowGraph& graph, std::uint32_t block,
                               Splices splices) {
  if (splices != Splices::none) {
    const BlockHook hook = hooks_of(image, graph)[block];
    const auto at = graph.instruction_at(hook.address);
    if (hook.kind == HookKind::splice && at) return &graph.instructions()[*at];
  }
  return first_probed(image, graph, graph.instructions_of(graph.blocks()[block]));
}

// Returns why it is at none.
const char* refusal(const FlowGraph& graph) {
  return graph.function().forbidden != nullptr ? graph.function().forbidden : kRefused;
}

std::string edge_name(const FlowGraph& graph, std::uint32_t from, std::uint32_t to) {
  return fmt::format("{}:{}-{}", graph.function().name, from, to);
}

class PlaceFinder {
 public:
  PlaceFinder(const Place& place, Splices splices, const CodeImage& image)
      : place_(place), image_(image), splices_(is_exit() ? Splices::none : splices) {}

  Result<BlockPlaces> find(SourceLines& lines) {
    if (place_.kind == Place::Kind::line) {
      FKT_TRY(add_line(lines));
    } else {
      for (const CodeFunction* function : FKT_TRY(chosen())) FKT_TRY(add_function(*function));
    }
    if (!found_.places.empty()) return std::move(found_);
    if (found_.left_out.empty()) return Error{ErrorCode::usage, "no block fits"};
    const auto& [name, reason] = found_.left_out.front();
    return Error{ErrorCode::usage, name + " cannot be probed: " + reason};
  }

 private:
  const std::string& name() const { return place_.names.patterns.front(); }

  bool is_wanted(const CodeFunction& function) const {
    return (place_.group.empty() || function.module == place_.group) &&
           !CodeImage::is_missing(function);
  }

  // Returns the functions of the place. The parts put aside belong to others.
  Result<std::vector<const CodeFunction*>> chosen() const {
    std::vector<const CodeFunction*> found;
    if (place_.names.is_one_name()) {
      for (const CodeFunction* function : image_.named(name())) {
        if (function != nullptr && is_wanted(*function)) found.push_back(function);
      }
      if (found.size() > 1) {
        return Error{ErrorCode::usage,
                     fmt::format("{} functions are called \"{}\": write block:MODULE:FUNCTION if "
                                 "they are in different modules",
                                 found.size(), name())};
      }
    } else {
      for (const CodeFunction& function : image_.functions()) {
        if (is_wanted(function) && function.name.find(".cold") == function.name.npos &&
            place_.names.has(function.name)) {
          found.push_back(&function);
        }
      }
    }
    if (!found.empty()) return found;
    NearestName nearest(name());
    for (const CodeFunction& function : image_.functions()) {
      if (is_wanted(function)) nearest.offer(function.name);
    }
    return Error{ErrorCode::usage,
                 "no function is called " + in_quotes(name()) + nearest.question()};
  }

  Status add_function(const CodeFunction& function) {
    const auto graph = FlowGraph::of(image_, function);
    if (!graph) {
      found_.left_out.push_back({std::string(function.name), graph.error().message});
      return Done{};
    }
    if (place_.kind == Place::Kind::edge) return add_edge(*graph);
    const std::size_t blocks = graph->blocks().size();
    hooks_ = splices_ == Splices::none ? std::vector<BlockHook>(blocks) : hooks_of(image_, *graph);
    if (place_.is_every) {
      for (std::uint32_t i = 0; i < blocks; i++) add_block(*graph, i, block_name(*graph, i));
    } else if (place_.number < blocks) {
      const auto i = static_cast<std::uint32_t>(place_.number);
      add_block(*graph, i, block_name(*graph, i));
    } else if (place_.names.is_one_name()) {
      return no_block(*graph, place_.number);
    }
    return Done{};
  }

  static Error no_block(const FlowGraph& graph, std::uint64_t number) {
    return {ErrorCode::usage,
            fmt::format("{} has no block {}: its last one is {} (fkt_blocks shows them)",
                        graph.function().name, number, graph.blocks().size() - 1)};
  }

  std::string block_name(const FlowGraph& graph, std::uint32_t i) const {
    return fmt::format("{}:{}{}", graph.function().name, i, is_exit() ? ":exit" : "");
  }
  bool is_exit() const { return place_.point == Place::Point::exit; }

  // Adds an instruction that runs whenever the block does: one that can be spliced, or the first
  // one that can be probed; at its exit only the last one.
  void add_block(const FlowGraph& graph, std::uint32_t i, std::string name) {
    if (hooks_[i].kind == HookKind::splice) {
      found_.places.push_back({hooks_[i].address, std::move(name)});
      return;
    }
    if (splices_ != Splices::none && place_.is_every) {
      const bool is_derived = splices_ == Splices::counts && hooks_[i].kind == HookKind::derived;
      const char* const why = is_derived                     ? kDerived
                              : kprobes_ == FKT_KPROBES_MOST ? kTooMany
                                                             : nullptr;
      if (why != nullptr) {
        found_.left_out.push_back({std::move(name), why});
        return;
      }
      kprobes_++;
    }
    auto instructions = graph.instructions_of(graph.blocks()[i]);
    if (is_exit()) instructions = instructions.last(1);
    add_first(graph, instructions, std::move(name));
  }

  void add_first(const FlowGraph& graph, std::span<const Instruction> instructions,
                 std::string name) {
    const Instruction* const first = first_probed(image_, graph, instructions);
    if (first != nullptr) {
      found_.places.push_back({first->address, std::move(name)});
    } else {
      found_.left_out.push_back({std::move(name), refusal(graph)});
    }
  }

  Status add_edge(const FlowGraph& graph) {
    for (const std::uint64_t number : {place_.number, place_.to}) {
      if (number >= graph.blocks().size()) return no_block(graph, number);
    }
    const auto from = static_cast<std::uint32_t>(place_.number);
    const auto to = static_cast<std::uint32_t>(place_.to);
    if (std::ranges::none_of(
            graph.edges(), [&](const FlowEdge& one) { return one.from == from && one.to == to; })) {
      return Error{ErrorCode::usage, fmt::format("no way leads from block {} to block {} of {} "
                                                 "(fkt_blocks shows them)",
                                                 from, to, graph.function().name)};
    }
    auto place = edge_place(image_, graph, from, to, splices_);
    if (place) {
      found_.places.push_back(std::move(*place));
    } else {
      found_.left_out.push_back({edge_name(graph, from, to), place.error().message});
    }
    return Done{};
  }

  Status add_line(SourceLines& lines) {
    const auto number = static_cast<unsigned>(std::min<std::uint64_t>(place_.number, UINT32_MAX));
    const auto addresses = FKT_TRY(lines.addresses_of(name(), number, place_.group));
    for (const std::uint64_t address : addresses) {
      std::string called = fmt::format("{}:{}@{}", name(), number, image_.name_of(address));
      const CodeFunction* const function = image_.function_at(address);
      const auto graph = FlowGraph::of(image_, *function);
      const auto at = graph ? graph->instruction_at(address) : std::nullopt;
      if (at) {
        add_first(*graph, graph->instructions().subspan(*at, 1), std::move(called));
      } else {
        found_.left_out.push_back({std::move(called), "no instruction is known to begin there"});
      }
    }
    return Done{};
  }

  const Place& place_;
  const CodeImage& image_;
  Splices splices_;
  std::vector<BlockHook> hooks_;  // of the function's blocks
  unsigned kprobes_ = 0;          // of blocks that cannot be spliced
  BlockPlaces found_;
};

}  // namespace

Result<InstructionPlace> edge_place(const CodeImage& image, const FlowGraph& graph,
                                    std::uint32_t from, std::uint32_t to, Splices splices) {
  bool enters_only = to != 0, leaves_only = true;
  EdgeKind kind = EdgeKind::falls;
  for (const FlowEdge& one : graph.edges()) {
    if (one.from == from && one.to == to) kind = one.kind;
    enters_only &= one.from == from || one.to != to;
    enters_only &= one.kind != EdgeKind::unknown;
    leaves_only &= one.from != from || one.to == to;
  }
  const auto source = graph.instructions_of(graph.blocks()[from]);
  const Instruction* found = nullptr;
  std::optional<Expression> condition;
  if (enters_only) {
    found = block_place(image, graph, to, splices);
  } else if (leaves_only) {
    found = block_place(image, graph, from, splices);
  } else {
    const Instruction& last = source.back();
    condition = jump_condition(image.at(last.address, last.bytes), kind);
    if (!condition || last.flow != Flow::conditional) {
      return Error{
          ErrorCode::usage,
          "other ways lead there, and from there, and no flag of the processor tells which "
          "one is taken"};
    }
    found = first_probed(image, graph, source.last(1));
  }
  if (found == nullptr) return Error{ErrorCode::usage, refusal(graph)};
  return InstructionPlace{found->address, edge_name(graph, from, to), std::move(condition)};
}

Result<BlockPlaces> find_block_places(const Place& place, Splices splices, const CodeImage& image,
                                      SourceLines& lines) {
  return PlaceFinder(place, splices, image).find(lines);
}

}  // namespace fkt
