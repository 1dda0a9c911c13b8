// SPDX-License-Identifier: GPL-2.0-only
// What fkt_selection knows of a recording, and how it comes to know it: the index at once, the
// density by layer and the timeline a little later, read by a thread of its own. At last, and when
// nobody else needs the processors, that thread reads what fkt_extract is quicker with.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/fkt_selection/leisure.h"
#include "lib/clock.h"
#include "lib/density.h"
#include "lib/known_states.h"
#include "lib/levels.h"
#include "lib/timeline.h"

namespace fkt::cli {

// Where known states are kept (lib/known_states.h).
struct StatesPlace {
  std::string folder{};                            // "": nowhere
  std::uint64_t apart = KnownStates::kLeastApart;  // bytes
};

class Model {
 public:
  // The recording of that name, opened; reading begins with start().
  Model(Trace trace, std::string file, StatesPlace states = {});
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void start();
  // For whoever asks: what can wait does meanwhile.
  Leisure& leisure() const { return leisure_; }
  // Waits until everything is read.
  void wait();

  const Trace& trace() const { return trace_; }
  const std::string& file() const { return file_; }
  const Timeline& timeline() const { return timeline_; }
  bool density_ready() const { return density_ready_; }
  bool ready() const { return ready_; }
  // How much is read: 0 to 1.
  double progress() const;

  // nullptr before density_ready(): then there is the index (density_from_index()).
  const Density* density() const { return density_ready_ ? density_.get() : nullptr; }
  const std::vector<Gap>& gaps() const;  // none before density_ready()
  // Valid once ready(): for stretches too long to be followed again.
  const Levels& levels() const { return levels_; }
  // What reading found; valid once ready().
  const Integrity& integrity() const { return integrity_; }
  // Events in the pages that touch [from, to).
  std::uint64_t events_about(std::uint64_t from, std::uint64_t to) const;

  // The zero of all times that users type or see (ticks).
  std::uint64_t zero() const { return recording_start(trace_.info()); }

 private:
  void read();
  void read_states() const;

  Trace trace_;
  std::string file_;
  StatesPlace states_;
  Timeline timeline_;
  std::unique_ptr<Density> density_;
  Levels levels_;
  Integrity integrity_;  // the trace's own changes with every question
  PassControl density_pass_, timeline_pass_;
  mutable Leisure leisure_;
  std::atomic<bool> density_ready_{false}, ready_{false};
  std::jthread reader_;
};

}  // namespace fkt::cli
