// SPDX-License-Identifier: GPL-2.0-only
// CountFlow: how often blocks and the ways between them were run, from the counts of some: what
// enters a block leaves it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/blocks/flow_graph.h"

namespace fkt {

class CountFlow {
 public:
  explicit CountFlow(const FlowGraph& graph);

  void know(std::uint32_t block, std::uint64_t count) { blocks_[block] = count; }
  void know_edge(std::uint32_t edge, std::uint64_t count) { edges_[edge] = count; }
  // Finds each count that is the only unknown one of those that enter or leave a block. They are
  // exact for calls that began and ended while the known ones were counted; else one that would be
  // negative is 0.
  void solve();

  // Numbers as in the graph. Nothing: it is not known.
  std::optional<std::uint64_t> block(std::uint32_t block) const { return blocks_[block]; }
  std::optional<std::uint64_t> edge(std::uint32_t edge) const { return edges_[edge]; }

 private:
  using Numbers = std::vector<std::uint32_t>;
  bool solve_one(std::uint32_t block, const Numbers& edges);

  std::vector<std::optional<std::uint64_t>> blocks_, edges_;
  std::vector<Numbers> in_, out_;  // edges, by block
  bool has_unknown_ = false;       // a jump may lead to any block
};

}  // namespace fkt
