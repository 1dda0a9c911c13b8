// SPDX-License-Identifier: GPL-2.0-only
// BlockCounts: how often the blocks of functions were run, by a recording's instruments on them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "lib/blocks/count_flow.h"
#include "lib/blocks/flow_graph.h"
#include "lib/format/hit_results.h"

namespace fkt {

class BlockCounts {
 public:
  // Takes the hits of instruments on single blocks and ways, and of those that count each block.
  explicit BlockCounts(const HitResults& results);

  bool empty() const { return counts_.empty(); }
  // Returns all counts of a function that are known or follow from those.
  CountFlow of(const FlowGraph& graph) const;

 private:
  std::map<std::string, std::uint64_t, std::less<>> counts_;  // by "FUNCTION:3", "FUNCTION:3-5"
};

}  // namespace fkt
