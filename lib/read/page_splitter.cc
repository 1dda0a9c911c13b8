// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/page_splitter.h"

#include <algorithm>

#include "lib/base/text.h"

namespace fkt {
namespace {

using Words = std::span<const std::uint64_t>;

// Appends the words of the begin or end made of the event. time: the word that a late one has in
// front; nullptr: it is not late. Returns its argument.
template <class Put>
std::uint32_t put_made(const CallEvent& type, const Event& event, const std::uint64_t* time,
                       Put put) {
  if (time != nullptr) put(*time);
  if (!type.copies) return static_cast<std::uint32_t>(type.number(event));
  std::size_t words = event.words.size();
  const bool longer = time != nullptr && type.counted;
  if (longer) words = std::min<std::size_t>(words, FKT_VAR_MASK - 1);
  for (const std::uint64_t word : event.words.first(words)) put(word);
  if (!longer) return event.arg;
  return (event.arg & ~std::uint32_t{FKT_VAR_MASK}) | static_cast<std::uint32_t>(words + 1);
}

struct Kept {
  std::vector<std::uint64_t> words;
  Error error;
};

}  // namespace

MadeEvent made_begin(const CallEvent& type, const Event& event) {
  MadeEvent made;
  made.id = type.begin;
  const auto put = [&](std::uint64_t word) { made.words.push_back(word); };
  made.arg = put_made(type, event, nullptr, put);
  return made;
}

MadeEvent made_end(const CallEvent& type, const Event& event) {
  MadeEvent made = made_begin(type, event);
  made.id = type.id;
  return made;
}

// Makes items, runs and calls of the contents of a page; called by walk_page().
class PageSplitter::Reader {
 public:
  explicit Reader(PageSplitter& splitter) : splitter_(splitter) {}

  struct Alone {
    Item* item;  // there is room for an item per word
    void put(std::uint64_t, std::uint64_t clock, std::uint64_t, std::uint32_t at, bool is_pair) {
      *item++ = {clock, at, 0, is_pair ? Kind::pair : Kind::plain};
    }
  };
  Alone alone() { return {splitter_.items_.end()}; }
  void take(const Alone& read) { splitter_.items_.extend(read.item); }
  void item(std::uint64_t clock, std::uint32_t at, bool lost) {
    splitter_.items_.push_back({clock, at, 0, lost ? Kind::lost : Kind::plain});
  }
  void call(const ToldCall& call, const Event& event, std::uint32_t at, std::uint32_t pid) {
    splitter_.add_call(call, event, at, pid);
  }
  static void time() {}
  static bool enough() { return false; }
  void runs(std::uint32_t pid) { splitter_.runs_from(splitter_.items_.size(), pid); }

