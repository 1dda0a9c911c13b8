// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/cover_flow.h"

#include <algorithm>
#include <optional>

namespace fkt {
namespace {

class CoverFlow {
 public:
  CoverFlow(const FlowGraph& graph, std::vector<Covered>& blocks)
      : blocks_(blocks), to_(blocks.size()), from_(blocks.size()), leaves_(blocks.size()) {
    for (const FlowEdge& edge : graph.edges()) {
      has_unknown_ |= edge.kind == EdgeKind::unknown;
      if (edge.to == FlowEdge::kOutside) {
        leaves_[edge.from] = true;
      } else {
        to_[edge.from].push_back(edge.to);
        from_[edge.to].push_back(edge.from);
      }
    }
  }

  void solve() {
    for (bool changed = true; changed;) {
      changed = !has_unknown_ && look_from_entry();
      for (std::uint32_t i = 0; i < blocks_.size(); i++) changed |= look_at(i);
    }
  }

 private:
  using Numbers = std::vector<std::uint32_t>;

  bool set(std::uint32_t block, Covered covered) {
    if (blocks_[block] != Covered::unknown) return false;
    blocks_[block] = covered;
    return true;
  }

  // Returns which blocks ways lead to from the entry, not by blocks that were missed, nor by this
  // one.
  std::vector<bool> reached(std::uint32_t without = UINT32_MAX) const {
    std::vector<bool> is_reached(blocks_.size());
    Numbers open{0};
    while (!open.empty()) {
      const std::uint32_t block = open.back();
      open.pop_back();
      if (is_reached[block] || is_missed(blocks_[block]) || block == without) continue;
      is_reached[block] = true;
      open.insert(open.end(), to_[block].begin(), to_[block].end());
    }
    return is_reached;
  }
  // What is not reached was missed; that without which a block that was hit is not reached was hit.
  bool look_from_entry() {
    bool changed = false;
    const auto is_reached = reached();
    Numbers hits;
    for (std::uint32_t i = 0; i < blocks_.size(); i++) {
      if (!is_reached[i] && !from_[i].empty()) changed |= set(i, Covered::derived_missed);
      if (is_reached[i] && is_hit(blocks_[i])) hits.push_back(i);
    }
    for (std::uint32_t i = 0; i < blocks_.size() && !hits.empty(); i++) {
      if (blocks_[i] == Covered::unknown && is_needed(i, hits)) {
        changed |= set(i, Covered::derived_hit);
      }
    }
    return changed;
  }
  bool is_needed(std::uint32_t block, const Numbers& hits) const {
    const auto is_reached = reached(block);
    return std::ranges::any_of(hits, [&](std::uint32_t hit) { return !is_reached[hit]; });
  }

  // Returns the only one of the blocks that was not missed; nothing: there are several, or none.
  std::optional<std::uint32_t> only_one(const Numbers& blocks) const {
    std::optional<std::uint32_t> one;
    for (const std::uint32_t block : blocks) {
      if (is_missed(blocks_[block]) || block == one) continue;
      if (one) return std::nullopt;
      one = block;
    }
    return one;
  }

  // Looks at a block's ways in and out. Returns whether something follows.
  bool look_at(std::uint32_t block) {
    bool changed = false;
    if (is_hit(blocks_[block])) {
      if (!leaves_[block]) changed |= hit_only_one(to_[block]);
      // The entry is entered from outside, as any block may be where a jump's targets are unknown.
      if (block != 0 && !has_unknown_) changed |= hit_only_one(from_[block]);
    } else if (!leaves_[block] && !to_[block].empty()) {
      const auto missed = [&](std::uint32_t to) { return is_missed(blocks_[to]); };
      if (std::ranges::all_of(to_[block], missed)) {
        changed |= set(block, Covered::derived_missed);
      }
    }
    return changed;
  }
  bool hit_only_one(const Numbers& blocks) {
    const auto one = only_one(blocks);
    return one && set(*one, Covered::derived_hit);
  }

  std::vector<Covered>& blocks_;
  std::vector<Numbers> to_, from_;
  std::vector<bool> leaves_;  // the block has a way out of the function
  bool has_unknown_ = false;
};

}  // namespace

void derive_covered(const FlowGraph& graph, std::vector<Covered>& blocks) {
  CoverFlow(graph, blocks).solve();
}

}  // namespace fkt
