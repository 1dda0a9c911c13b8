// SPDX-License-Identifier: GPL-2.0-only
// The table of the KFT tool: time spent in each function and in what it called. A function is here
// any call: system calls, interrupts, softirqs, functions. For every row, in ticks and exactly:
//
//   time = local + sub + blocked + preempted + interrupts        cpu = local + sub
//
// for the calls that were seen from entry to exit. `time` is wall-clock time and the other figures
// say how it was spent, which tells a call that slept or was interrupted from one that worked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/analyse/profile.h"

namespace fkt {

struct FunctionRow {
  struct Sub {
    std::string name;
    std::uint64_t count = 0, time = 0;  // time: wall-clock time (ticks)
  };
  std::string name;
  std::uint64_t count = 0;  // entries
  std::uint64_t whole = 0;  // entries whose exit was seen: all other figures are about these
  std::uint64_t time = 0, min = 0, max = 0;
  std::uint64_t local = 0, sub = 0, blocked = 0, preempted = 0, interrupts = 0;
  std::uint64_t p50 = 0, p90 = 0, p99 = 0;  // off by 1/64 at most, within min and max
  std::vector<Sub> subs;                    // most time first

  std::uint64_t cpu() const { return local + sub; }
  std::uint64_t average() const { return whole == 0 ? 0 : time / whole; }
};

// Names of the types by TypeIndex.
struct TypeNames {
  TypeIndex count = 0;
  std::function<std::string_view(TypeIndex)> name;
  // Returns true for interrupts: their time is taken out of the call that they interrupted, and
  // they are not listed as its sub-routines.
  std::function<bool(TypeIndex)> interrupt;
};

// Returns a row for each type that has calls, in the order of the types. Precondition: the profile
// keeps histograms.
std::vector<FunctionRow> function_rows(const Profile& profile, const TypeNames& types);

}  // namespace fkt
