// SPDX-License-Identifier: GPL-2.0-only
// Takes the events out of a thread's ring (include/fkt/user_ring.h), which the thread's program can
// write to at any time: each word is copied before it is checked, and only checked copies are used.
// Events that a thread has not finished are skipped when it has ended, and counted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <fkt/user_ring.h>

namespace fkt {

class RingSink {
 public:
  virtual ~RingSink() = default;
  // An event of layer user. clock: ticks, in order.
  virtual void event(std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
                     std::span<const std::uint64_t> words) = 0;
  // `count` further events were lost, from `from` on (ticks, unchecked).
  virtual void lost(std::uint64_t clock, std::uint64_t count, std::uint64_t from) = 0;
};

class RingReader {
 public:
  // ring: followed by `words` words, a power of two; all must stay mapped. start: clock of the
  // recording's begin (ticks). most_words: of an event, after its first one.
  RingReader(fkt_user_ring* ring, std::uint64_t words, std::uint64_t start, std::size_t most_words);

  // Passes the complete events to `sink` and frees their room in the ring. now: clock read before
  // the ring (ticks); an event that is later than now + allow_ahead() is given that time.
  // has_ended: the thread writes no more. Returns whether anything was taken.
  bool take(std::uint64_t now, bool has_ended, RingSink& sink);
  // Sets how much later than `now` (ticks) an event of take() may be: the thread may write between
  // the reading of the clock and that of the ring.
  void allow_ahead(std::uint64_t ticks) { ahead_ = ticks; }

  // Returns false after words that fkt/user.h cannot write; the ring is not read further then.
  bool is_sound() const { return sound_; }
  std::uint64_t unfinished() const { return unfinished_; }

 private:
  std::uint64_t load(std::uint64_t at) const;
  bool skip_unfinished(std::uint64_t head, bool has_ended);
  bool take_one(std::uint64_t head, std::uint64_t now, RingSink& sink);
  bool tell_lost(std::uint64_t clock, std::uint64_t total, std::uint64_t from, RingSink& sink);
  void clear(std::uint64_t from, std::uint64_t to);

  fkt_user_ring* ring_;
  std::uint64_t* words_;
  std::uint64_t size_;
  std::size_t most_words_;
  std::vector<std::uint64_t> event_;
  std::uint64_t start_, tail_ = 0, clock_, ahead_ = 0, lost_ = 0, unfinished_ = 0;
  bool in_zeros_ = false;
  bool sound_ = true;
};

}  // namespace fkt
