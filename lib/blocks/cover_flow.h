// SPDX-License-Identifier: GPL-2.0-only
// Which blocks of a function were executed at all, from what was seen of some.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/blocks/flow_graph.h"

namespace fkt {

// What is known of a block. The values are the letters of files.
enum class Covered : char {
  unknown = '?',
  hit = 'h',
  missed = 'm',
  derived_hit = 'H',  // it follows from what was seen of others
  derived_missed = 'M',
};
constexpr bool is_hit(Covered one) {
  return one == Covered::hit || one == Covered::derived_hit;
}
constexpr bool is_missed(Covered one) {
  return one == Covered::missed || one == Covered::derived_missed;
}

// Replaces the unknown ones, by block, where it follows from the others: what enters a block leaves
// it, if all calls have ended and none began before.
void derive_covered(const FlowGraph& graph, std::vector<Covered>& blocks);

}  // namespace fkt
