// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/quick_splitter.h"

#include <algorithm>
#include <memory>

#include "lib/format/clocks.h"

namespace fkt {
namespace {

// Of two times that are compared by the bits that a word has of them, the later one is at most so
// much later (ticks).
constexpr std::uint64_t kMostApart = std::uint64_t{1} << (FKT_TIME_BITS - 1);
// A page is given up when words were moved to make room for begins so many times as it has words.
constexpr std::size_t kMostMoves = 16;

}  // namespace

// Writes the split page; called by walk_page(). An item is an event, or a call.
class QuickSplitter::Walker {
 public:
  // words, memory.ends: room for most_words() each.
  Walker(const SplitRules& rules, const Page& page, std::span<const PageSplitter::StrayEnd> given,
         std::span<const std::uint32_t> late, std::span<const std::uint32_t> ended, Memory& memory,
         std::uint64_t* words)
      : rules_(rules),
        page_(page),
        given_(given),
        late_(late),
        ended_(ended),
        words_(words),
        ends_(memory.ends.begin()),
        end_(page.header.first_clock),
        written_(end_),
        pid_(page.header.pid),
        written_pid_(pid_),
        may_move_(kMostMoves * page.words.size()),
        runs_(memory.runs) {
    runs_.clear();
    runs_.push_back({0, pid_});
  }

  static std::size_t most_words(const Page& page, std::span<const PageSplitter::StrayEnd> given) {
    // A call's begin and end have as many words as its event, or less, and each of them may need a
    // TIME word. So may what comes after a PID or TIME word of the page, instead of that word.
    std::size_t words = 4 * page.words.size() + 2;
    for (const PageSplitter::StrayEnd& one : given) words += 3 + one.event->words.size();
    return words;
  }

  bool enough() const { return given_up_; }

  // Takes a run of words. Where something must come before the next word, `next` is not after it.
  struct Alone {
    Walker* walker;
    std::uint64_t *word, *end, next;

    void put(std::uint64_t source, std::uint64_t clock, std::uint64_t until, std::uint32_t, bool) {
      if (clock >= next) [[unlikely]] {
        walker->take(*this);
        walker->before_item(clock);
        *this = walker->alone();
      }
      *word++ = source;
      *end++ = until;
    }
  };
  Alone alone() { return {this, words_ + size_, ends_ + size_, next_}; }
  void take(const Alone& read) {
    if (read.word == words_ + size_) return;
    size_ = static_cast<std::uint32_t>(read.word - words_);
    end_ = written_ = read.end[-1];
  }
  void item(std::uint64_t clock, std::uint32_t at, bool lost) {
    if (lost) return give_up();
    if (clock >= next_) before_item(clock);
    const std::uint64_t word = page_.words[at];
    copy(page_.words.subspan(at, 1 + rules_.words_after(word)), clock);
    end_ = clock;
    if (rules_.steps[fkt_word_id(word)].is_switch) {
      written_pid_ = fkt_word_arg(word) & FKT_PID_MASK;
    }
  }
  void call(const ToldCall& call, const Event& event, std::uint32_t at, std::uint32_t pid);
  void runs(std::uint32_t pid) {
    pid_ = pid;
    if (Run& last = runs_.end()[-1]; last.first == size_) {
      last.pid = pid;
    } else {
      runs_.push_back({size_, pid});
    }
    set_next();
  }
  void time() { next_ = far_ = 0; }

  // The page ends. Returns false if it was given up.
  bool finish(const PageWalk& walk) {
    if (given_up_ || walk.damaged) return false;
    while (given_left() > 0 && !given_up_) put_given();
    put_pid(written_);
    return !given_up_;
  }
  std::uint32_t size() const { return size_; }
  std::uint64_t clock() const { return written_; }

