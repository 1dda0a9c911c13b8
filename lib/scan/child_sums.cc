// SPDX-License-Identifier: GPL-2.0-only
#include "lib/scan/child_sums.h"

#include <algorithm>
#include <utility>

namespace fkt {

void ChildSums::grow() {
  constexpr std::size_t kFirst = 64;
  const std::vector<Slot> old =
      std::exchange(slots_, std::vector<Slot>(std::max(kFirst, 2 * slots_.size())));
  for (const Slot& slot : old) {
    if (slot.count != 0) find(slot.key) = slot;
  }
}

}  // namespace fkt
