// SPDX-License-Identifier: GPL-2.0-only
// Digester: reads one page for lib/scan/digest.cc.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "lib/analyse/profile.h"
#include "lib/scan/digest.h"

namespace fkt {

class Digester {
 public:
  Digester(const Page& page, const DigestRules& rules, const SharedTypeTable& types,
           PageDigest& out)
      : rules_(rules),
        types_(types),
        out_(out),
        words_(page.words),
        clock_(page.header.first_clock),
        end_clock_(page.header.end_clock),
        pid_(page.header.pid) {
    out.spans.reserve(words_.size());  // each span takes at least one word
    start_base();
  }

  void run() {
    while (at_ < words_.size() && step()) {
    }
    flush();
    out_.counts[FKT_W_LOST] = 0;
  }

 private:
  using Entry = DigestRules::Entry;
  using Op = DigestRules::Op;
  // What the page shows of the thread's mode outside of the spans that began in the burst.
  enum class Base : std::uint8_t { unknown, user, call };
  // The base, which is outside of all spans that began in the burst, or a span that began in the
  // burst and may turn out not to end in it; with what happened in it so far.
  struct Frame {
    TypeIndex type = kNoType;
    SpanKind kind = SpanKind::other;
    bool has_fault = false, has_called = false;  // as in Burst
    std::uint16_t id = 0;  // id of the event that began it; 0: an event with further words
    std::uint32_t events = 0;
    std::uint32_t made = 0;  // how many of them are made begins (is_made_begin())
    std::uint64_t number = 0, begin = 0;
    std::uint64_t from = 0;  // clock of its first event (ticks)
    // Position of that event, or after the event that began the frame.
    std::uint32_t first_word = 0;
    // Set when another frame begins inside, or the burst ends: position after its last event, and
    // that event's clock.
    std::uint32_t last_word = 0;
    std::uint64_t to = 0;
    // Sizes of the digest's lists when it began.
    std::uint32_t first_span = 0, first_nested = 0, first_child = 0;
    std::uint64_t irq = 0, softirq = 0, called = 0;  // as in Burst::Part
    std::uint64_t inside = 0;                        // ticks of the spans that ended directly in it
    RawVector<Child> children{};
  };

  bool step();
  bool special(const Entry& entry, std::uint64_t word, std::uint64_t clock);
  bool pairs();
  bool pair(const Entry& entry, std::uint64_t word, std::uint64_t clock);
  void event(const Entry& entry, std::uint64_t word, std::uint64_t clock);
  std::uint64_t number(const Entry& entry, std::uint64_t word) const {
    return entry.in_word ? words_[at_ - entry.words] : fkt_word_arg(word) & entry.mask;
  }
  // Adds a span that nested directly in the frame. Looks for its type only among the newest
  // children: a type may be there several times, Tally and Analysis::apply() add these up.
  static void add_child(Frame& frame, TypeIndex type, std::uint64_t ticks) {
    constexpr std::uint32_t kNewest = 16;
    const std::uint32_t size = frame.children.size();
    for (std::uint32_t at = size - std::min(size, kNewest); at < size; at++) {
      Child& child = frame.children[at];
      if (child.type != type) continue;
      child.count++;
      child.ticks += ticks;
      return;
    }
    frame.children.push_back({type, 1, ticks});
  }
  void begin(const Entry& entry, std::uint64_t word, std::uint64_t clock);
  void end(const Entry& entry, std::uint64_t word, std::uint64_t clock);
  bool ends(const Entry& end, SpanKind open, std::uint64_t open_number, std::uint64_t word) const {
    if (is_syscall(end.kind)) return is_syscall(open);
    return end.kind == open && (!end.same_key || open_number == number(end, word));
  }
  bool ends_at_once(SpanKind kind, std::uint64_t number, std::uint64_t clock, TypeIndex type);
  unsigned may_begin_kinds() const;
  bool may_begin(SpanKind kind) const {
    return (may_begin_kinds() & nesting_bit(kind.nests())) != 0;
  }
  bool end_outer(std::uint64_t clock);
  void leave(const Entry& entry, std::uint64_t word, std::uint64_t clock);
  bool take_in(Frame& call);
  void emit(Frame& frame, const Frame* inner);
  void set_loose(Burst::Part& part, Frame& frame);
  void put_loose(Burst::Part& part, Frame& frame);
  void alone(const Entry& entry, std::uint64_t word);
  void push(SpanKind kind, TypeIndex type, std::uint64_t number, std::uint64_t clock,
            std::uint16_t id);
  void pop(std::uint64_t clock);
  void flush();
  void start(Frame& frame);
  void start_base() {
    new_burst();
    top_ = frames_.data();
    start(*top_);
  }
  // Resets only the flags and sums. emit() writes all other fields, except those that a flag makes
  // valid.
  void new_burst() {
    burst_ = out_.bursts.spare();
    burst_->exits = burst_->enters = burst_->has_calls = burst_->taken = false;
    burst_->has_called = false;
    burst_->leave = 0;
    burst_->calls = 0;
  }
  void set_end(Frame& frame) const;
  static void touch(Frame& frame, std::uint64_t from, std::uint32_t events);
  void spend(Frame& frame, SpanKind kind, std::uint64_t ticks);
  bool at_base() const { return top_ == frames_.data(); }

  static constexpr std::size_t kMostFrames = 8;
  const DigestRules& rules_;
  const SharedTypeTable& types_;

  PageDigest& out_;
  const std::span<const std::uint64_t> words_;
  std::uint64_t clock_;
  const std::uint64_t end_clock_;
  std::uint64_t last_ = 0;  // clock of the last event (ticks)
  std::uint32_t done_ = 0;  // position after the last event
  std::uint32_t at_ = 0;    // position of the next word, or after the event that is being processed
  std::uint32_t pid_;
  Base base_ = Base::unknown;
  bool alone_ = true;                        // the next event is read by itself, whatever it is
  Burst* burst_ = nullptr;                   // burst of the base; emit() adds what the frame holds
  std::array<Frame, kMostFrames> frames_{};  // [0]: the base
  Frame* top_ = frames_.data();              // the innermost frame
};

}  // namespace fkt
