// SPDX-License-Identifier: GPL-2.0-only
#include "lib/scan/digest.h"

#include <limits>
#include <utility>

#include "lib/scan/digester.h"

namespace fkt {
namespace {

constexpr std::uint32_t kFewestEvents = 2;  // smallest burst: a single event is no gain
// Largest duration in a record.
constexpr std::uint64_t kMostTicks = std::numeric_limits<std::uint32_t>::max();

}  // namespace

// Processes the next word. Returns false when the page is damaged there.
[[gnu::always_inline]] inline bool Digester::step() {
  const std::uint64_t word = words_[at_];
  const Entry& entry = rules_[fkt_word_id(word)];
  const std::uint64_t clock = fkt_word_clock(word, clock_);
  std::uint32_t count = entry.words;
  if (entry.op >= Op::long_point) {
    if (entry.op >= Op::pair) return special(entry, word, clock);
    count = fkt_word_arg(word) & FKT_VAR_MASK;
  }
  if (clock > end_clock_ || count >= words_.size() - at_) return false;
  out_.counts[fkt_word_id(word)]++;
  at_ += 1 + count;
  clock_ = clock;
  event(entry, word, clock);
  last_ = clock_;
  done_ = at_;
  return true;
}

inline bool Digester::special(const Entry& entry, std::uint64_t word, std::uint64_t clock) {
  switch (entry.op) {
    case Op::pair:
    case Op::odd_pair:
      return pairs() || pair(entry, word, clock);
    case Op::pid:
      flush();
      pid_ = fkt_word_arg(word) & FKT_PID_MASK;
      base_ = Base::unknown;
      alone_ = true;  // the analysis may not know this thread yet
      clock_ = clock;
      at_++;
      return true;
    case Op::time:
      clock_ = fkt_time_word_clock(word, clock_);
      at_++;
      return true;
    default:
      return false;
  }
}

// Processes a run of whole pairs that can be part of the burst: most words are of this kind.
// Returns false when the next word is no such pair.
bool Digester::pairs() {
  if (alone_) return false;
  const unsigned kinds = may_begin_kinds();
  const std::atomic<TypeIndex>* const types = types_.slots();
  const std::uint64_t* const first = words_.data() + at_;
  const std::uint64_t* const end = words_.data() + words_.size();
  const std::uint64_t* at = first;
  SpanRecord* span = out_.spans.end();
  std::uint64_t clock = clock_, called = 0;
  std::ptrdiff_t interrupts = 0;
  for (; at != end; ++at) {
    const std::uint32_t id = fkt_word_id(*at), arg = fkt_word_arg(*at);
    const Entry& entry = rules_[id];
    if ((entry.pair & kinds) == 0 || arg == 0) break;
    const TypeIndex type = types[entry.mask + id].load(std::memory_order_relaxed);
    const std::uint32_t ticks = fkt_pair_ticks(arg);
    const std::uint64_t then = fkt_word_clock(*at, clock) + ticks;
    if (type == kNoType || then > end_clock_) break;
    clock = then;
    out_.counts[id]++;
    *span++ = {type, ticks};
    if ((entry.pair & kCalls) != 0) {
      called += ticks;
      continue;
    }
    interrupts++;  // or what is called
    top_->inside += ticks;
    spend(*top_, entry.kind, ticks);
    add_child(*top_, type, ticks);  // the span around it may stay open: also where nothing counts
  }
  if (at == first) return false;
  if (out_.counted) out_.spans.extend(span);
  burst_->calls += called;
  burst_->has_calls |= at - first > interrupts;
  touch(*top_, fkt_word_clock(*first, clock_), 2 * static_cast<std::uint32_t>(at - first));
  at_ = done_ = static_cast<std::uint32_t>(at - words_.data());
  clock_ = last_ = clock;
  return true;
}

// Processes a pair that pairs() does not take.
bool Digester::pair(const Entry& entry, std::uint64_t word, std::uint64_t clock) {
  const std::uint32_t id = fkt_word_id(word), arg = fkt_word_arg(word);
  const std::uint64_t end_clock = clock + (arg != 0 ? fkt_pair_ticks(arg) : 0);
  if (end_clock > end_clock_) return false;
  out_.counts[arg != 0 ? id : entry.begin]++;
  at_++;
  clock_ = end_clock;
  const TypeIndex type = entry.op == Op::odd_pair
                             ? kNoType
                             : types_.slots()[entry.mask + id].load(std::memory_order_relaxed);
  if (alone_ || arg != 0 || type == kNoType || !may_begin(entry.kind)) {
    alone(entry, word);
  } else {
    push(entry.kind, type, id - entry.first, clock, entry.begin);
  }
  last_ = clock_;
  done_ = at_;
  return true;
}

[[gnu::always_inline]] inline void Digester::event(const Entry& entry, std::uint64_t word,
                                                   std::uint64_t clock) {
  if (alone_) return alone(entry, word);
  switch (entry.op) {
    case Op::fault:
      top_->has_fault = true;
      [[fallthrough]];
    case Op::point:
    case Op::long_point:
      return touch(*top_, clock, 1);
    case Op::begin:
      return begin(entry, word, clock);
    case Op::end:
      return end(entry, word, clock);
    case Op::leave:
      return leave(entry, word, clock);
    default:
      return alone(entry, word);
  }
}

// The event is read by itself, and so are the begins of all spans that are open.
void Digester::alone(const Entry& entry, std::uint64_t word) {
  flush();
  alone_ = false;
  if (entry.op == Op::switched || entry.op == Op::leave) {
    pid_ = fkt_word_arg(word) & FKT_PID_MASK;
    base_ = Base::unknown;
  } else if (is_syscall(entry.kind) && entry.op != Op::alone && entry.op != Op::long_alone &&
             entry.op != Op::odd_pair) {
    const bool ended = entry.op == Op::end || (entry.op == Op::pair && fkt_word_arg(word) != 0);
    base_ = !ended ? Base::call : pid_ != 0 ? Base::user : Base::unknown;
  }
}

// Returns the spans, by their nesting_bit(), that can begin here as part of the burst.
inline unsigned Digester::may_begin_kinds() const {
  const bool calls = at_base() && base_ == Base::user;
  return (calls ? kCalls : 0U) | (top_ != &frames_.back() ? ~unsigned{kCalls} : 0U);
}

inline void Digester::begin(const Entry& entry, std::uint64_t word, std::uint64_t clock) {
  const std::uint64_t which = number(entry, word) + entry.first;
  const TypeIndex type = types_.of(entry.kind, which);
  if (type == kNoType || !may_begin(entry.kind)) return alone(entry, word);
  if (ends_at_once(entry.kind, which, clock, type)) return;
  push(entry.kind, type, which, clock,
       entry.in_word ? 0 : static_cast<std::uint16_t>(fkt_word_id(word)));
}

// Processes a span that ends with the next word, as most do. Returns false when it does not.
inline bool Digester::ends_at_once(SpanKind kind, std::uint64_t number, std::uint64_t begin,
                                   TypeIndex type) {
  if (at_ >= words_.size()) return false;
  const std::uint64_t next = words_[at_];
  const std::uint32_t id = fkt_word_id(next);
  const Entry& end = rules_[id];
  if (end.op != Op::end || end.words != 0) return false;
  const bool same = ends(end, kind, number, next);
  const std::uint64_t clock = fkt_word_clock(next, begin);
  if (!same || clock > end_clock_) return false;
  out_.counts[id]++;
  clock_ = clock;
  at_++;
  Frame& frame = *top_;
  // The difference has at most 28 bits.
  const auto ticks = static_cast<std::uint32_t>(clock - begin);
  touch(frame, begin, 2);
  frame.made += is_complete(kind);
  spend(frame, kind, ticks);
  frame.inside += ticks;
  if (out_.counted) out_.spans.push_back({type, ticks});
  if (is_syscall(kind)) return true;
  add_child(frame, type, ticks);
  return true;
}

inline void Digester::push(SpanKind kind, TypeIndex type, std::uint64_t number, std::uint64_t clock,
                           std::uint16_t id) {
  set_end(*top_);
  Frame& frame = *++top_;
  frame.type = type;
  frame.kind = kind;
  frame.id = id;
  frame.number = number;
  frame.begin = clock;
  start(frame);
}

inline void Digester::start(Frame& frame) {
  frame.has_fault = frame.has_called = false;
  frame.events = frame.made = 0;
  frame.first_word = at_;
  frame.first_span = out_.spans.size();
  frame.first_nested = out_.nested.size();
  frame.first_child = out_.children.size();
  frame.irq = frame.softirq = frame.called = frame.inside = 0;
  frame.children.clear();
}

inline void Digester::set_end(Frame& frame) const {
  frame.to = last_;
  frame.last_word = done_;
}

inline void Digester::end(const Entry& entry, std::uint64_t word, std::uint64_t clock) {
  const Frame& open = *top_;
  const bool fits = !at_base() && ends(entry, open.kind, open.number, word);
  if (fits && clock - open.begin <= kMostTicks) return pop(clock);
  if (!is_syscall(entry.kind) || !end_outer(clock)) alone(entry, word);
}

// Processes the end of the system call that was open when the burst began. Returns false when the
// event cannot be that.
inline bool Digester::end_outer(std::uint64_t clock) {
  if (!at_base() || base_ == Base::user || pid_ == 0 || burst_->has_calls || burst_->exits) {
    return false;
  }
  Frame& frame = *top_;
  touch(frame, clock, 1);
  burst_->exits = true;
  burst_->exit = clock;
  set_loose(burst_->before, frame);
  frame.irq = frame.softirq = frame.called = 0;
  base_ = Base::user;
  return true;
}

// Stores the times of the frame's part that ends here, and the spans that nested directly in
// whatever is open around it.
inline void Digester::set_loose(Burst::Part& part, Frame& frame) {
  part.irq = frame.irq;
  part.softirq = frame.softirq;
  part.called = frame.called;
  part.first_loose = part.end_loose = 0;
  if (!frame.children.empty()) put_loose(part, frame);
}

void Digester::put_loose(Burst::Part& part, Frame& frame) {
  part.first_loose = out_.loose.size();
  for (const Child& child : frame.children) {
    out_.loose.push_back({kNoType, child.type, child.count, child.ticks});
  }
  part.end_loose = out_.loose.size();
  frame.children.clear();
}

inline void Digester::touch(Frame& frame, std::uint64_t from, std::uint32_t events) {
  if (frame.events == 0) frame.from = from;
  frame.events += events;
}

inline void Digester::spend(Frame& frame, SpanKind kind, std::uint64_t ticks) {
  switch (kind.nests()) {
    case Nesting::call:
      burst_->calls += ticks;
      burst_->has_calls = true;
      break;
    case Nesting::softirq:
      frame.softirq += ticks;
      break;
    case Nesting::irq:
      frame.irq += ticks;
      break;
    default:
      frame.called += ticks;
      frame.has_called = true;
  }
}

// The innermost span ends.
[[gnu::always_inline]] inline void Digester::pop(std::uint64_t clock) {
  const Frame& span = *top_--;
  Frame& around = *top_;
  const std::uint64_t ticks = clock - span.begin;
  const std::uint64_t self = ticks - span.inside;
  if (out_.counted) {
    for (const Child& child : span.children) {
      out_.children.push_back({span.type, child.type, child.count, child.ticks});
    }
    const auto short_ticks = static_cast<std::uint32_t>(ticks);
    if (self == ticks) {
      out_.spans.push_back({span.type, short_ticks});
    } else {
      out_.nested.push_back({span.type, short_ticks, static_cast<std::uint32_t>(self),
                             static_cast<std::uint32_t>(span.called)});
    }
  }
  touch(around, span.begin, span.events + 2);
  around.made += span.made + is_complete(span.kind);
  around.irq += span.irq;
  around.softirq += span.softirq;
  spend(around, span.kind, self + span.called);
  around.inside += ticks;
  if (is_syscall(span.kind)) return;  // at the base, with nothing around it
  add_child(around, span.type, ticks);
}

// The thread is switched out: the switch is the last event of the burst, unless an interrupt seems
// to be open.
inline void Digester::leave(const Entry& entry, std::uint64_t word, std::uint64_t clock) {
  Frame& base = frames_[0];
  set_end(*top_);
  const bool in_call = top_ == &frames_[1] && is_syscall(top_->kind);
  if (!at_base() && !(in_call && take_in(*top_))) return alone(entry, word);
  touch(base, clock, 1);
  base.to = clock;
  base.last_word = at_;
  burst_->leave = static_cast<std::uint16_t>(fkt_word_id(word));
  burst_->next = fkt_word_arg(word) & FKT_PID_MASK;
  emit(base, nullptr);
  start_base();
  pid_ = fkt_word_arg(word) & FKT_PID_MASK;
  base_ = Base::unknown;
}

// Ends the burst. The begin of an open interrupt is an event by itself, and what happened in the
// interrupt since then is another burst. So it is for an open system call, unless take_in() makes
// its begin part of this burst.
void Digester::flush() {
  set_end(*top_);
  Frame* inner = &frames_[1];
  if (top_ >= inner && is_syscall(inner->kind)) {
    base_ = Base::call;
    if (take_in(*inner)) inner++;
  }
  emit(frames_[0], inner <= top_ ? inner : nullptr);
  for (; inner <= top_; inner++) {
    new_burst();
    emit(*inner, inner < top_ ? inner + 1 : nullptr);
  }
  start_base();
}

// Makes the begin of a system call that stays open part of the base's burst. Returns false when the
// begin event has further words.
inline bool Digester::take_in(Frame& call) {
  if (call.id == 0) return false;
  Frame& base = frames_[0];
  base.children.clear();  // nothing was open around them, as the base was in user mode
  set_loose(burst_->between, base);
  burst_->enters = true;
  burst_->entry = call.begin;
  burst_->entry_kind = call.kind;
  burst_->entry_type = call.type;
  burst_->entry_number = call.number;
  touch(base, call.begin, 1 + call.events);
  base.made += call.made;
  base.to = call.events > 0 ? call.to : call.begin;
  base.last_word = call.events > 0 ? call.last_word : call.first_word;
  base.has_fault |= call.has_fault;
  base.has_called |= call.has_called;
  base.irq = call.irq;
  base.softirq = call.softirq;
  base.called = call.called;
  std::swap(base.children, call.children);
  return true;
}

// Writes the burst of a frame. inner: the first frame inside that has its own burst; nullptr: there
// is none.
void Digester::emit(Frame& frame, const Frame* inner) {
  Burst& burst = *burst_;
  if (frame.events < kFewestEvents && burst.leave == 0) return;
  // In user mode no span is open around the children.
  if (!burst.enters && (burst.exits || burst.has_calls)) frame.children.clear();
  set_loose(burst.enters ? burst.behind : burst.between, frame);
  burst.from = frame.from;
  burst.to = frame.to;
  burst.pid = pid_;
  burst.events = frame.events - frame.made;
  burst.begin_word = frame.first_word;
  burst.end_word = frame.last_word;
  burst.first_span = frame.first_span;
  burst.first_nested = frame.first_nested;
  burst.first_child = frame.first_child;
  burst.end_span = inner != nullptr ? inner->first_span : out_.spans.size();
  burst.end_nested = inner != nullptr ? inner->first_nested : out_.nested.size();
  burst.end_child = inner != nullptr ? inner->first_child : out_.children.size();
  burst.has_fault = frame.has_fault;
  burst.has_called = frame.has_called;
  out_.bursts.extend(burst_ + 1);
}

void digest(const Page& page, const DigestRules& rules, const SharedTypeTable& types, bool counted,
            PageDigest& out) {
  out.counted = counted;
  Digester(page, rules, types, out).run();
}

}  // namespace fkt
