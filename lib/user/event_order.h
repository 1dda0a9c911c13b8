// SPDX-License-Identifier: GPL-2.0-only
// Puts the events of two rings of one thread in the order of their times, as if they came from one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/user/ring_reader.h"

namespace fkt {

class EventOrder : public RingSink {
 public:
  void event(std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
             std::span<const std::uint64_t> words) override;
  void lost(std::uint64_t clock, std::uint64_t count, std::uint64_t from) override;

  // Passes the events up to `until` to `sink` in order of time, of equal times in order of arrival.
  // until (ticks): clock read before the rings, so that no earlier event is still to come.
  void release(std::uint64_t until, RingSink& sink);

 private:
  struct Held {
    std::uint64_t clock = 0;
    bool lost = false;  // words: count, from
    std::uint32_t id = 0, arg = 0;
    std::vector<std::uint64_t> words;
  };
  std::vector<Held> held_;
};

}  // namespace fkt