 private:
  PageSplitter& splitter_;
};

void PageSplitter::read(const Page& page) {
  page_ = &page;
  items_.clear();
  calls_.clear();
  runs_.clear();
  outside_.clear();
  items_.reserve(page.words.size());
  Reader reader(*this);
  const PageWalk end = walk_page(rules_, page, reader);
  last_pid_ = end.pid;
  damaged_ = end.damaged;
  too_short_ = end.too_short;
  bad_ = end.bad;
}

void PageSplitter::runs_from(std::uint32_t item, std::uint32_t pid) {
  if (!runs_.empty() && runs_.end()[-1].item == item) {
    runs_.end()[-1].pid = pid;
  } else {
    runs_.push_back({item, pid});
  }
}

// Adds the call whose event, at this position, comes next.
void PageSplitter::add_call(const ToldCall& told, const Event& event, std::uint32_t at,
                            std::uint32_t pid) {
  const auto number = static_cast<std::uint16_t>(calls_.size());
  calls_.push_back({});
  Call& call = calls_[number];
  call.type = told.type;
  call.at = at;
  call.pid = pid;
  call.item = call.end_item = items_.size();
  call.begin = told.begin;
  call.duration = told.duration;
  call.end = told.end;
  Item item{event.clock, at, number, Kind::call};
  place_end(call, item);
  place_begin(call);
  items_.push_back(item);
  if (!call.inside && !call.at_once) {
    outside_.push_back({number, at, pid, call.begin, call.end, told.number});
  }
  // It is known when it ended, and its event was not written at once.
  if (call.late_end && told.end_is_known() && event.clock - call.end > kAtOnceTicks) {
    outside_.push_back({number, at, pid, call.begin, call.end, told.number, true});
  }
}

inline void PageSplitter::place_end(Call& call, Item& item) {
  call.late_end = call.end - call.begin != call.duration;
  if (!call.late_end && call.end >= end_before(call.item)) [[likely]] {
    item.clock = call.end;
    return;
  }
  if (!call.late_end && call.end >= page_->header.first_clock) {
    const std::uint32_t place = item_after_end(call.end, call.item);
    if (end_before(place) <= call.end && place_at(place, call.end, call.pid)) {
      call.end_item = place;
      item.clock = end_before(call.item);
      item.kind = Kind::moved;
      return;
    }
  }
  call.late_end = true;
}

inline void PageSplitter::place_begin(Call& call) {
  if (call.end_item == call.item && call.begin >= end_before(call.item)) [[likely]] {
    call.at_once = true;
    return;
  }
  if (call.begin < page_->header.first_clock) return;
  call.begin_item = item_after(call.begin, call.end_item);
  const bool before_event = call.begin_item == items_.size();  // the call's own
  if (!before_event && !place_at(call.begin_item, call.begin, call.pid)) return;
  call.inside = true;
  call.late_begin = end_before(call.begin_item) > call.begin;
}

std::uint32_t PageSplitter::pid_of(std::uint32_t item) const {
  const Run* run = runs_.end() - 1;
  if (run->item > item) run = std::ranges::upper_bound(runs_, item, {}, &Run::item) - 1;
  return run->pid;
}

// Returns the first of the items before `end` that is after `clock`; `end`: there is none. Most
// calls are short, so the search begins at `end`.
std::uint32_t PageSplitter::item_after(std::uint64_t clock, std::uint32_t end) const {
  std::uint32_t distance = 1;
  while (distance < end && items_[end - distance].clock > clock) distance *= 2;
  std::uint32_t first = end - std::min(distance, end), size = end - distance / 2 - first;
  while (size > 0) {
    const std::uint32_t half = size / 2;
    const bool after = items_[first + half].clock > clock;
    first = after ? first : first + half + 1;
    size = after ? half : size - half - 1;
  }
  return first;
}

// As item_after(), for the end of a call: an interrupt that begins at that time is behind it.
std::uint32_t PageSplitter::item_after_end(std::uint64_t clock, std::uint32_t end) const {
  std::uint32_t place = item_after(clock, end);
  while (place > 0 && items_[place - 1].clock == clock && on_cpu(items_[place - 1]) > 0) place--;
  return place;
}

// Returns whether the thread ran at `clock` (ticks), which is between the item and the one before.
bool PageSplitter::place_at(std::uint32_t item, std::uint64_t clock, std::uint32_t pid) const {
  const Item& next = items_[item];
  if (next.kind == Kind::lost && clock >= page_->words[next.at + 2]) return false;
  return pid_of(item) == pid;
}

bool PageSplitter::has_place(const OutsideCall& call, const fkt_page_header* next) const {
  const std::uint64_t clock = call.clock();
  const std::uint32_t pid = call.pid;
  const std::uint32_t item =
      call.is_end ? item_after_end(clock, items_.size()) : item_after(clock, items_.size());
  if (end_before(item) > clock) return false;  // in a pair
  if (item < items_.size()) return place_at(item, clock, pid);
  return !damaged_ && last_pid_ == pid && next != nullptr && clock < next->first_clock;
}

// Returns where a late begin goes: before the item at which the thread has come to run, and not
// into an interrupt that has ended before the call's end.
std::uint32_t PageSplitter::late_place(const Call& call) const {
  const std::uint32_t pid = call.pid;
  std::uint32_t place = call.end_item;
  while (place > 0 && pid_of(place - 1) == pid && pid_after(place - 1, pid) == pid &&
         items_[place - 1].kind != Kind::lost) {
    place--;
  }
  int depth = 0;
  for (std::uint32_t item = place; item < call.end_item; item++) {
    depth += on_cpu(items_[item]);
    if (depth >= 0) continue;
    place = item + 1;
    depth = 0;
  }
  return depth == 0 ? place : call.end_item;
}

// Adds the mark to those of its item: they are in the order of their times. At one time, a begin
// that is added later is that of an outer call.
void PageSplitter::mark(std::uint32_t item, const Mark& added) {
  std::uint32_t* next = &first_mark_[item];
  if (*next == 0) marked_.push_back(item);
  const bool end = added.kind == Mark::Kind::end;
  while (*next != 0) {
    const Mark& other = marks_[*next - 1];
    const bool before = end && other.kind == Mark::Kind::end ? other.clock <= added.clock
                                                             : other.clock < added.clock;
    if (!before) break;
    next = &marks_[*next - 1].next;
  }
  const std::uint32_t behind = *next;
  *next = static_cast<std::uint32_t>(marks_.size() + 1);
  marks_.push_back(added);
  marks_.back().next = behind;
}

void PageSplitter::mark_calls(std::span<const std::uint32_t> late) {
  for (std::uint32_t number = 0; number < calls_.size(); number++) {
    const Call& call = calls_[number];
    if (call.end_item != call.item) {
      mark(call.end_item, {.clock = call.end, .call = number, .kind = Mark::Kind::end});
    }
    if (call.inside) {
      const std::uint64_t before = end_before(call.begin_item);
      const auto kind = call.late_begin ? Mark::Kind::late_begin : Mark::Kind::begin;
      mark(call.begin_item, {std::max(call.begin, before), 0, number, nullptr, kind});
    } else if (!late.empty() && std::ranges::binary_search(late, number)) {
      const std::uint32_t place = late_place(call);
      mark(place, {end_before(place), 0, number, nullptr, Mark::Kind::late_begin});
    }
  }
}

// Called before a begin or an end of another page's call is placed before the item, which is a
// call's, at `clock`. If that is within the call, the call's begin is placed before it, instead of
// right before the call's end.
void PageSplitter::mark_around(std::uint32_t item, std::uint64_t clock) {
  const std::uint32_t number = items_[item].call;
  Call& call = calls_[number];
  if (!call.at_once || clock < call.begin) return;
  call.at_once = false;
  mark(item, {call.begin, 0, number, nullptr, Mark::Kind::begin});
}

// Writes the words of the split page.
class PageSplitter::Writer {
 public:
  Writer(const PageSplitter& page, std::vector<std::uint64_t>& out)
      : page_(page),
        out_(out),
        clock_(page.page_->header.first_clock),
        pid_(page.page_->header.pid) {}

