// SPDX-License-Identifier: GPL-2.0-only
// What fkt_selection knows about a recording: the index immediately; the density by layer, the
// statistics and the timeline later, read by a background thread. After that, when no requests are
// pending, the thread computes the states that make fkt_extract faster.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/fkt_selection/idle_work.h"
#include "lib/format/clocks.h"
#include "lib/slice/checkpoint_cache.h"
#include "lib/timeline/density.h"
#include "lib/timeline/early_stats.h"
#include "lib/timeline/lane_pyramid.h"
#include "lib/timeline/timeline.h"

namespace fkt::cli {

// Where checkpoints are stored (lib/slice/checkpoint_cache.h).
struct CacheRules {
  std::string folder{};                                // directory; empty: not stored
  std::uint64_t apart = CheckpointCache::kLeastApart;  // bytes
};

class Model {
 public:
  // `recording` is `file`, which Recording::open_unsplit() has opened. Reading begins
  // with start().
  Model(Recording recording, std::string file, CacheRules cache = {});
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  // Starts the background thread.
  void start();
  // Threads that answer requests hold an IdleWork::Question, so that background work pauses.
  IdleWork& idle_work() const { return idle_work_; }
  // Waits until everything is read.
  void wait();

  const Recording& recording() const { return recording_; }
  const std::string& file() const { return file_; }
  const Timeline& timeline() const { return timeline_; }
  bool ready() const { return ready_; }
  // The share that is read, from 0 to 1.
  double progress() const;

  // The pages as they stand in the file.
  const std::vector<PageRef>& index() const { return index_; }
  // Null before the recording is read; use density_from_index() until then.
  const Density* density() const { return density_ready_ ? density_.get() : nullptr; }
  const std::vector<Gap>& gaps() const;  // empty before density()
  // Valid once ready(): for intervals with too many events to follow them again.
  const LanePyramid& lane_pyramid() const { return lane_pyramid_; }
  // The statistics of the whole recording; nullptr before they are read.
  const EarlyStats* early_stats() const { return scanned_ ? &early_stats_ : nullptr; }
  // The states of all tasks in the window of early_stats(); valid once ready().
  const WindowStats& task_sums() const { return task_sums_; }
  // The integrity of the recording; valid once ready().
  const Integrity& integrity() const { return integrity_; }
  // Number of events in the pages that overlap [from, to), about.
  std::uint64_t events_about(std::uint64_t from, std::uint64_t to) const;

  // The zero of all times that users enter or see, in ticks.
  std::uint64_t zero() const { return recording_start(recording_.info()); }

 private:
  void read();
  void read_density();
  void finish_density();
  void read_statistics();
  void fill_checkpoint_cache() const;

  Recording recording_;
  const std::vector<PageRef> index_;  // a copy: the reading thread changes those of trace_
  std::string file_;
  CacheRules cache_rules_;
  Timeline timeline_;
  std::unique_ptr<Density> density_;
  LanePyramid lane_pyramid_;
  EarlyStats early_stats_;
  WindowStats task_sums_;
  Integrity integrity_;  // a copy: every request changes the trace's own
  PassControl density_pass_, scan_pass_, timeline_pass_;
  mutable IdleWork idle_work_;
  std::atomic<bool> density_ready_{false}, scanned_{false}, ready_{false};
  std::jthread reader_;
};

}  // namespace fkt::cli
