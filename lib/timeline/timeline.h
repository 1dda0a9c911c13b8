// SPDX-License-Identifier: GPL-2.0-only
// Timeline: what happened in any interval of a recording, without reading all that came before it.
//
// One pass follows the recording (lib/timeline/state_tracker.h) and keeps copies of its state along
// the way, at most kCopyBytes in all: the smaller they are, the closer together. An interval is
// then followed from the last copy before it. In a slice of several stretches, each is followed
// separately, from the state at its cut; there are no events between them.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <vector>

#include "lib/analyse/cpu_accounting.h"
#include "lib/analyse/file_names.h"
#include "lib/format/clocks.h"
#include "lib/read/recording.h"
#include "lib/timeline/density.h"
#include "lib/timeline/state_tracker.h"

namespace fkt {

// Called periodically while a question is answered; returns true when the answer is no longer
// needed.
using Unwanted = std::function<bool()>;

// A mutex that serves waiting threads in turn: a holder that unlocks and locks it again waits
// behind them.
class FairMutex {
 public:
  void lock() {
    const std::lock_guard queue(next_);
    held_.lock();
  }
  void unlock() { held_.unlock(); }

 private:
  std::mutex next_, held_;
};

class Timeline {
 public:
  static constexpr std::size_t kCopyBytes = 24 << 20;
  static constexpr std::size_t kCopies = 4096;

  // Reads nothing before read(); `recording` must outlive this.
  explicit Timeline(const Recording& recording);

  // Makes the pass; call it once. `whole` receives everything on the way, unless nullptr; `taker`
  // the pages, from other threads too (ReadRange::page_read).
  void read(PassControl& control, StateObserver* whole = nullptr, const PageTaker& taker = {});

  // Passes the slices that touch [from, to) (ticks) to `observer`: those that began earlier with
  // their real begin, those open at `to` as not ended. Stops early when observer.enough() or
  // unwanted() return true. Valid after read(). May be called from any thread: callers take turns
  // every few thousand events, so a short question does not wait for a long one.
  void follow(std::uint64_t from, std::uint64_t to, StateObserver& observer,
              const Unwanted& unwanted = {}) const;
  // How much later than others a slice may come in read(), see StateObserver (ticks).
  std::uint64_t longest_burst() const { return longest_burst_; }
  const Recording& recording() const { return recording_; }
  const SpanTypes& types() const { return types_; }
  // The tasks of the whole recording, under the indexes used in slices; valid after read().
  const Tasks& tasks() const { return end_.tasks(); }
  // The paths of files that events tell, valid after read().
  const FileNames& file_names() const { return file_names_; }
  // First and last time in the file (ticks); begin() < end().
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return finish_; }

 private:
  struct Copy {
    std::uint64_t clock = 0;  // of the first event that is not in the state
    bool cut = false;         // the state at the begin of a slice's stretch: never removed
    StateTracker::Saved state;
  };
  void learn_name(const Event& event);
  bool read_bursts(PassControl& control, StateObserver* whole, const PageTaker& taker);
  bool read_events(PassControl& control, StateObserver* whole, const PageTaker& taker);
  // Saves a copy of the state before the event at `clock` (ticks). cut: at a stretch's begin.
  void keep(std::uint64_t clock, bool cut);
  // Ends the stretches before, and begins those that begin up to `clock` (ticks).
  void reach(std::uint64_t clock, StateObserver* whole) {
    while (clock >= next_stretch_at_ && stretch_ + 1 < recording_.info().stretches())
      [[unlikely]] next_stretch(whole);
  }
  void next_stretch(StateObserver* whole);
  // Ends the stretch, or the whole recording, at `end` (ticks).
  void end_stretch(std::uint64_t end, bool last, StateObserver* whole);
  // Returns the slice's n-th stretch; all of time when the file is no slice.
  Interval stretch(std::size_t n) const;
  const Copy& copy_before(std::uint64_t clock) const;

  const Recording& recording_;
  mutable SpanTypes types_;  // grows only in read()
  Meanings meanings_;
  std::uint64_t begin_ = 0;
  std::atomic<std::uint64_t> finish_ = 0;  // read() may move it, while others ask for end()
  std::uint64_t stop_ = 0;  // end of what is open at the end, as for Analysis::end() (ticks)
  std::uint64_t longest_burst_ = 0;  // ticks
  std::uint64_t last_clock_ = 0;     // of the latest event that read() has applied (ticks)
  FileNames file_names_;
  LastEvents last_events_;                    // that read() has applied
  std::vector<UnknownEnds> unknown_ends_;     // of each stretch, or of the whole recording
  std::size_t stretch_ = 0;                   // in read(): the slice's current stretch
  std::uint64_t next_stretch_at_ = kForever;  // begin of the one after it (ticks)
  std::vector<Copy> copies_;                  // by time
  std::size_t copy_bytes_ = 0, cut_bytes_ = 0, cuts_ = 0;  // cut: of the copies with Copy::cut
  std::uint64_t copy_every_;                               // events between copies
  StateTracker end_;
  // Protects the use of Recording::events(), which is for one thread at a time.
  mutable FairMutex reading_;
};

}  // namespace fkt
