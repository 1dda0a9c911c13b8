// SPDX-License-Identifier: GPL-2.0-only
#include "lib/user/event_order.h"

#include <algorithm>

namespace fkt {

void EventOrder::event(std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
                       std::span<const std::uint64_t> words) {
  held_.push_back({clock, false, id, arg, {words.begin(), words.end()}});
}

void EventOrder::lost(std::uint64_t clock, std::uint64_t count, std::uint64_t from) {
  held_.push_back({clock, true, 0, 0, {count, from}});
}

void EventOrder::release(std::uint64_t until, RingSink& sink) {
  std::ranges::stable_sort(held_, {}, &Held::clock);
  const auto end = std::ranges::upper_bound(held_, until, {}, &Held::clock);
  for (auto one = held_.begin(); one != end; ++one) {
    if (one->lost) {
      sink.lost(one->clock, one->words[0], one->words[1]);
    } else {
      sink.event(one->clock, one->id, one->arg, one->words);
    }
  }
  held_.erase(held_.begin(), end);
}

}  // namespace fkt
