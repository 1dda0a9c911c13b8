// SPDX-License-Identifier: GPL-2.0-only
// Which events a command shows and counts. All events are read and followed, whatever is selected:
// names and open calls at a slice's beginning are then known.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/picker.h"
#include "lib/states.h"
#include "lib/tasks.h"

namespace fkt {

// What the user asked for.
struct View {
  std::optional<std::uint64_t> from{}, to{};  // ticks, from <= clock < to
  std::optional<std::uint32_t> cpu{};
  std::optional<unsigned> layer{};           // bit number
  std::optional<std::uint32_t> stats_pid{};  // statistics only while this process lives
  std::optional<std::uint32_t> dump_pid{};   // dump only while this process lives ...
  bool dump_only = false;                    // ... or only its own events
  std::shared_ptr<const Choice> where{};     // what an expression selects
  std::vector<Interval> parts{};  // only in these stretches, ascending and apart; empty: in all
  std::string around{};           // ... and what they lie around, for the report
};

// Follows one process's life: is it alive, at this event?
class Alive {
 public:
  Alive() = default;
  // seen: it lived at some time before.
  Alive(std::uint32_t pid, bool at_start, bool seen = false)
      : pid_(pid), watching_(true), now_(at_start), seen_(at_start || seen) {}

  // Before `event` is counted, and after: the fork and the last switch belong to the life.
  void before(const Event& event);
  void after(const Event& event);

  bool watching() const { return watching_; }
  bool now() const { return !watching_ || now_; }
  bool seen() const { return seen_; }

 private:
  std::uint32_t pid_ = 0;
  bool watching_ = false;
  bool now_ = true;
  bool seen_ = false;
  bool ended_ = false;  // only a fork or a switch begins a new life, not a late NMI
};

}  // namespace fkt