  std::uint64_t clock() const { return clock_; }

  void marks(std::uint32_t item, std::uint32_t pid) {
    for (std::uint32_t at = page_.first_mark_[item]; at != 0; at = page_.marks_[at - 1].next) {
      put_mark(page_.marks_[at - 1], pid);
    }
  }
  void call(const Item& item) {
    const Call& call = page_.calls_[item.call];
    if (item.kind == Kind::moved) return pid_is(call.pid, item.clock);
    if (call.at_once) made(call, call.type->begin, call.begin, call.pid, nullptr);
    if (call.late_end) {
      made(call, call.type->late_end, item.clock, call.pid, &call.duration);
    } else {
      made(call, call.type->id, item.clock, call.pid, nullptr);
    }
  }
  // Copies the words of these items, none of which is a call's, and what is between them.
  void copy(std::uint32_t first, std::uint32_t end) {
    if (first == end) return;
    const Item &from = page_.items_[first], &last = page_.items_[end - 1];
    pid_is(pid_of(first), from.clock);
    at(from.clock);
    const Words words = page_.page_->words.subspan(from.at, page_.behind(last) - from.at);
    out_.insert(out_.end(), words.begin(), words.end());
    clock_ = page_.end_of(last);
    pid_ = page_.pid_after(end - 1, pid_of(end - 1));
  }
  // Returns the thread that runs at the item, which must not be before that of an earlier call.
  std::uint32_t pid_of(std::uint32_t item) {
    while (run_ + 1 < page_.runs_.size() && page_.runs_[run_ + 1].item <= item) run_++;
    return page_.runs_[run_].pid;
  }
  void pid_is(std::uint32_t pid, std::uint64_t clock) {
    if (pid == pid_) return;
    at(clock);
    out_.push_back(fkt_word(clock, FKT_W_PID, pid));
    pid_ = pid;
  }

