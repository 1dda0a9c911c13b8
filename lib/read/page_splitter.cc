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
  outside_.clear();
  damaged_ = too_short_ = false;
  const Words words = page.words;
  std::uint64_t clock = page.header.first_clock;
  std::uint32_t pid = page.header.pid;
  const std::uint64_t last = page.header.end_clock;
  items_.reserve(words.size());
  for (std::uint32_t at = 0; at < words.size() && !damaged_;) {
    const std::uint64_t word = words[at];
    const std::uint16_t entry = rules_.table[fkt_word_id(word)];
    const std::uint32_t arg = fkt_word_arg(word);
    const std::uint64_t before = clock;
    Item item;
    bad_ = at;
    clock = item.clock = item.end = fkt_word_clock(word, before);
    item.at = at++;
    item.pid = item.next_pid = pid;
    std::uint32_t count = entry;
    if (entry > WordTable::kMaxWords) {
      if (entry == WordTable::kPid) {
        pid = arg & FKT_PID_MASK;
        continue;
      }
      if (entry == WordTable::kTime) {
        clock = fkt_time_word_clock(word, before);
        continue;
      }
      damaged_ = entry == WordTable::kUnknown;
      count = 0;
      if (entry & WordTable::kPair) {
        clock = item.end = item.clock + (arg != 0 ? fkt_pair_ticks(arg) : 0);
      } else if (entry == WordTable::kLost) {
        count = FKT_LOST_WORDS;
        item.kind = Kind::lost;
      } else if (entry & WordTable::kVariable) {
        count = arg & FKT_VAR_MASK;
      } else {
        count = entry & WordTable::kMaxWords;
        item.next_pid = arg & FKT_PID_MASK;
      }
    }
    damaged_ |= clock > last || count > words.size() - at;
    if (damaged_) break;
    item.words = static_cast<std::uint16_t>(count);
    at += count;
    pid = item.next_pid;
    const CallEvent* const type = rules_.calls.find(static_cast<std::uint16_t>(fkt_word_id(word)));
    if (type != nullptr) {
      damaged_ = too_short_ = !add_call(*type, item);
      if (damaged_) break;
    }
    items_.push_back(item);
  }
  last_pid_ = pid;
}

Event PageSplitter::event_of(const Item& item) const {
  const std::uint64_t word = page_->words[item.at];
  Event event;
  event.clock = item.clock;
  event.id = static_cast<std::uint16_t>(fkt_word_id(word));
  event.arg = fkt_word_arg(word);
  event.words = page_->words.subspan(item.at + 1, item.words);
  return event;
}

// Adds the call of the item, which comes next. Returns false if the event is too short.
bool PageSplitter::add_call(const CallEvent& type, Item& item) {
  if (item.words < type.words) return false;
  const Event event = event_of(item);
  Call& call = calls_.emplace_back();
  call.type = &type;
  call.event = event;
  call.pid = item.pid;
  call.item = items_.size();
  call.begin = std::min(type.start(event), event.clock);
  call.duration = type.ticks(event);
  // A call that seems to end after its event was written is taken to have ended then.
  call.end = call.begin + std::min(call.duration, event.clock - call.begin);
  item.kind = Kind::call;
  item.call = static_cast<std::uint16_t>(calls_.size() - 1);
  place_end(call, item);
  place_begin(call);
  if (!call.inside && !call.at_once) {
    outside_.push_back({item.call, item.pid, call.begin, call.end, type.number(event)});
  }
  // It is known when it ended, and its event was not written at once.
  if (call.late_end && call.end - call.begin == call.duration &&
      event.clock - call.end > kAtOnceTicks) {
    outside_.push_back({item.call, item.pid, call.begin, call.end, type.number(event), true});
  }
  return true;
}

inline void PageSplitter::place_end(Call& call, Item& item) {
  call.end_item = call.item;
  call.late_end = call.end - call.begin != call.duration;
  if (!call.late_end && call.end >= end_before(call.item)) [[likely]] {
    item.clock = item.end = call.end;
    return;
  }
  if (!call.late_end && call.end >= page_->header.first_clock) {
    const std::uint32_t place = item_after_end(call.end, call.item);
    if (place_at(place, call.end, item.pid) && end_before(place) <= call.end) {
      call.end_item = place;
      item.clock = item.end = end_before(call.item);
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

// Returns the first of the items before `end` that is after `clock`; `end`: there is none.
std::uint32_t PageSplitter::item_after(std::uint64_t clock, std::uint32_t end) const {
  std::uint32_t first = 0, size = end;
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
  return next.pid == pid;
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
  return made_begin(*call.type, call.event);
}

MadeEvent PageSplitter::end_of(std::uint32_t number) const {
  const Call& call = calls_[number];
  return made_end(*call.type, call.event);
}

// Returns where a late begin goes: before the item at which the thread has come to run, and not
// into an interrupt that has ended before the call's end.
std::uint32_t PageSplitter::late_place(const Call& call) const {
  const std::uint32_t pid = call.pid;
  std::uint32_t place = call.end_item;
  while (place > 0 && items_[place - 1].pid == pid && items_[place - 1].next_pid == pid &&
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
  void item(const Item& item) {
    const Call* const call = item.kind == Kind::call ? &page_.calls_[item.call] : nullptr;
    if (item.kind == Kind::moved) {
      pid_is(item.pid, item.clock);
      return;
    }
    if (call == nullptr) return copy(item);
    if (call->at_once) made(*call, call->type->begin, call->begin, item.pid, nullptr);
    if (call->late_end) {
      made(*call, call->type->late_end, item.clock, item.pid, &call->duration);
    } else {
      made(*call, call->type->id, item.clock, item.pid, nullptr);
    }
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
  void copy(const Item& item) {
    pid_is(item.pid, item.clock);
    at(item.clock);
    const Words words = page_.page_->words.subspan(item.at, item.words + 1U);
    out_.insert(out_.end(), words.begin(), words.end());
    clock_ = item.end;
    pid_ = item.next_pid;
  }
  void made(const Call& call, std::uint16_t id, std::uint64_t clock, std::uint32_t pid,
            const std::uint64_t* time) {
    pid_is(pid, clock);
    at(clock);
    const std::size_t word = out_.size();
    out_.push_back(0);
    const std::uint32_t arg = put_made(*call.type, call.event, time,
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
};

std::uint64_t PageSplitter::most_words(const Page& page, std::uint64_t given,
                                       std::uint64_t others) {
  // A begin, and an end: each with a PID word, a TIME word, the event word and one word more.
  return 8 * page.words.size() + 1 + 3 * given + others;
}

Page PageSplitter::split(std::span<const Given> given, std::span<const std::uint32_t> late,
                         std::span<const std::uint32_t> ended, std::uint64_t place) {
  for (const std::uint32_t number : ended) items_[calls_[number].item].kind = Kind::moved;
  marks_.clear();
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
  for (std::uint32_t i = 0; i < items_.size(); i++) {
    if (first_mark_[i] != 0) writer.marks(i, items_[i].pid);
    writer.item(items_[i]);
  }
  writer.marks(items_.size(), last_pid_);
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
