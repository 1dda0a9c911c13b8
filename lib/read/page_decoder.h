// SPDX-License-Identifier: GPL-2.0-only
// One page: checks its header and the checksum of its events, and decodes its words into events.
//
// Nothing here depends on files, other pages or other CPUs, so pages can be decoded in any order
// and by several threads at once. Decoding is inline and allocates nothing, because all tools spend
// most of their time in it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fkt/wire.h>

#include "lib/base/bytes.h"
#include "lib/base/result.h"
#include "lib/format/catalogue.h"
#include "lib/format/event.h"
#include "lib/format/limits.h"

namespace fkt {

// How the word of each event id is read: a table of 8 KiB, whose few entries in use stay cached.
class WordTable {
 public:
  // Entries up to kMaxWords are events without a flag and with that number of words.
  static constexpr std::uint16_t kMaxWords = FKT_VAR_MASK;
  static constexpr std::uint16_t kSwitch = 0x0400;    // | words: sets the stream's pid
  static constexpr std::uint16_t kVariable = 0x0800;  // the argument is the number of words
  static constexpr std::uint16_t kPid = 0x1000;
  static constexpr std::uint16_t kTime = 0x1001;
  static constexpr std::uint16_t kLost = 0x1002;
  static constexpr std::uint16_t kUnknown = 0x1003;
  static constexpr std::uint16_t kPair = 0x2000;  // | index in pairs()

  explicit WordTable(const Catalogue& catalogue);
  std::uint16_t operator[](std::uint32_t id) const { return entries_[id]; }
  const PairType& pair(std::uint16_t entry) const { return pairs_[entry & ~kPair]; }

 private:
  std::array<std::uint16_t, 1 << FKT_ID_BITS> entries_;
  std::vector<PairType> pairs_;
};

// A page whose header, and usually events, have been checked.
struct Page {
  fkt_page_header header{};
  std::span<const std::uint64_t> words;  // after the header, up to `used`
  std::uint64_t offset = 0;              // of the page in the file (bytes)
  // Offset behind the last word, from which events have their offsets. In a page that was split
  // (lib/read/page_splitter.h) it is not that in the file, but events have different ones.
  std::uint64_t words_end = 0;
  std::shared_ptr<const void> keep;  // keeps the words alive if they are not in the mapped file
  const Error* damage = nullptr;  // why the rest of the page cannot be read; lives as long as keep
};

// Whether the page's first word says how many events the CPU lost before it.
inline bool begins_with_lost_word(const Page& page) {
  return !page.words.empty() && fkt_word_id(page.words[0]) == FKT_W_LOST;
}

// Checks the page of `page_bytes` bytes, which must belong to `recording`. The Error (code damaged)
// tells the page's offset in the file and what is wrong with its header, or that its events do not
// match their checksum.
Result<Page> check_page_bytes(ByteView bytes, std::uint64_t offset, std::uint32_t page_bytes,
                              std::uint64_t recording);
// The two steps of check_page_bytes(): the header alone, so that the events of a large file's pages
// need not be read, and the events.
Result<Page> check_page_header(ByteView bytes, std::uint64_t offset, std::uint32_t page_bytes,
                               std::uint64_t recording);
Status check_page_events(const Page& page);

// Decodes the events of one page in order.
class PageDecoder {
 public:
  enum class Step {
    event,    // `event` is set
    gap,      // `event` is a LOST word; words[0] is the total since the CPU's start
    end,      // of the page
    damaged,  // the rest of the page cannot be read: error() says why
  };

  PageDecoder() = default;
  // `table` and the bytes that the page was checked in must outlive the decoder.
  PageDecoder(const WordTable& table, const Page& page)
      : table_(&table),
        words_(page.words),
        all_words_(page.words.size()),
        clock_(page.header.first_clock),
        end_clock_(page.header.end_clock),
        end_offset_(page.words_end),
        page_offset_(page.offset),
        damage_(page.damage),
        pid_(page.header.pid),
        cpu_(page.header.cpu) {}

  // Sets `event` to the next event. After `damaged` it must not be called again.
  Step next(Event& event);

  // Reads events before the word with the position `until`, as long as they are of the two most
  // common forms (of a fixed number of words, or a whole pair). Calls one(id, clock) for an event,
  // with its time (ticks), and both(pair, clock) for a pair, with the time of its end. Everything
  // else must be read with next().
  template <class One, class Both>
  void next_ids(std::uint32_t until, One one, Both both);

  // Events that follow: of a fixed number of words, or of pairs, with an end or without.
  struct Ahead {
    std::uint32_t events = 0, made_begins = 0;  // made_begins: of the events, is_made_begin()
    std::uint64_t end = 0;                      // time of the last one, if there is any (ticks)
  };
  // Returns what follows that has ids of which quiet[id] is true, and ends at `until` (ticks) at
  // the latest; `most` events, or one more, at most. Quiet: of type bool by word id.
  template <class Quiet>
  Ahead look_ahead(const Quiet& quiet, std::uint32_t most, std::uint64_t until) const {
    WordCursor words = words_;
    std::uint64_t clock = clock_;
    return look_ahead(quiet, most, until, words, clock);
  }
  // Skips the events that look_ahead() returns without a limit, and returns them.
  template <class Quiet>
  Ahead pass_over(const Quiet& quiet) {
    const Ahead passed = look_ahead(quiet, ~0U, ~0ULL, words_, clock_);
    if (passed.events > 0) half_id_ = 0;
    return passed;
  }

