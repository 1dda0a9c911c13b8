// SPDX-License-Identifier: GPL-2.0-only
#include "lib/user/page_joiner.h"

#include <algorithm>
#include <utility>

#include "lib/base/merge_heap.h"
#include "lib/read/page_sequence.h"

namespace fkt {
namespace {

// Limit of the held events, those of threads that are not running: a program could make any number
// of them. Further ones are lost.
constexpr std::size_t kMostHeldBytes = 32 << 20;
constexpr std::uint32_t kNoThread = ~std::uint32_t{0};

std::uint64_t events_of(bool is_gap, std::span<const std::uint64_t> words) {
  return is_gap ? words[0] : 1;
}

}  // namespace

struct PageJoiner::Cpu {
  PageWriter pages;
  std::uint32_t current = kNoThread;  // thread that runs; kNoThread: not known
  Added added;
};

// The events of one CPU's pages in their order, with what was lost among them.
class PageJoiner::Stream {
 public:
  Stream(const PageSource& source, const WordTable& table, bool is_user)
      : source_(source), table_(table), is_user_(is_user) {}

  void add(const PageRef& ref) { refs_.push_back(ref); }

  // Moves to the next event. Returns false when there is none, or a page cannot be read.
  Result<bool> next() {
    for (;;) {
      if (const auto lost = std::exchange(lost_at_begin_, 0)) {
        set_gap(page_.header.first_clock, lost, event_.clock);
        return true;
      }
      const PageDecoder::Step step = is_open_ ? decoder_.next(event_) : PageDecoder::Step::end;
      if (step == PageDecoder::Step::damaged) return decoder_.error();
      if (step == PageDecoder::Step::event) {
        is_gap_ = false;
        return true;
      }
      if (step == PageDecoder::Step::gap) {
        set_gap(event_.clock, sequence_.take_lost_word(event_.words[0]), event_.words[1]);
        return true;
      }
      if (next_ == refs_.size()) return false;
      FKT_TRY(open());
    }
  }

  bool is_user() const { return is_user_; }
  bool is_gap() const { return is_gap_; }
  const Event& event() const { return event_; }
  // Of a gap: how many were lost, and since when (ticks).
  std::span<const std::uint64_t> gap() const { return gap_; }

 private:
  Status open() {
    page_ = FKT_TRY(source_.page(refs_[next_++].offset));
    decoder_ = PageDecoder(table_, page_);
    is_open_ = true;
    const auto& header = page_.header;
    lost_at_begin_ = sequence_.begin({header.seq, header.lost, begins_with_lost_word(page_)}).count;
    return Done{};
  }

  void set_gap(std::uint64_t clock, std::uint64_t count, std::uint64_t from) {
    event_.clock = clock;
    event_.cpu = page_.header.cpu;
    gap_[0] = count;
    gap_[1] = from;
    is_gap_ = true;
  }