 private:
  // The next word is at `clock`.
  void at(std::uint64_t clock) {
    if ((clock - clock_) >> FKT_TIME_BITS != 0) [[unlikely]] {
      out_.push_back(
          fkt_word(clock, FKT_W_TIME, static_cast<std::uint32_t>(clock >> FKT_TIME_BITS)));
    }
    clock_ = clock;
  }
  void made(const Call& call, std::uint16_t id, std::uint64_t clock, std::uint32_t pid,
            const std::uint64_t* time) {
    pid_is(pid, clock);
    at(clock);
    const std::size_t word = out_.size();
    out_.push_back(0);
    const std::uint32_t arg = put_made(*call.type, page_.event_of(call), time,
                                       [this](std::uint64_t value) { out_.push_back(value); });
    out_[word] = fkt_word(clock, id, arg);
  }
  void put_mark(const Mark& mark, std::uint32_t pid) {
    if (mark.event != nullptr) {
      pid_is(pid, mark.clock);
      at(mark.clock);
      out_.push_back(fkt_word(mark.clock, mark.event->id, mark.event->arg));
      out_.insert(out_.end(), mark.event->words.begin(), mark.event->words.end());
      return;
    }
    const Call& call = page_.calls_[mark.call];
    switch (mark.kind) {
      case Mark::Kind::begin:
        return made(call, call.type->begin, mark.clock, pid, nullptr);
      case Mark::Kind::late_begin:
        return made(call, call.type->late_begin, mark.clock, pid, &call.begin);
      case Mark::Kind::end:
        return made(call, call.type->id, mark.clock, pid, nullptr);
    }
  }

  const PageSplitter& page_;
  std::vector<std::uint64_t>& out_;
  std::uint64_t clock_;
  std::uint32_t pid_;
  std::uint32_t run_ = 0;  // of pid_of()
};

// Writes all items with their marks. What is between calls and marks is copied in one piece.
void PageSplitter::write(Writer& writer) {
  std::ranges::sort(marked_);
  const std::uint32_t size = items_.size();
  std::uint32_t written = 0, call = 0;
  for (std::size_t mark = 0;;) {
    const std::uint32_t marked = mark < marked_.size() ? marked_[mark] : size;
    const std::uint32_t called = call < calls_.size() ? calls_[call].item : size;
    const std::uint32_t next = std::min(marked, called);
    writer.copy(written, next);
    if (next == size) break;
    if (marked == next) {
      writer.marks(next, writer.pid_of(next));
      mark++;
    }
    written = next;
    if (called != next) continue;
    writer.call(items_[next]);
    call++;
    written++;
  }
  writer.marks(size, last_pid_);
}

std::uint64_t PageSplitter::most_words(const Page& page, std::uint64_t given,
                                       std::uint64_t others) {
  // A begin, and an end: each with a PID word, a TIME word, the event word and one word more.
  return 8 * page.words.size() + 1 + 3 * given + others;
}

Page split_page(const Page& page, std::span<const std::uint64_t> words, std::uint64_t clock,
                std::uint64_t place) {
  Page split = page;
  split.header.end_clock = std::max<std::uint64_t>(split.header.end_clock, clock);
  split.header.used = static_cast<std::uint32_t>(split.header.header_bytes + words.size_bytes());
  split.words = words;
  split.words_end = place + words.size_bytes();
  return split;
}

Page PageSplitter::split(std::span<const StrayEnd> given, std::span<const std::uint32_t> late,
                         std::span<const std::uint32_t> ended, std::uint64_t place) {
  for (const std::uint32_t number : ended) items_[calls_[number].item].kind = Kind::moved;
  marks_.clear();
  marked_.clear();
  first_mark_.assign(items_.size() + 1, 0);
  mark_calls(late);
  for (const StrayEnd& one : given) {
    const std::uint32_t item = one.is_end ? item_after_end(one.clock, items_.size())
                                          : item_after(one.clock, items_.size());
    const std::uint64_t clock = std::max(one.clock, end_before(item));
    if (item < items_.size() && items_[item].kind == Kind::call) mark_around(item, clock);
    mark(item, {.clock = clock,
                .event = one.event,
                .kind = one.is_end ? Mark::Kind::end : Mark::Kind::begin});
  }
  const auto kept = std::make_shared<Kept>();
  kept->words.reserve(2 * page_->words.size() + 4 * given.size());
  Writer writer(*this, kept->words);
  write(writer);
  writer.pid_is(last_pid_, writer.clock());
  Page split = split_page(*page_, kept->words, writer.clock(), place);
  if (damaged_) {
    kept->error = damage();
    split.damage = &kept->error;
  }
  split.keep = kept;
  return split;
}

Error PageSplitter::damage() const {
  if (too_short_) return PageDecoder::damaged_event(*page_, bad_, "it is too short for its fields");
  PageDecoder decoder(rules_.table, *page_);
  Event event;
  for (;;) {
    switch (decoder.next(event)) {
      case PageDecoder::Step::event:
      case PageDecoder::Step::gap:
        break;
      case PageDecoder::Step::end:
      case PageDecoder::Step::damaged:
        return decoder.error();
    }
  }
}

}  // namespace fkt
