// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/block_counts.h"

#include <algorithm>

#include <fmt/core.h>

#include "lib/instrument/instrument.h"

namespace fkt {
namespace {

// Returns the name of the block or way that an instrument was on alone; empty: it was on others.
// One of several that count a block each has its name in parentheses behind what was typed.
std::string block_name(const InstrumentResult& result) {
  const std::size_t behind = result.text.rfind(" (");
  if (result.text.ends_with(')') && behind != result.text.npos && result.of == "instruction" &&
      result.action == "count") {
    return result.text.substr(behind + 2, result.text.size() - behind - 3);
  }
  const auto instrument = Instrument::parse(result.text);
  if (!instrument || result.places != 1) return {};
  const Place& place = instrument->place;
  if (place.kind == Place::Kind::edge) {
    return fmt::format("{}:{}-{}", place.names.patterns.front(), place.number, place.to);
  }
  if (place.kind != Place::Kind::block || !place.names.is_one_name() ||
      place.point == Place::Point::exit) {
    return {};
  }
  return fmt::format("{}:{}", place.names.patterns.front(), place.number);
}

}  // namespace

BlockCounts::BlockCounts(const HitResults& results) {
  for (const InstrumentResult& result : results.instruments) {
    const std::string name = block_name(result);
    if (!name.empty()) counts_[name] += result.hits().kept;
  }
}

CountFlow BlockCounts::of(const FlowGraph& graph) const {
  CountFlow flow(graph);
  for (std::uint32_t i = 0; i < graph.blocks().size(); i++) {
    const auto found = counts_.find(fmt::format("{}:{}", graph.function().name, i));
    if (found != counts_.end()) flow.know(i, found->second);
  }
  for (std::uint32_t i = 0; i < graph.edges().size(); i++) {
    const FlowEdge& edge = graph.edges()[i];
    const auto found =
        counts_.find(fmt::format("{}:{}-{}", graph.function().name, edge.from, edge.to));
    if (found == counts_.end()) continue;
    // Of two ways that lead from one block to another, the sum is counted.
    const auto alike = std::ranges::count_if(graph.edges(), [&](const FlowEdge& other) {
      return other.from == edge.from && other.to == edge.to;
    });
    if (alike == 1) flow.know_edge(i, found->second);
  }
  flow.solve();
  return flow;
}

}  // namespace fkt
