// SPDX-License-Identifier: GPL-2.0-only
// Random recordings with many small pages; the same seed gives the same recording. Tasks make
// calls, sleep, wake others, fork, exec, rename and exit on several CPUs; there are interrupts,
// losses, and functions of the file's own catalogue in both.
#pragma once

#include <random>
#include <set>

#include "tests/unit/analyzed.h"

namespace fkt::test {

// Drops some events before they are written, several in a row on one CPU, like a ring without a
// free page.
class Losses {
 public:
  Losses(RecordingBuilder& builder, unsigned seed, unsigned rare = 150);

  // Returns true if this event is lost. Otherwise writes the loss of preceding events first, if
  // any.
  bool hits(unsigned cpu, std::uint64_t clock, std::uint32_t id, std::uint32_t arg);
  // Called at the end of the recording: writes losses not written yet.
  void end(std::uint64_t clock) {
    for (auto& [cpu, loss] : losses_) tell(cpu, clock, loss);
  }

 private:
  struct Loss {
    unsigned to_come = 0;
    std::uint64_t count = 0, from = 0;
  };
  unsigned below(unsigned limit) {
    return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_);
  }
  void tell(unsigned cpu, std::uint64_t clock, Loss& loss);

  RecordingBuilder& builder_;
  std::mt19937 random_;
  unsigned rare_;
  std::map<unsigned, Loss> losses_;
};

class RandomRecording {
 public:
  // plain: without wake-ups and functions. gaps: as the lossless one of the same seed, but with
  // events lost at random on each CPU. few: as the plain one of the same seed, with such losses in
  // addition.
  enum class Kind { all, lossless, plain, gaps, few };

  RandomRecording(unsigned seed, unsigned cpus, unsigned events, Kind kind = Kind::all);
  // The built-in catalogue and two functions.
  static std::string catalogue();
  RecordingBuilder& builder() { return builder_; }
  Bytes finish(RecordingBuilder::Tail tail = RecordingBuilder::Tail::finished);
  std::uint64_t end() const { return clock_; }

 private:
  unsigned below(unsigned limit) {
    return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_);
  }

  bool plain() const { return kind_ == Kind::plain || kind_ == Kind::few; }
  bool drops() const { return kind_ == Kind::gaps || kind_ == Kind::few; }
  bool lossless() const { return kind_ == Kind::lossless || kind_ == Kind::gaps; }
  void put(unsigned cpu, std::uint64_t clock, std::uint32_t id, std::uint32_t arg = 0,
           std::initializer_list<std::uint64_t> words = {});

  // Writes one event on a random CPU, with realistic probabilities.
  void step();

  void begin_irq(unsigned cpu, unsigned what);

  void end_irq(unsigned cpu);

  void change(unsigned cpu);

  void leave(unsigned cpu, std::uint32_t task, unsigned what);

  bool lives(std::uint32_t tid) const {
    return sleeping_.contains(tid) || std::ranges::find(running_, tid) != running_.end();
  }

  std::mt19937 random_;
  RecordingBuilder builder_;
  Losses losses_;
  unsigned cpus_;
  Kind kind_;
  std::uint64_t clock_ = RecordingBuilder::kStart + 1000;
  std::uint32_t next_tid_ = 100;
  std::vector<std::uint32_t> running_, irq_;
  std::set<std::uint32_t> sleeping_;  // not running
  std::set<std::uint32_t> asleep_;    // not running and not woken
  std::set<std::uint32_t> in_call_;
};

}  // namespace fkt::test
