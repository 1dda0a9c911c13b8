// SPDX-License-Identifier: GPL-2.0-only
// Walks over the words of a page with events of whole calls, for splitting the page
// (lib/read/page_splitter.h) and for finding where its calls began and ended
// (lib/read/call_places.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "lib/format/call_events.h"
#include "lib/read/page_decoder.h"

namespace fkt {

// How the pages of a recording are split.
struct SplitRules {
  // How a word is read.
  struct Step {
    std::uint32_t pair = 0;     // mask of a pair's ticks; 0: it is no pair
    std::uint16_t words = 0;    // that follow,
    std::uint16_t counted = 0;  // and how many more: the argument's bits in this mask
    std::uint16_t entry = 0;    // of `table`
    bool alone = false;         // a pair, or an event without words, flags and calls: most are
    bool special = false;       // no event, or one of a call, a switch or a gap
    bool is_switch = false, is_call = false;
    std::uint8_t call = 0;  // its number in `calls`
  };
  explicit SplitRules(Catalogue& catalogue);  // changes the catalogue as CallEvents does

  WordTable table;  // of the events in the file
  CallEvents calls;
  std::array<Step, 1 << FKT_ID_BITS> steps{};  // by id
  // By id: 1: begins what nests on a CPU; -1: ends it.
  std::array<std::int8_t, 1 << FKT_ID_BITS> on_cpu{};

  // Returns how many words follow that of an event.
  std::uint32_t words_after(std::uint64_t word) const {
    const Step& step = steps[fkt_word_id(word)];
    return step.words + (fkt_word_arg(word) & step.counted);
  }
  // Returns the event whose word is at this position of the page, without its time.
  Event event_at(const Page& page, std::uint32_t at) const {
    Event event;
    const std::uint64_t word = page.words[at];
    event.id = static_cast<std::uint16_t>(fkt_word_id(word));
    event.arg = fkt_word_arg(word);
    event.words = page.words.subspan(at + 1, words_after(word));
    return event;
  }
};

// A call, read from its event.
struct ToldCall {
  const CallEvent* type = nullptr;
  std::uint64_t begin = 0, end = 0;  // ticks
  std::uint64_t duration = 0;        // ticks; more than to `end` if that is not known
  std::uint64_t number = 0;          // of the function

  bool end_is_known() const { return end - begin == duration; }
};

// Returns the call of an event, which must have the words of its fields.
[[gnu::always_inline]] inline ToldCall told_call(const CallEvent& type, const Event& event) {
  ToldCall call;
  call.type = &type;
  call.begin = std::min(type.start(event), event.clock);
  call.duration = type.ticks(event);
  // A call that seems to end after its event was written is taken to have ended then.
  call.end = call.begin + std::min(call.duration, event.clock - call.begin);
  call.number = type.number(event);
  return call;
}

// Position of the walk over a page.
struct PageWalk {
  std::uint64_t clock = 0;  // ticks
  std::uint32_t at = 0;     // position of the next word
  std::uint32_t pid = 0;    // the thread that runs
  bool damaged = false;     // the word at `bad` cannot be read
  bool too_short = false;   // its event is too short for its fields
  std::uint32_t bad = 0;
};

// Reads the page up to its end, or to the first word that cannot be read, and tells `items` of what
// is in it, in its order. `items` has the functions
//   alone()                 returns an object with put(word, clock, end, at, is_pair), called for
//                           events that are a single word each: from when to when (ticks), and
//                           where it is
//   take(object)            gives it back
//   item(clock, at, lost)   another event, or a gap
//   call(call, event, at, pid)   the event of a call, which has the words of its fields
//   runs(pid)               what follows is by this thread
//   time()                  a TIME word
//   enough()                whether the rest of the page need not be read
template <class Items>
PageWalk walk_page(const SplitRules& rules, const Page& page, Items& items) {
  const std::span<const std::uint64_t> words = page.words;
  const std::uint64_t last = page.header.end_clock;
  PageWalk walk{page.header.first_clock, 0, page.header.pid};
  const auto fail = [&](std::uint32_t at) {
    walk.damaged = true;
    walk.bad = at;
  };
  // The position of the next word does not depend on what was read, so that the processor need not
  // wait for it.
  const auto read_alone = [&] {
    auto sink = items.alone();
    std::uint64_t clock = walk.clock;
    std::uint32_t at = walk.at;
    for (; at < words.size(); at++) {
      const std::uint64_t word = words[at];
      const SplitRules::Step& step = rules.steps[fkt_word_id(word)];
      if (!step.alone) break;
      const std::uint64_t begin = fkt_word_clock(word, clock);
      const std::uint64_t end = begin + (fkt_pair_ticks(fkt_word_arg(word)) & step.pair);
      if (end > last) [[unlikely]] {
        fail(at);
        break;
      }
      clock = end;
      sink.put(word, begin, end, at, step.pair != 0);
    }
    items.take(sink);
    walk.clock = clock;
    walk.at = at;
  };
  // Returns false if the event cannot be read.
  const auto pass = [&](std::uint64_t clock, std::uint32_t behind) {
    if (clock > last || behind > words.size()) {
      fail(walk.at);
      return false;
    }
    walk.clock = clock;
    walk.at = behind;
    return true;
  };
  const auto read_call = [&](const SplitRules::Step& step, std::uint64_t word)
      __attribute__((always_inline)) {
    const std::uint32_t at = walk.at;
    const std::uint64_t clock = fkt_word_clock(word, walk.clock);
    if (!pass(clock, at + 1 + rules.words_after(word))) return;
    const CallEvent& type = rules.calls[step.call];
    Event event = rules.event_at(page, at);
    event.clock = clock;
    walk.too_short = event.words.size() < type.words;
    if (walk.too_short) return fail(at);
    items.call(told_call(type, event), event, at, walk.pid);
  };
  // No event, or a switch or a gap.
  const auto read_special = [&](const SplitRules::Step& step, std::uint64_t word)
      __attribute__((always_inline)) {
    const std::uint32_t arg = fkt_word_arg(word), at = walk.at;
    if (step.entry == WordTable::kPid) {
      walk.clock = fkt_word_clock(word, walk.clock);
      walk.pid = arg & FKT_PID_MASK;
      walk.at++;
      return items.runs(walk.pid);
    }
    if (step.entry == WordTable::kTime) {
      walk.clock = fkt_time_word_clock(word, walk.clock);
      walk.at++;
      return items.time();
    }
    if (step.entry == WordTable::kUnknown) return fail(at);
    const std::uint64_t clock = fkt_word_clock(word, walk.clock);
    if (!pass(clock, at + 1 + rules.words_after(word))) return;
    const bool lost = step.entry == WordTable::kLost;
    items.item(clock, at, lost);
    if (lost) return;
    walk.pid = arg & FKT_PID_MASK;
    items.runs(walk.pid);
  };
  items.runs(walk.pid);
  while (walk.at < words.size() && !walk.damaged && !items.enough()) {
    const std::uint64_t word = words[walk.at];
    const SplitRules::Step& step = rules.steps[fkt_word_id(word)];
    if (step.alone) {
      read_alone();
    } else if (step.is_call) {
      read_call(step, word);
    } else if (step.special) {
      read_special(step, word);
    } else {
      const std::uint32_t at = walk.at;
      const std::uint64_t clock = fkt_word_clock(word, walk.clock);
      if (pass(clock, at + 1 + rules.words_after(word))) items.item(clock, at, false);
    }
  }
  return walk;
}

}  // namespace fkt
