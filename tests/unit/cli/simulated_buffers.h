// SPDX-License-Identifier: GPL-2.0-only
// A recording with the layer fkt, made by a simulation of a ring and a drain. The simulation
// provides the correct buffer states for every moment, independently of the events.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "tests/unit/recording_builder.h"

namespace fkt::test {

class SimulatedBuffers {
 public:
  struct Truth {
    std::uint64_t clock = 0;
    std::uint64_t filled = 0, submitted = 0, written = 0, returned = 0, extra = 0, allocated = 0,
                  free = 0;
  };

  // pages_offset: that of the finished file, which the events contain.
  explicit SimulatedBuffers(std::uint64_t pages_offset);

  static std::string command(const char* engine, unsigned mask);
  Bytes finish() { return builder_.finish(); }
  std::uint64_t pages_offset() const { return builder_.pages_offset(); }
  const std::vector<Truth>& truth() const { return truth_; }

  // Makes the recording twice, because the first one determines the offset of its pages.
  static SimulatedBuffers made();

 private:
  static constexpr std::uint64_t kMilliseconds = 30, kMs = 1'000'000;
  static constexpr std::uint64_t kChunk = 4;

  // Simulates one millisecond. In the middle there is a burst of events and the disk is slow.
  void step(std::uint64_t ms);

  void fill(std::uint32_t cpu);

  void wake(std::uint64_t cost);

  void finish_write();

  void tell(std::uint32_t id, std::uint64_t pages, std::uint64_t word);
  void keep();

  RecordingBuilder builder_;
  std::uint64_t pages_offset_;
  std::uint64_t now_ = RecordingBuilder::kStart;
  // 8 pages on each CPU, one of them open.
  Truth is_{.clock = 0, .allocated = 16, .free = 14};
  std::uint64_t waiting_ = 0, in_flight_ = 0, done_at_ = 0;
  std::vector<Truth> truth_;
};

}  // namespace fkt::test
