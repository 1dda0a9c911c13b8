// SPDX-License-Identifier: GPL-2.0-only
// A random recording for code that processes many events in one step (lib/scan/scan.h).
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "tests/unit/random_recording.h"

namespace fkt::test {

// Has many long calls, nested interrupts, pairs, and functions around these, of which
// RandomRecording has few; with an odd seed also functions of user programs. The same seed gives
// the same recording.
class BusyRecording {
 public:
  BusyRecording(unsigned seed, unsigned cpus, unsigned turns);
  // That of RandomRecording, with functions that a key tells apart: in the argument, as pairs, in a
  // word of its own; and functions of user programs.
  static std::string catalogue();
  Bytes finish() { return builder_.finish(); }
  RecordingBuilder& builder() { return builder_; }
  std::uint64_t end() const { return *std::ranges::max_element(clocks_); }

 private:
  unsigned below(unsigned limit) {
    return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_);
  }
  void event(unsigned cpu, std::uint32_t id, std::uint32_t arg = 0,
             std::initializer_list<std::uint64_t> words = {});
  // Writes a whole call, interrupt or softirq as one word.
  void pair(unsigned cpu);
  void interrupt(unsigned cpu, unsigned depth);
  // Writes events, pairs, interrupts and nested functions within a function.
  void function(unsigned cpu, unsigned depth);
  // Writes a function of a user program, with calls, interrupts and other such functions in it.
  void user_function(unsigned cpu, unsigned depth);
  void turn(unsigned cpu);
  // Moves the thread to another CPU, whose clock is mostly not behind.
  void migrate(unsigned cpu);

  std::mt19937 random_;
  RecordingBuilder builder_;
  bool user_;  // with functions of user programs
  unsigned cpus_;
  std::vector<std::uint64_t> clocks_;
  std::vector<std::uint32_t> running_;
};

}  // namespace fkt::test