 private:
  void give_up() { given_up_ = true; }
  std::size_t given_left() const { return given_.size() - given_put_; }
  const PageSplitter::StrayEnd& next_given() const { return given_[given_left() - 1]; }
  // The next item is looked at if it is at `next_` or later (ticks): if a begin or an end of
  // another page's call goes before it, or a PID or TIME word.
  void set_next() {
    const bool now = pid_ != written_pid_;
    const std::uint64_t next = given_left() > 0 ? next_given().clock + 1 : kForever;
    next_ = now ? 0 : std::min(next, far_);
  }
  void put(std::uint64_t word, std::uint64_t end) {
    words_[size_] = word;
    ends_[size_++] = end;
  }
  void copy(std::span<const std::uint64_t> words, std::uint64_t clock) {
    for (const std::uint64_t word : words) put(word, clock);
    written_ = clock;
  }
  // The next word is at `clock`.
  void put_time(std::uint64_t clock) {
    if (clock < written_) [[unlikely]]
      return give_up();
    if ((clock - written_) >> FKT_TIME_BITS == 0) [[likely]]
      return;
    put(fkt_word(clock, FKT_W_TIME, static_cast<std::uint32_t>(clock >> FKT_TIME_BITS)), clock);
    written_ = clock;
  }
  void put_pid(std::uint64_t clock) {
    if (pid_ == written_pid_) [[likely]]
      return;
    put_time(clock);
    put(fkt_word(clock, FKT_W_PID, pid_), clock);
    written_ = clock;
    written_pid_ = pid_;
  }
  // Puts the begins and ends that go before an item at `clock`.
  void before_item(std::uint64_t clock) {
    while (given_left() > 0 && next_given().clock < clock && !given_up_) put_given();
    put_pid(clock);
    put_time(clock);
    far_ = kForever;
    set_next();
  }
  void put_given() {
    const PageSplitter::StrayEnd& one = next_given();
    given_put_++;
    // An end at the time of an item, and two at one time, have rules of their own.
    const bool next_too = given_left() > 0 && next_given().clock <= one.clock;
    if (one.is_end && one.clock <= end_) return give_up();
    if (next_too && (one.is_end || next_given().is_end)) return give_up();
    const std::uint64_t clock = std::max(one.clock, end_);
    put_pid(clock);
    put_time(clock);
    put(fkt_word(clock, one.event->id, one.event->arg), clock);
    copy(one.event->words, clock);
  }
  // Returns the first word of what is made of the event, and the words behind it.
  static std::uint64_t made(const CallEvent& type, const ToldCall& call, const Event& event,
                            std::uint16_t id, std::uint64_t clock) {
    const auto number = static_cast<std::uint32_t>(call.number);
    return fkt_word(clock, id, type.copies ? event.arg : number);
  }
  static std::span<const std::uint64_t> made_words(const CallEvent& type, const Event& event) {
    return type.copies ? event.words : std::span<const std::uint64_t>{};
  }
  bool is_pid_word(std::uint32_t place) const { return fkt_word_id(words_[place]) == FKT_W_PID; }
  std::uint32_t place_of(std::uint64_t clock) const;
  bool can_begin_at(std::uint32_t place, std::uint64_t clock) const;
  std::uint32_t pid_at(std::uint32_t place) const {
    const Run* run = runs_.end() - 1;
    while (run->first > place) run--;
    return run->pid;
  }
  void insert(std::uint32_t place, const ToldCall& call, const Event& event);
  void put_late_end(const ToldCall& call, const Event& event);
  void put_call(const ToldCall& call, const Event& event, bool at_once);

