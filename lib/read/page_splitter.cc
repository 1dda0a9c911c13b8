// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/page_splitter.h"

#include <algorithm>

#include "lib/base/text.h"

namespace fkt {
namespace {

using Words = std::span<const std::uint64_t>;

// Puts argument and words of what is made of the event behind its event word; time: nullptr unless
// it is late. Returns the argument.
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

// An end that is so near to its event may be at the event, in another page.
constexpr std::uint64_t kAtOnceTicks = 128;

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

PageSplitter::Rules::Rules(Catalogue& catalogue) : table(catalogue), calls(catalogue) {
  if (calls.empty()) return;
  for (std::uint32_t id = 0; id < steps.size(); id++) {
    const std::uint16_t entry = table[id];
    Step& step = steps[id];
    step.entry = entry;
    step.is_call = calls.find(static_cast<std::uint16_t>(id)) != nullptr;
    if (entry <= WordTable::kMaxWords) {
      step.words = entry;
    } else if ((entry & WordTable::kPair) != 0) {
      step.pair = ~0U;
    } else if (entry >= WordTable::kPid) {
      step.special = true;
      step.words = entry == WordTable::kLost ? FKT_LOST_WORDS : 0;
    } else if ((entry & WordTable::kVariable) != 0) {
      step.counted = FKT_VAR_MASK;
    } else {
      step.special = step.is_switch = true;
      step.words = entry & WordTable::kMaxWords;
    }
    step.special |= step.is_call;
    step.alone = !step.special && step.words == 0 && step.counted == 0;
  }
  const SpanKinds kinds(catalogue);
  for (const EventType& type : catalogue.events()) {
    if (type.role == Role::point || !fkt::on_cpu(kinds.of(type))) continue;
    on_cpu[type.id] = type.role == Role::begin ? 1 : -1;
  }
}

void PageSplitter::read(const Page& page) {
  page_ = &page;
  items_.clear();
  calls_.clear();
  runs_.clear();
  outside_.clear();
  damaged_ = too_short_ = false;
  Cursor cursor{page.header.first_clock, 0, page.header.pid};
  items_.reserve(page.words.size());
  runs_from(0, cursor.pid);
  while (cursor.at < page.words.size() && !damaged_) {
    const std::uint64_t word = page.words[cursor.at];
    const Rules::Step& step = rules_.steps[fkt_word_id(word)];
    if (step.alone) {
      read_alone(cursor);
    } else if (step.special) {
      read_special(step, word, cursor);
    } else {
      read_plain(step, word, cursor);
    }
  }
  last_pid_ = cursor.pid;
}

// Reads words up to one that is not Step::alone. The position of the next word does not depend on
// what was read, so that the processor need not wait for it.
inline void PageSplitter::read_alone(Cursor& cursor) {
  const Words words = page_->words;
  const std::uint64_t last = page_->header.end_clock;
  std::uint64_t clock = cursor.clock;
  std::uint32_t at = cursor.at;
  Item* item = items_.end();  // there is room for an item per word
  for (; at < words.size(); at++) {
    const std::uint64_t word = words[at];
    const Rules::Step& step = rules_.steps[fkt_word_id(word)];
    if (!step.alone) break;
    const std::uint64_t begin = fkt_word_clock(word, clock);
    const std::uint64_t end = begin + (fkt_pair_ticks(fkt_word_arg(word)) & step.pair);
    if (end > last) [[unlikely]] {
      damaged_ = true;
      bad_ = at;
      break;
    }
    clock = end;
    *item++ = {begin, at, 0, step.pair != 0 ? Kind::pair : Kind::plain};
  }
  items_.extend(item);
  cursor.clock = clock;
  cursor.at = at;
}

inline void PageSplitter::read_plain(const Rules::Step& step, std::uint64_t word, Cursor& cursor) {
  const std::uint32_t behind = cursor.at + 1 + step.words + (fkt_word_arg(word) & step.counted);
  const std::uint64_t clock = fkt_word_clock(word, cursor.clock);
  bad_ = cursor.at;
  damaged_ = clock > page_->header.end_clock || behind > page_->words.size();
  if (damaged_) return;
  items_.push_back({clock, cursor.at, 0, Kind::plain});
  cursor.clock = clock;
  cursor.at = behind;
}

// Reads a word that is no event, or an event of a call, a switch or a gap. Sets damaged_ if it
// cannot be read.
void PageSplitter::read_special(const Rules::Step& step, std::uint64_t word, Cursor& cursor) {
  const std::uint32_t arg = fkt_word_arg(word), at = cursor.at;
  if (step.entry == WordTable::kPid) {
    cursor.clock = fkt_word_clock(word, cursor.clock);
    cursor.pid = arg & FKT_PID_MASK;
    cursor.at++;
    return runs_from(items_.size(), cursor.pid);
  }
  if (step.entry == WordTable::kTime) {
    cursor.clock = fkt_time_word_clock(word, cursor.clock);
    cursor.at++;
    return;
  }
  const std::uint32_t count = step.words + (arg & step.counted);
  const std::uint64_t clock = fkt_word_clock(word, cursor.clock);
  bad_ = at;
  damaged_ = step.entry == WordTable::kUnknown || clock > page_->header.end_clock ||
             count > page_->words.size() - at - 1;
  if (damaged_) return;
  cursor = {clock, at + 1 + count, cursor.pid};
  if (step.is_call) {
    damaged_ = too_short_ = !add_call(clock, at, count, cursor.pid);
    return;
  }
  const bool lost = step.entry == WordTable::kLost;
  items_.push_back({clock, at, 0, lost ? Kind::lost : Kind::plain});
  if (lost) return;
  cursor.pid = arg & FKT_PID_MASK;
  runs_from(items_.size(), cursor.pid);
}

void PageSplitter::runs_from(std::uint32_t item, std::uint32_t pid) {
  if (!runs_.empty() && runs_.end()[-1].item == item) {
    runs_.end()[-1].pid = pid;
  } else {
    runs_.push_back({item, pid});
  }
}

Event PageSplitter::event_of(const Call& call) const {
  Event event;
  event.id = call.type->id;
  event.arg = fkt_word_arg(page_->words[call.at]);
  event.words = page_->words.subspan(call.at + 1, call.words);
  return event;
}

// Adds the call whose event, at `clock` (ticks), comes next. Returns false if the event is too
// short.
bool PageSplitter::add_call(std::uint64_t clock, std::uint32_t at, std::uint32_t words,
                            std::uint32_t pid) {
  const std::uint64_t word = page_->words[at];
  const CallEvent& type = *rules_.calls.find(static_cast<std::uint16_t>(fkt_word_id(word)));
  if (words < type.words) return false;
  const auto number = static_cast<std::uint16_t>(calls_.size());
  calls_.push_back({});
  Call& call = calls_[number];
  call.type = &type;
  call.at = at;
  call.words = static_cast<std::uint16_t>(words);
  call.pid = pid;
  call.item = call.end_item = items_.size();
  Event event = event_of(call);
  event.clock = clock;
  call.begin = std::min(type.start(event), clock);
  call.duration = type.ticks(event);
  // A call that seems to end after its event was written is taken to have ended then.
  call.end = call.begin + std::min(call.duration, clock - call.begin);
  Item item{clock, at, number, Kind::call};
  place_end(call, item);
  place_begin(call);
  items_.push_back(item);
  if (!call.inside && !call.at_once) {
    outside_.push_back({number, pid, call.begin, call.end, type.number(event)});
  }
  // It is known when it ended, and its event was not written at once.
  if (call.late_end && call.end - call.begin == call.duration && clock - call.end > kAtOnceTicks) {
    outside_.push_back({number, pid, call.begin, call.end, type.number(event), true});
  }
  return true;
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

// Returns the position behind the words of the item.
std::uint32_t PageSplitter::behind(const Item& item) const {
  const Rules::Step& step = step_of(item);
  return item.at + 1 + step.words + (fkt_word_arg(page_->words[item.at]) & step.counted);
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

bool PageSplitter::has_place(const Outside& call, const fkt_page_header* next) const {
  const std::uint64_t clock = call.clock();
  const std::uint32_t pid = call.pid;
  const std::uint32_t item =
      call.is_end ? item_after_end(clock, items_.size()) : item_after(clock, items_.size());
  if (end_before(item) > clock) return false;  // in a pair
  if (item < items_.size()) return place_at(item, clock, pid);
  return !damaged_ && last_pid_ == pid && next != nullptr && clock < next->first_clock;
}

MadeEvent PageSplitter::begin_of(std::uint32_t number) const {
  const Call& call = calls_[number];
  return made_begin(*call.type, event_of(call));
}

MadeEvent PageSplitter::end_of(std::uint32_t number) const {
  const Call& call = calls_[number];
  return made_end(*call.type, event_of(call));
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

Page PageSplitter::split(std::span<const Given> given, std::span<const std::uint32_t> late,
                         std::span<const std::uint32_t> ended, std::uint64_t place) {
  for (const std::uint32_t number : ended) items_[calls_[number].item].kind = Kind::moved;
  marks_.clear();
  marked_.clear();
  first_mark_.assign(items_.size() + 1, 0);
  mark_calls(late);
  for (const Given& one : given) {
    const std::uint32_t item = one.is_end ? item_after_end(one.clock, items_.size())
                                          : item_after(one.clock, items_.size());
    const std::uint64_t clock = std::max(one.clock, end_before(item));
    mark(item, {.clock = clock,
                .event = one.event,
                .kind = one.is_end ? Mark::Kind::end : Mark::Kind::begin});
  }
  const auto kept = std::make_shared<Kept>();
  kept->words.reserve(2 * page_->words.size() + 4 * given.size());
  Writer writer(*this, kept->words);
  write(writer);
  writer.pid_is(last_pid_, writer.clock());
  Page split = *page_;
  split.header.end_clock = std::max<std::uint64_t>(split.header.end_clock, writer.clock());
  split.header.used =
      static_cast<std::uint32_t>(split.header.header_bytes + 8 * kept->words.size());
  split.words = kept->words;
  split.words_end = place + 8 * kept->words.size();
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
