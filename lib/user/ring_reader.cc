// SPDX-License-Identifier: GPL-2.0-only
#include "lib/user/ring_reader.h"

#include <algorithm>

namespace fkt {

RingReader::RingReader(fkt_user_ring* ring, std::uint64_t words, std::uint64_t start,
                       std::size_t most_words)
    : ring_(ring),
      words_(
          reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(ring) + FKT_USER_HEADER_BYTES)),
      size_(words),
      most_words_(most_words),
      start_(start),
      clock_(start) {}

std::uint64_t RingReader::load(std::uint64_t at) const {
  // Acquire: pairs with the store of an event's first word, after which its others are there.
  return __atomic_load_n(&words_[at & (size_ - 1)], __ATOMIC_ACQUIRE);
}

void RingReader::clear(std::uint64_t from, std::uint64_t to) {
  const std::uint64_t begin = from & (size_ - 1), length = to - from;
  const std::uint64_t first = std::min(length, size_ - begin);
  std::fill_n(words_ + begin, first, 0);
  std::fill_n(words_, length - first, 0);
}

// Skips one word of an event that will never be complete, or all of it. Returns false if it may
// become complete: its thread is alive, and has not written much since.
bool RingReader::skip_unfinished(std::uint64_t head, bool has_ended) {
  if (!has_ended && !in_zeros_ && head - tail_ < size_ / 2) return false;
  const std::uint64_t word = load(tail_);
  const bool begins = word != 0 || !in_zeros_;
  unfinished_ += begins;
  // Only the exchange of `head` was made: there are zeros up to the next event.
  in_zeros_ = word == 0;
  tail_ += word == 0 ? 1 : std::min<std::uint64_t>(1 + fkt_word_arg(word), head - tail_);
  return true;
}

// Reports newly lost events to the sink. Returns false if the program cannot have lost so many.
bool RingReader::tell_lost(std::uint64_t clock, std::uint64_t total, std::uint64_t from,
                           RingSink& sink) {
  // A count that decreases is invalid, and ignored.
  if (total <= lost_) return true;
  // Writing an event takes longer than a tick, so no more can be lost than ticks have passed.
  if (total > clock - start_) return false;
  sink.lost(clock, total - lost_, from);
  lost_ = total;
  return true;
}

// Takes the event at tail_. Returns false if the words are not an event.
bool RingReader::take_one(std::uint64_t head, std::uint64_t now, RingSink& sink) {
  const std::uint64_t word = load(tail_);
  const std::uint32_t id = fkt_word_id(word), after = fkt_user_words_after(word);
  if (after > most_words_ || 1 + after > head - tail_) return false;
  event_.resize(after);
  for (std::uint32_t i = 0; i < after; i++) event_[i] = load(tail_ + 1 + i);
  tail_ += 1 + after;
  in_zeros_ = false;
  const std::uint64_t clock =
      id == FKT_W_TIME ? fkt_time_word_clock(word, clock_) : fkt_word_clock(word, clock_);
  clock_ = std::min(std::max(clock, clock_), std::max(now + ahead_, clock_));
  if (id == FKT_W_LOST) return tell_lost(clock_, event_[0], event_[1], sink);
  if (id != FKT_W_TIME) sink.event(clock_, id, fkt_word_arg(word), event_);
  return true;
}

bool RingReader::take(std::uint64_t now, bool has_ended, RingSink& sink) {
  if (!sound_) return false;
  // Acquire: words before `head` are read as zero or as filled in later, not with older contents.
  const std::uint64_t head = __atomic_load_n(&ring_->head, __ATOMIC_ACQUIRE), begin = tail_;
  sound_ = head - tail_ <= size_;
  while (sound_ && tail_ != head) {
    if (fkt_word_id(load(tail_)) == 0) {
      if (!skip_unfinished(head, has_ended)) break;
    } else {
      sound_ = take_one(head, now, sink);
    }
  }
  if (tail_ != begin && sound_) {
    clear(begin, tail_);
    // Release: a writer that reads this `tail` (acquire, in fkt_user_prepare()) finds the words
    // before it zero.
    __atomic_store_n(&ring_->tail, tail_, __ATOMIC_RELEASE);
  }
  if (has_ended && sound_) {
    // The gap lasts until now.
    sound_ = tell_lost(std::max(now, clock_), __atomic_load_n(&ring_->lost, __ATOMIC_RELAXED),
                       __atomic_load_n(&ring_->gap_from, __ATOMIC_RELAXED), sink);
  }
  return tail_ != begin;
}

}  // namespace fkt