  const PageSource& source_;
  const WordTable& table_;
  bool is_user_, is_open_ = false, is_gap_ = false;
  std::vector<PageRef> refs_;
  std::size_t next_ = 0;
  Page page_;
  PageDecoder decoder_;
  PageSequence sequence_;
  std::uint64_t lost_at_begin_ = 0;
  std::uint64_t gap_[2] = {};
  Event event_{};
};

PageJoiner::PageJoiner(const Rules& rules, const WordTable& table, PageWriter::Take take)
    : rules_(rules), table_(table), take_(std::move(take)) {}

PageJoiner::~PageJoiner() = default;

PageJoiner::Cpu& PageJoiner::cpu(std::uint32_t number) {
  std::unique_ptr<Cpu>& place = cpus_[number];
  if (!place) {
    place = std::make_unique<Cpu>(
        Cpu{PageWriter({rules_.recording, rules_.page_bytes, number, FKT_PAGE_JOINED}, take_),
            kNoThread,
            {}});
  }
  return *place;
}

Status PageJoiner::join(const Pages& kernel, const Pages& user) {
  std::map<std::pair<bool, std::uint32_t>, std::unique_ptr<Stream>> streams;
  for (const Pages* pages : {&kernel, &user}) {
    const bool is_user = pages == &user;
    for (const PageRef& ref : pages->refs) {
      std::unique_ptr<Stream>& stream = streams[{is_user, ref.cpu}];
      if (!stream) stream = std::make_unique<Stream>(pages->source, table_, is_user);
      stream->add(ref);
      if (!is_user) cpu(ref.cpu);
    }
  }
  // At equal times the kernel's events come first: a switch precedes the events of the thread that
  // it lets run.
  std::vector<MergeSource<Stream>> heap;
  std::uint32_t order = 0;
  for (const auto& [key, stream] : streams) {
    const auto any = FKT_TRY(stream->next());
    if (any) heap.push_back({stream->event().clock, order++, stream.get()});
  }
  make_least_heap(heap);
  while (!heap.empty()) {
    MergeSource<Stream> first = heap.front();
    Stream& stream = *first.source;
    if (stream.is_user()) {
      user_event(stream);
    } else {
      kernel_event(stream);
    }
    const auto more = FKT_TRY(stream.next());
    // A clock that steps back within a stream must not change the stream's order.
    first.clock = std::max(first.clock, stream.event().clock);
    if (more) {
      replace_front(heap, first);
    } else {
      pop_front(heap);
    }
  }
  for (const auto& [number, of] : cpus_) of->pages.flush(of->pages.clock());
  return Done{};
}

void PageJoiner::kernel_event(Stream& stream) {
  const Event& event = stream.event();
  Cpu& on = cpu(event.cpu);
  if (stream.is_gap()) {
    const auto gap = stream.gap();
    const std::uint32_t tid = on.current == kNoThread ? 0 : on.current;
    // The next event shows which thread runs after the gap.
    runs(on, kNoThread, event.clock);
    on.pages.lost(tid, std::max(event.clock, on.pages.clock()), gap[0], gap[1]);
    return;
  }
  runs(on, event.pid, event.clock);
  on.pages.event(event.pid, std::max(event.clock, on.pages.clock()), event.id, event.arg,
                 event.words);
  if (is_switch(event.id)) runs(on, event.arg & FKT_PID_MASK, event.clock);
}

// The thread runs on the CPU from `clock` on, if it did not before.
void PageJoiner::runs(Cpu& on, std::uint32_t tid, std::uint64_t clock) {
  if (on.current == tid) return;
  const auto before = where_.find(on.current);
  if (before != where_.end() && before->second == &on) where_.erase(before);
  on.current = tid;
  if (tid == kNoThread || tid == 0) return;
  where_[tid] = &on;
  if (!held_.empty()) release(on, tid, clock);
}

void PageJoiner::user_event(Stream& stream) {
  const Event& event = stream.event();
  // The kernel's own switches say when a thread runs, or has ended.
  if (event.id == FKT_E_DEFINE || is_switch(event.id) || event.clock > rules_.stop) return;
  const auto words = stream.is_gap() ? stream.gap() : event.words;
  const Held made{event.clock, stream.is_gap(), event.id, event.arg, {}};
  if (const auto running = where_.find(event.pid); running != where_.end()) {
    return put(*running->second, event.pid, made, words);
  }
  hold(held_[event.pid], made, words);
}

// Keeps an event until its thread runs.
void PageJoiner::hold(std::deque<Held>& held, const Held& event,
                      std::span<const std::uint64_t> words) {
  const bool is_full = held_bytes_ > kMostHeldBytes;
  if (is_full && !held.empty() && held.back().is_gap) {
    held.back().words[0] += events_of(event.is_gap, words);
    held.back().clock = event.clock;
    return;
  }
  held.push_back(event);
  Held& last = held.back();
  if (is_full && !event.is_gap) {
    last.is_gap = true;
    last.words = {1, event.clock};
  } else {
    last.words.assign(words.begin(), words.end());
  }
  held_bytes_ += bytes_of(last);
}

std::size_t PageJoiner::bytes_of(const Held& event) {
  return sizeof event + event.words.size() * sizeof(std::uint64_t);
}

void PageJoiner::put(Cpu& on, std::uint32_t tid, const Held& event,
                     std::span<const std::uint64_t> words) {
  const std::uint64_t clock = std::max(event.clock, on.pages.clock());
  if (event.is_gap) {
    on.pages.lost(tid, clock, words[0], words[1]);
    on.added.lost += words[0];
  } else {
    on.pages.event(tid, clock, event.id, event.arg, words);
    on.added.events++;
  }
}

// The thread runs now: places its held events here if they are at most `nearby` too early. Earlier
// ones count as lost, because the kernel's events of that time are missing.
void PageJoiner::release(Cpu& on, std::uint32_t tid, std::uint64_t clock) {
  const auto found = held_.find(tid);
  if (found == held_.end()) return;
  Held gap{clock, true, 0, 0, {0, 0}};
  for (const Held& event : found->second) {
    held_bytes_ -= bytes_of(event);
    const bool near = event.clock + rules_.nearby >= clock;
    if (near && gap.words[0] > 0) {
      put(on, tid, gap, gap.words);
      gap.words[0] = 0;
    }
    if (near) {
      put(on, tid, event, event.words);
      continue;
    }
    if (gap.words[0] == 0) gap.words[1] = event.is_gap ? event.words[1] : event.clock;
    gap.words[0] += events_of(event.is_gap, event.words);
  }
  if (gap.words[0] > 0) put(on, tid, gap, gap.words);
  held_.erase(found);
}

std::map<std::uint32_t, PageJoiner::Added> PageJoiner::added() const {
  std::map<std::uint32_t, Added> added;
  for (const auto& [number, of] : cpus_) {
    added[number] = of->added;
    added[number].pages = of->pages.pages();
  }
  return added;
}

std::uint64_t PageJoiner::without_place() const {
  std::uint64_t events = 0;
  for (const auto& [tid, held] : held_) {
    for (const Held& event : held) events += events_of(event.is_gap, event.words);
  }
  return events;
}

}  // namespace fkt