  const SplitRules& rules_;
  const Page& page_;
  std::span<const PageSplitter::StrayEnd> given_;
  std::span<const std::uint32_t> late_, ended_;
  // words_: the words of the split page that have been written. ends_: for each of them, when the
  // event that the word belongs to ends (ticks); of a begin and an end that were written together,
  // the end's time; of a PID or TIME word, the time of the word behind it. The values never
  // decrease, so place_of() can search them for the place of a begin.
  std::uint64_t *words_, *ends_;
  std::uint32_t size_ = 0;
  std::uint64_t end_;      // of the last item, or of the time before it (ticks)
  std::uint64_t written_;  // clock of the last word, or end of the last pair (ticks)
  std::uint64_t next_ = 0;
  std::uint64_t far_ = kForever;     // an item so late, or later, may need a TIME word (ticks)
  std::uint32_t pid_, written_pid_;  // runs; and as far as the words in words_ say
  std::uint64_t without_words_ = 0;  // clock of the last item that has no words (ticks)
  std::size_t given_put_ = 0, may_move_;
  RawVector<Run>& runs_;
  std::uint32_t calls_ = 0;
  bool given_up_ = false;
};

// Returns the position of the first word whose item ends after `clock`; most calls are short.
std::uint32_t QuickSplitter::Walker::place_of(std::uint64_t clock) const {
  std::uint32_t distance = 1;
  while (distance < size_ && ends_[size_ - distance] > clock) distance *= 2;
  const std::uint64_t* const first = ends_ + (size_ - std::min(distance, size_));
  const std::uint64_t* const end = ends_ + (size_ - distance / 2);
  return static_cast<std::uint32_t>(std::upper_bound(first, end, clock) - ends_);
}

// Returns whether a call can have begun at `clock`, between the word at this position, which ends
// later, and the one before it.
bool QuickSplitter::Walker::can_begin_at(std::uint32_t place, std::uint64_t clock) const {
  // The order of two calls at one time is left to PageSplitter.
  if (place == size_ || (place > 0 && ends_[place - 1] == clock)) return false;
  // The begin goes behind a PID word: what is there belongs to the thread that the word names.
  if (is_pid_word(place)) place++;
  const std::uint64_t word = words_[place];
  const std::uint32_t id = fkt_word_id(word);
  if (id == FKT_W_TIME) return false;
  if (rules_.steps[id].pair != 0) return ends_[place] - fkt_pair_ticks(fkt_word_arg(word)) > clock;
  if (!is_made_begin(static_cast<std::uint16_t>(id))) return true;
  const std::uint64_t later = (word - clock) & FKT_TIME_MASK;
  return later < kMostApart;
}

// Puts the call's begin at this position. Only what the call was around is moved.
void QuickSplitter::Walker::insert(std::uint32_t place, const ToldCall& call, const Event& event) {
  const CallEvent& type = *call.type;
  const std::span<const std::uint64_t> more = made_words(type, event);
  const auto added = static_cast<std::uint32_t>(1 + more.size());
  const std::size_t moved = size_ - place;
  if (moved > may_move_) return give_up();
  may_move_ -= moved;
  std::copy_backward(words_ + place, words_ + size_, words_ + size_ + added);
  std::copy_backward(ends_ + place, ends_ + size_, ends_ + size_ + added);
  words_[place] = made(type, call, event, type.begin, call.begin);
  std::ranges::copy(more, words_ + place + 1);
  std::fill_n(ends_ + place, added, call.begin);
  size_ += added;
  for (Run* run = runs_.end() - 1; run->first > place; run--) run->first += added;
}

// Puts the end of a call that ended before the page, at its event.
void QuickSplitter::Walker::put_late_end(const ToldCall& call, const Event& event) {
  const CallEvent& type = *call.type;
  if (type.counted) return give_up();  // the argument would be another one
  if (event.clock >= next_) before_item(event.clock);
  put_time(event.clock);
  put(made(type, call, event, type.late_end, event.clock), event.clock);
  put(call.duration, event.clock);
  copy(made_words(type, event), event.clock);
  end_ = event.clock;
}

// Puts the begin and the end of a call during which nothing happened, or the end of another one.
inline void QuickSplitter::Walker::put_call(const ToldCall& call, const Event& event,
                                            bool at_once) {
  const CallEvent& type = *call.type;
  const std::span<const std::uint64_t> words = made_words(type, event);
  if (call.end >= next_) before_item(at_once ? call.begin : call.end);
  if (at_once) {
    // A begin or end from another page within this call needs a rule of PageSplitter.
    if (call.end - call.begin >= kMostApart || call.end >= next_) return give_up();
    put_time(call.begin);
    put(made(type, call, event, type.begin, call.begin), call.end);
    for (const std::uint64_t word : words) put(word, call.end);
    written_ = call.begin;
  }
  put_time(call.end);
  put(made(type, call, event, type.id, call.end), call.end);
  copy(words, call.end);
  end_ = call.end;
  // The event is later than the end, so the next item may need a TIME word that it did not need.
  far_ = call.end + (std::uint64_t{1} << FKT_TIME_BITS);
  next_ = std::min(next_, far_);
}

inline void QuickSplitter::Walker::call(const ToldCall& call, const Event& event, std::uint32_t,
                                        std::uint32_t pid) {
  const std::uint32_t number = calls_++;
  const std::uint64_t first = page_.header.first_clock;
  const bool late_end = call.end < first;
  if (!call.end_is_known() || (call.end < end_ && !late_end)) return give_up();
  const bool at_once = call.begin >= end_;
  if (!at_once && call.begin >= first) {
    std::uint32_t place = place_of(call.begin);
    if (call.begin < without_words_ || !can_begin_at(place, call.begin)) return give_up();
    if (pid_at(place) == pid) {
      if (is_pid_word(place)) {
        words_[place] = fkt_word(call.begin, FKT_W_PID, pid);
        ends_[place++] = call.begin;
      }
      insert(place, call, event);
    } else if (!late_.empty()) {
      return give_up();
    }
  } else if (!at_once && std::ranges::binary_search(late_, number)) {
    return give_up();
  }
  if (!ended_.empty() && std::ranges::binary_search(ended_, number)) {
    if (!late_end) return give_up();
    if (event.clock >= next_) before_item(event.clock);
    end_ = without_words_ = event.clock;
    return;
  }
  if (late_end) return put_late_end(call, event);
  put_call(call, event, at_once);
}

std::optional<Page> QuickSplitter::split(const Page& page,
                                         std::span<const PageSplitter::StrayEnd> given,
                                         std::span<const std::uint32_t> late,
                                         std::span<const std::uint32_t> ended,
                                         std::uint64_t place) {
  const std::size_t most = Walker::most_words(page, given);
  const auto words = std::make_shared<RawVector<std::uint64_t>>();
  words->reserve(most);
  memory_.ends.reserve(most);
  Walker walker(rules_, page, given, late, ended, memory_, words->begin());
  if (!walker.finish(walk_page(rules_, page, walker))) return {};
  words->extend(words->begin() + walker.size());
  Page split = split_page(page, {words->begin(), walker.size()}, walker.clock(), place);
  split.keep = words;
  return split;
}

}  // namespace fkt
