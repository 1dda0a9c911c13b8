// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/function_paths.h"

#include <algorithm>

#include <fmt/core.h>

#include "lib/blocks/block_hooks.h"
#include "lib/blocks/block_places.h"

namespace fkt {
namespace {

// Returns whether the way leads to the function's entry: it is called again, by a jump.
bool calls_again(const FlowGraph& graph, const FlowEdge& edge) {
  return edge.to != FlowEdge::kOutside &&
         std::ranges::any_of(graph.instructions_of(graph.blocks()[edge.to]),
                             [&](const Instruction& one) { return graph.is_tracers(one); });
}

bool is_rare(const FlowGraph& graph, const FlowEdge& edge) {
  if (!edge.is_open || edge.kind == EdgeKind::exception || edge.kind == EdgeKind::stops)
    return true;
  // The compiler puts aside what it takes to be rare.
  return edge.to != FlowEdge::kOutside && graph.blocks()[edge.to].begin - graph.function().begin >=
                                              graph.function().end - graph.function().begin;
}

}  // namespace

Result<FunctionPaths> FunctionPaths::of(const CodeImage& image, const CodeFunction& function) {
  FunctionPaths paths;
  paths.image_ = &image;
  paths.graph_ = FKT_TRY(FlowGraph::of(image, function));
  const auto failed = [&](std::string_view why) {
    return Error{ErrorCode::usage, fmt::format("{}: {}", function.name, why)};
  };
  if (function.forbidden != nullptr) return failed(function.forbidden);
  if (!paths.graph_.is_traceable()) {
    return failed("the function tracer cannot trace it, so its calls are not seen");
  }
  for (const FlowEdge& edge : paths.graph_.edges()) {
    if (edge.kind == EdgeKind::unknown) {
      return failed(fmt::format(
          "block {} jumps to where a register says, which is not known (fkt_blocks)", edge.from));
    }
    paths.add_way(edge);
  }
  paths.find_places();
  const auto blocks = static_cast<std::uint32_t>(paths.graph_.blocks().size());
  auto numbers = PathNumbers::of(blocks, std::move(paths.ways_));
  if (!numbers) return failed(numbers.error().message);
  paths.numbers_ = std::move(*numbers);
  for (std::uint32_t way = 0; way < paths.numbers_.ways().size(); way++) {
    if (paths.numbers_.is_watched(way)) paths.names_.emplace(paths.way_name(way), way);
  }
  return paths;
}

// Two ways from a block to the same one, or out of the function, are one: no more is asked of them.
void FunctionPaths::add_way(const FlowEdge& edge) {
  const std::uint32_t to = calls_again(graph_, edge) ? PathWay::kOutside : edge.to;
  const auto same = std::ranges::find_if(
      ways_, [&](const PathWay& way) { return way.from == edge.from && way.to == to; });
  const bool rare = is_rare(graph_, edge);
  if (same != ways_.end()) {
    same->is_rare &= rare;
    of_[static_cast<std::size_t>(same - ways_.begin())].push_back(edge);
    return;
  }
  ways_.push_back({edge.from, to, 0, rare});
  of_.push_back({edge});
}

void FunctionPaths::find_places() {
  for (std::uint32_t i = 0; i < ways_.size(); i++) {
    const std::uint64_t place = place_of(i);
    // The function tracer's own instruction leads to the code that sees the calls.
    const auto index = graph_.instruction_at(place);
    if (index && !graph_.is_tracers(graph_.instructions()[*index])) ways_[i].place = place;
  }
}

std::uint64_t FunctionPaths::place_of(std::uint32_t way) const {
  const PathWay& one = ways_[way];
  if (one.to != PathWay::kOutside) {
    const auto place = edge_place(*image_, graph_, one.from, one.to, Splices::none);
    return place ? place->address : 0;
  }
  const bool is_only = std::ranges::none_of(
      ways_, [&](const PathWay& other) { return other.from == one.from && other.to != one.to; });
  if (!is_only) return 0;
  for (const Instruction& first : graph_.instructions_of(graph_.blocks()[one.from])) {
    if (takes_kprobe(*image_, first)) return first.address;
  }
  return 0;
}

// As instruments on ways and blocks are called.
std::string FunctionPaths::way_name(std::uint32_t way) const {
  const PathWay& one = numbers_.ways()[way];
  if (one.to == PathWay::kOutside) return fmt::format("{}:{}", graph_.function().name, one.from);
  return fmt::format("{}:{}-{}", graph_.function().name, one.from, one.to);
}

std::vector<std::string> FunctionPaths::places() const {
  const CodeFunction& function = graph_.function();
  const std::string module = function.module.empty() ? "" : std::string(function.module) + ":";
  std::vector<std::string> places{fmt::format("call:{}{}", module, function.name)};
  for (const auto& [name, way] : names_) {
    const bool is_block = numbers_.ways()[way].to == PathWay::kOutside;
    places.push_back(fmt::format("{}:{}{}", is_block ? "block" : "edge", module, name) +
                     (is_block ? " do record" : ""));
  }
  return places;
}

std::optional<std::uint32_t> FunctionPaths::way_named(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? std::nullopt : std::optional(found->second);
}

std::string FunctionPaths::end_text(std::uint32_t way) const {
  if (numbers_.is_cut(way)) return fmt::format("to {}", numbers_.ways()[way].to);
  std::string text;
  for (const FlowEdge& edge : of_[way]) {
    std::string one(edge.to == FlowEdge::kOutside ? edge_key(edge.kind) : "calls_itself");
    if (edge.target != 0) one += " " + image_->name_of(edge.target);
    if (text.find(one) == text.npos) text += (text.empty() ? "" : " or ") + one;
  }
  return text;
}

std::vector<std::uint32_t> FunctionPaths::blocks_of(const Path& path) const {
  std::vector<std::uint32_t> blocks{path.begin};
  for (const std::uint32_t way : path.ways) {
    const std::uint32_t to = numbers_.ways()[way].to;
    if (way != path.ways.back()) blocks.push_back(to);
  }
  return blocks;
}

std::string FunctionPaths::lines_of(const Path& path, SourceLines& lines) const {
  std::string text;
  SourceLine last;
  for (const std::uint32_t block : blocks_of(path)) {
    for (const Instruction& one : graph_.instructions_of(graph_.blocks()[block])) {
      auto line = lines.at(one.address);
      if (!line || *line == last) continue;
      const bool is_same_file = !text.empty() && line->file == last.file;
      text += is_same_file ? "," : (text.empty() ? "" : " ") + line->file + ":";
      text += std::to_string(line->number);
      last = std::move(*line);
    }
  }
  return text;
}

}  // namespace fkt
