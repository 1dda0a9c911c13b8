// SPDX-License-Identifier: GPL-2.0-only
// Timeline: what happened in any stretch of a recording, without reading what came before it.
//
// One pass follows the recording (lib/follow.h) and keeps copies of its state along the way, closer
// together the less they take: at most kCopyBytes in all. A stretch is then followed from the copy
// before it. Of a slice of several stretches each is followed by itself, from the state at its cut;
// between them there is nothing.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "lib/density.h"
#include "lib/follow.h"
#include "lib/states.h"
#include "lib/trace.h"

namespace fkt {

// Asked now and then: nobody wants the answer any more.
using Unwanted = std::function<bool()>;

// A mutex that is given to whoever has waited, when its holder lets go of it for a moment.
class TurnMutex {
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
  static constexpr std::size_t kCopyBytes = 32 << 20;
  static constexpr std::size_t kCopies = 4096;

  // Reads nothing yet; `trace` must outlive it.
  explicit Timeline(const Trace& trace);

  // The pass, once. `whole`, if there is one, is handed everything on the way.
  void read(PassControl& control, FollowSink* whole = nullptr);

  // Hands on what touches [from, to) (ticks): slices that began earlier come whole; what is open at
  // `to` comes as not ended. Ends early when the sink has had enough, or `unwanted`. Valid after
  // read(). Any number of threads may ask: they take turns, so a short question does not wait for a
  // long one's end.
  void follow(std::uint64_t from, std::uint64_t to, FollowSink& sink,
              const Unwanted& unwanted = {}) const;
  const Trace& trace() const { return trace_; }
  const SpanTypes& types() const { return types_; }
  // The tasks of the whole recording, under the indices that slices have; valid after read().
  const Tasks& tasks() const { return end_.tasks(); }
  // First and last moment that the file knows of (ticks), begin() < end().
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return finish_; }

 private:
  struct Copy {
    std::uint64_t clock = 0;  // of the first event that it does not contain
    bool cut = false;         // a slice's stretch begins here: this one stays
    Follow::Saved state;
  };
  // At `clock` of `events` that were followed.
  void keep(std::uint64_t clock, bool cut);
  // Goes on with the slice's stretches that begin up to `clock`.
  void reach(std::uint64_t clock, FollowSink* whole);
  // Where the slice's n-th stretch begins and ends; without a cut the one has no end.
  Interval stretch(std::size_t n) const;
  const Copy& copy_before(std::uint64_t clock) const;

  const Trace& trace_;
  Meanings meanings_;
  mutable SpanTypes types_;  // grows in read() only: afterwards every type is known
  std::uint64_t begin_ = 0, finish_ = 0;
  std::uint64_t stop_ = 0;  // what is open then ends there, as for Analysis::end() (ticks)
  std::size_t stretch_ = 0;                                // of a slice, in read()
  std::vector<Copy> copies_;                               // by time
  std::size_t copy_bytes_ = 0, cut_bytes_ = 0, cuts_ = 0;  // cut: of those that stay
  std::uint64_t copy_every_;                               // events
  Follow end_;
  mutable TurnMutex reading_;  // Trace::events() is for one thread at a time
};

}  // namespace fkt
