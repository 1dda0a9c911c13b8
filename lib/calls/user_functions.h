// SPDX-License-Identifier: GPL-2.0-only
// What the functions of user programs spent their time on: computing themselves, in system calls
// that they made, waiting off the CPUs, in other functions that they called. For every row, in
// ticks and exactly:
//
//   time = own + system + waiting + called + interrupts
//
// for the calls that were seen from entry to exit. What a system call does and waits for belongs to
// the function that made it, and not to that function's callers, of which it is part of `called`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/analyse/span_observer.h"
#include "lib/analyse/span_types.h"

namespace fkt {

struct UserFunctionRow {
  std::string name;
  std::uint64_t count = 0;  // entries
  std::uint64_t whole = 0;  // entries whose exit was seen: all other figures are about these
  std::uint64_t time = 0;
  std::uint64_t self = 0;     // CPU time in the function itself
  std::uint64_t system = 0;   // CPU time in the kernel's calls that it made
  std::uint64_t waiting = 0;  // switched out, in the function itself or in such a call
  std::uint64_t called = 0;   // from entry to exit of the functions that it called
  std::uint64_t syscalls = 0;

  std::uint64_t interrupts() const {
    const std::uint64_t known = self + system + waiting + called;
    return time > known ? time - known : 0;
  }
};

class UserFunctions : public SpanObserver {
 public:
  // types: of the spans that it will get; must outlive this object.
  explicit UserFunctions(const SpanTypes& types) : types_(types) {}

  void restart(const Checkpoint& checkpoint, const CheckpointMapping& places) override;
  void reopen(OpenSpan& call, const SpanPosition& place) override;
  void begin(OpenSpan& call, const SpanPosition& place) override;
  void end(const OpenSpan& call, Outcome outcome, const SpanPosition& place) override;
  void charge(const OpenSpan*, std::uint32_t, CpuState, std::uint64_t) override {}

  // Returns a row for each function that has calls, most time first, names by the alphabet.
  std::vector<UserFunctionRow> rows() const;

 private:
  // A call of a function that is open. OpenSpan::tag of the call has its number in open_, and so
  // has that of each system call in it.
  struct Open {
    std::uint32_t around = 0;
    bool has_around = false;
    std::uint64_t system = 0, waiting = 0, called = 0, syscalls = 0;
  };
  std::uint32_t new_open();
  void end_function(const OpenSpan& call, Outcome outcome, const SpanPosition& place);

  const SpanTypes& types_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> free_;
  std::vector<UserFunctionRow> rows_;  // by type; without names
};

}  // namespace fkt