  // A pair with its end.
  struct WholePair {
    const PairType* type = nullptr;
    std::uint32_t number = 0;  // for PairType::end_arg(), as the next one
    std::int32_t value = 0;
    std::uint64_t from = 0, to = 0;  // ticks
  };
  // Moves behind the pair that follows. Returns false, and does nothing, if none does.
  bool take_pair(WholePair& pair);

  // Returns the number of words read so far; nothing between begin and end of a pair.
  std::optional<std::uint32_t> position() const {
    if (half_id_ != 0) return std::nullopt;
    return static_cast<std::uint32_t>(all_words_ - words_.left());
  }
  // Returns a number that grows with each event.
  std::uint32_t progress() const {
    return static_cast<std::uint32_t>(2 * (all_words_ - words_.left())) - (half_id_ != 0);
  }
  // Moves behind events that were decoded elsewhere, to this word; `clock` (ticks) and `pid` are
  // those at that place.
  void skip(std::uint32_t position, std::uint64_t clock, std::uint32_t pid) {
    words_.take(position - (all_words_ - words_.left()));
    clock_ = clock;
    pid_ = pid;
  }

  // Describes the damage that next() found: offset, CPU, cause.
  Error error() const;
  // Describes damage of the event whose word has this position in the page.
  static Error damaged_event(const Page& page, std::uint32_t position, const std::string& why);

 private:
  enum class Fault { none, unknown_id, cut_short, late };

  // words, clock: where the events begin; afterwards, where they end.
  template <class Quiet>
  Ahead look_ahead(const Quiet& quiet, std::uint32_t most, std::uint64_t until, WordCursor& words,
                   std::uint64_t& clock) const;

  // Sets `event` to the begin of the pair in `word`; its end, unless it is missing, comes next.
  Step begin_pair(Event& event, std::uint64_t word, std::uint16_t entry) {
    const std::uint32_t id = fkt_word_id(word), arg = fkt_word_arg(word);
    const PairType& pair = table_->pair(entry);
    const std::uint32_t number = id - pair.first;
    const std::uint64_t end_clock = clock_ + (arg ? fkt_pair_ticks(arg) : 0);
    if (end_clock > end_clock_) [[unlikely]]
      return fail(Fault::late, word);
    event.clock = clock_;
    event.cpu = cpu_;
    event.pid = pid_;
    event.id = pair.begin;
    event.arg = number;
    event.offset = end_offset_ - (words_.left() + 1) * sizeof(std::uint64_t);
    event.words = {};
    if (arg == 0) return Step::event;
    clock_ = end_clock;
    half_id_ = pair.end;
    half_arg_ = pair.end_arg(number, fkt_pair_value(arg));
    return Step::event;
  }
  // Sets `event` to the end of the pair whose begin was returned before.
  Step end_pair(Event& event) {
    event.clock = clock_;
    event.cpu = cpu_;
    event.pid = pid_;
    event.id = half_id_;
    event.arg = half_arg_;
    event.offset = end_offset_ - (words_.left() + 1) * sizeof(std::uint64_t);
    event.words = {};
    half_id_ = 0;
    return Step::event;
  }

  Step fail(Fault fault, std::uint64_t word) {
    fault_ = fault;
    bad_word_ = word;
    bad_offset_ = end_offset_ - (words_.left() + 1) * sizeof(std::uint64_t);
    words_ = WordCursor();
    return Step::damaged;
  }

