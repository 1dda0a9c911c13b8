// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/count_flow.h"

#include <algorithm>

namespace fkt {

CountFlow::CountFlow(const FlowGraph& graph)
    : blocks_(graph.blocks().size()),
      edges_(graph.edges().size()),
      in_(blocks_.size()),
      out_(blocks_.size()) {
  for (std::uint32_t i = 0; i < edges_.size(); i++) {
    const FlowEdge& edge = graph.edges()[i];
    out_[edge.from].push_back(i);
    if (edge.to != FlowEdge::kOutside) in_[edge.to].push_back(i);
    has_unknown_ |= edge.kind == EdgeKind::unknown;
  }
}

void CountFlow::solve() {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t i = 0; i < blocks_.size(); i++) {
      changed |= solve_one(i, out_[i]);
      // The entry is entered from outside, as any block may be where a jump's targets are unknown.
      if (i != 0 && !has_unknown_ && !in_[i].empty()) changed |= solve_one(i, in_[i]);
    }
  }
}

bool CountFlow::solve_one(std::uint32_t block, const Numbers& edges) {
  std::uint64_t sum = 0;
  std::optional<std::uint64_t>* unknown = nullptr;
  for (const std::uint32_t i : edges) {
    if (edges_[i]) {
      sum += *edges_[i];
    } else if (unknown != nullptr) {
      return false;
    } else {
      unknown = &edges_[i];
    }
  }
  if (unknown == nullptr) {
    if (blocks_[block]) return false;
    blocks_[block] = sum;
    return true;
  }
  if (!blocks_[block]) return false;
  *unknown = *blocks_[block] - std::min(sum, *blocks_[block]);
  return true;
}

}  // namespace fkt
