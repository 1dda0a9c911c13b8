// SPDX-License-Identifier: GPL-2.0-only
// EarlyPart: short parts of a recording while the recording itself is still being read, so that the
// page can show the part in view first. A part is a slice (lib/slice/slice_writer.h), which is
// opened as a recording of its own. For times within it, its answers equal those of the whole
// recording.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "cli/fkt_selection/model.h"

namespace fkt::cli {

class EarlyPart {
 public:
  static constexpr std::uint64_t kMostEvents = 1'000'000;  // of a part

  // `whole` must outlive this.
  explicit EarlyPart(const Model& whole) : whole_(whole) {}
  EarlyPart(const EarlyPart&) = delete;
  EarlyPart& operator=(const EarlyPart&) = delete;

  // Returns a part that contains [from, to) (ticks) and is read; nullptr: it would be too large,
  // the recording cannot be opened again, or `unwanted` returns true. May take as long as reading
  // everything before the part. May be called from any thread; callers wait for each other.
  std::shared_ptr<const Model> find(std::uint64_t from, std::uint64_t to, const Unwanted& unwanted);
  // Releases the memory and files that find() has used; call it when the recording is read.
  void close();

 private:
  bool is_short(const Interval& part) const {
    return whole_.events_about(part.from, part.to) <= kMostEvents;
  }
  std::shared_ptr<const Model> cut(const Interval& part);

  const Model& whole_;
  std::atomic<bool> closed_{false};
  std::mutex mutex_;  // protects what follows
  bool opened_ = false;
  std::unique_ptr<const Recording> recording_;  // the recording, opened once more
  std::unique_ptr<CheckpointCache> cache_;      // of trace_
  Interval at_;                                 // the time of part_
  std::shared_ptr<const Model> part_;
};

}  // namespace fkt::cli