  const WordTable* table_ = nullptr;
  WordCursor words_;
  std::size_t all_words_ = 0;
  std::uint64_t clock_ = 0;
  std::uint64_t end_clock_ = 0;
  std::uint64_t end_offset_ = 0;
  std::uint64_t page_offset_ = 0;
  const Error* damage_ = nullptr;
  std::uint32_t pid_ = 0;
  std::uint32_t cpu_ = 0;
  std::uint16_t half_id_ = 0;  // id of the pair's end that comes next; 0: none
  std::uint32_t half_arg_ = 0;
  Fault fault_ = Fault::none;
  std::uint64_t bad_word_ = 0;
  std::uint64_t bad_offset_ = 0;
};

inline PageDecoder::Step PageDecoder::next(Event& event) {
  if (half_id_ != 0) return end_pair(event);
  while (!words_.at_end()) {
    const std::uint64_t word = words_.take();
    const std::uint32_t arg = fkt_word_arg(word);
    const std::uint16_t entry = (*table_)[fkt_word_id(word)];
    std::uint32_t next_pid = pid_;
    std::size_t count = entry;
    Step step = Step::event;

    const std::uint64_t before = clock_;
    clock_ = fkt_word_clock(word, before);
    if (entry > WordTable::kMaxWords) {
      if (entry & WordTable::kPair) return begin_pair(event, word, entry);
      if (entry == WordTable::kPid) {
        pid_ = arg & FKT_PID_MASK;
        continue;
      }
      if (entry == WordTable::kTime) {
        clock_ = fkt_time_word_clock(word, before);
        continue;
      }
      if (entry == WordTable::kUnknown) return fail(Fault::unknown_id, word);
      if (entry == WordTable::kLost) {
        count = FKT_LOST_WORDS;
        step = Step::gap;
      } else if (entry & WordTable::kVariable) {
        count = arg & FKT_VAR_MASK;
      } else {
        count = entry & WordTable::kMaxWords;
        next_pid = arg & FKT_PID_MASK;
      }
    }
    if (clock_ > end_clock_) [[unlikely]]
      return fail(Fault::late, word);
    if (count > words_.left()) [[unlikely]]
      return fail(Fault::cut_short, word);

    event.clock = clock_;
    event.cpu = cpu_;
    event.pid = pid_;
    event.id = static_cast<std::uint16_t>(fkt_word_id(word));
    event.arg = arg;
    event.offset = end_offset_ - (words_.left() + 1) * sizeof(std::uint64_t);
    event.words = words_.take(count);
    pid_ = next_pid;
    return step;
  }
  return fault_ == Fault::none && damage_ == nullptr ? Step::end : Step::damaged;
}

// Where it is in the page is kept in variables of its own, because what is in the object would be
// stored and loaded again for each word.
template <class One, class Both>
void PageDecoder::next_ids(std::uint32_t until, One one, Both both) {
  if (half_id_ != 0) return;
  WordCursor words = words_;
  std::uint64_t clock = clock_;
  const auto read_one = [&] {
    const std::uint64_t word = words.front();
    const std::uint16_t entry = (*table_)[fkt_word_id(word)];
    const std::uint64_t begin = fkt_word_clock(word, clock);
    if (entry <= WordTable::kMaxWords) {
      if (begin > end_clock_ || entry >= words.left()) return false;
      one(static_cast<std::uint16_t>(fkt_word_id(word)), begin);
      clock = begin;
      words.take(1 + entry);
      return true;
    }
    const std::uint32_t arg = fkt_word_arg(word);
    if ((entry & WordTable::kPair) == 0 || arg == 0) return false;
    const std::uint64_t end = begin + fkt_pair_ticks(arg);
    if (end > end_clock_) return false;
    both(table_->pair(entry), end);
    clock = end;
    words.take();
    return true;
  };
  const std::size_t keep = all_words_ - std::min<std::size_t>(until, all_words_);
  while (words.left() > keep && read_one()) {
  }
  words_ = words;
  clock_ = clock;
}

template <class Quiet>
PageDecoder::Ahead PageDecoder::look_ahead(const Quiet& quiet, std::uint32_t most,
                                           std::uint64_t until, WordCursor& words,
                                           std::uint64_t& clock) const {
  until = std::min(until, end_clock_);
  Ahead ahead;
  if (half_id_ != 0) {
    if (!quiet[half_id_] || clock > until) return ahead;
    ahead = {1, 0, clock};
  }
  while (ahead.events < most && !words.at_end()) {
    const std::uint64_t word = words.front();
    const std::uint32_t id = fkt_word_id(word);
    if (!quiet[id]) break;
    const std::uint16_t entry = (*table_)[id];
    const std::uint32_t arg = fkt_word_arg(word);
    const bool whole_pair = (entry & WordTable::kPair) != 0 && arg != 0;
    const std::uint64_t end = fkt_word_clock(word, clock) + (whole_pair ? fkt_pair_ticks(arg) : 0);
    if (end > until || end < clock) break;
    const std::size_t more = entry <= WordTable::kMaxWords ? entry : 0;
    if (more >= words.left()) break;
    words.take(1 + more);
    clock = end;
    ahead.events += whole_pair ? 2 : 1;
    ahead.made_begins += is_made_begin(static_cast<std::uint16_t>(id));
    ahead.end = end;
  }
  return ahead;
}

// Calls take(event) for the page's events, as far as they can be read.
template <class Take>
void for_each_event(const WordTable& table, const Page& page, Take take) {
  PageDecoder decoder(table, page);
  Event event;
  for (;;) {
    const PageDecoder::Step step = decoder.next(event);
    if (step == PageDecoder::Step::end || step == PageDecoder::Step::damaged) return;
    if (step == PageDecoder::Step::event) take(event);
  }
}

inline bool PageDecoder::take_pair(WholePair& pair) {
  if (half_id_ != 0 || words_.at_end()) return false;
  const std::uint64_t word = words_.front();
  const std::uint32_t id = fkt_word_id(word), arg = fkt_word_arg(word);
  const std::uint16_t entry = (*table_)[id];
  if ((entry & WordTable::kPair) == 0 || arg == 0) return false;
  pair.type = &table_->pair(entry);
  pair.number = id - pair.type->first;
  pair.value = fkt_pair_value(arg);
  pair.from = fkt_word_clock(word, clock_);
  pair.to = pair.from + fkt_pair_ticks(arg);
  if (pair.to > end_clock_) return false;
  words_.take();
  clock_ = pair.to;
  return true;
}

}  // namespace fkt
