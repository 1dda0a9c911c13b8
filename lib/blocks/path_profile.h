// SPDX-License-Identifier: GPL-2.0-only
// PathProfile: how often each path of a function was taken and how long it took, from the times
// when its watched ways were taken and its calls began and ended.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "lib/blocks/path_numbers.h"

namespace fkt {

class PathProfile {
 public:
  struct Row {
    std::uint64_t number = 0;              // of the path
    std::uint64_t times = 0;               // that it was taken
    std::uint64_t ticks = 0, longest = 0;  // from its begin to its end, all together, and the most
    std::uint64_t calls = 0;               // that have taken it
    std::uint64_t call_ticks = 0, longest_call = 0;  // of those calls
    std::uint64_t longest_call_at = 0;               // when that call began (ticks)
  };
  // What there was, and why not all of it is in the rows.
  struct Sums {
    std::uint64_t calls = 0, ticks = 0;  // of the rows
    std::uint64_t ways = 0;              // watched ways that they took
    // Calls that are in no row: events may be lost that were during them; their ways lead nowhere.
    std::uint64_t calls_in_gaps = 0, calls_unclear = 0;
    // Watched ways taken outside of all calls that began and ended.
    std::uint64_t ways_outside = 0;
  };

  // numbers: must outlive this.
  explicit PathProfile(const PathNumbers& numbers) : numbers_(numbers) {}

  // The functions below are called in the order of the times (ticks). thread: identifies what runs;
  // an interrupt belongs to the thread that it interrupts.
  //
  // A watched way is taken.
  void take(std::uint64_t thread, std::uint64_t clock, std::uint32_t way) {
    taken_[thread].push_back({clock, way});
  }
  // A call that began at `begin` has ended, and so have those that it contains. end: not before the
  // call's last way, and perhaps before `now`.
  void end_call(std::uint64_t thread, std::uint64_t begin, std::uint64_t end);
  // A call has ended of which it is not known when it began.
  void add_unclear_call() { sums_.calls_unclear++; }
  // Some events are lost from here on; until here.
  void begin_gap() { gaps_++; }
  void end_gap(std::uint64_t clock);

  // Returns a row for each path that was taken, in the order of their numbers.
  std::vector<Row> rows() const;
  // Valid when all was read.
  Sums sums() const;

 private:
  struct Taken {
    std::uint64_t clock = 0;
    std::uint32_t way = 0;
  };
  struct Known {
    Row row;
    std::vector<std::uint32_t> watched;  // ways of the path
    bool is_end = false;                 // it leads out of the function
  };
  // A path that a call has taken.
  struct Part {
    Known* path = nullptr;
    std::uint64_t ticks = 0;
  };

  Known& known(std::uint64_t number);
  bool add_part(std::uint64_t sum, std::uint64_t ticks, bool is_end);
  bool read_parts(std::uint64_t begin, std::uint64_t end);

  const PathNumbers& numbers_;
  std::unordered_map<std::uint64_t, std::vector<Taken>> taken_;  // by thread
  std::map<std::uint64_t, Known> known_;                         // by number
  Sums sums_;
  std::uint64_t gaps_ = 0, last_gap_ = 0;  // that are open; end of the last one
  // Of the call that is read:
  std::vector<Taken> call_;
  std::vector<std::uint32_t> watched_;
  std::vector<Part> parts_;
};

}  // namespace fkt
