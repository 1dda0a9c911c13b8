// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/cpu_stream.h"

#include <algorithm>

#include <fmt/core.h>

#include "lib/base/text.h"

namespace fkt {

using Step = PageDecoder::Step;

namespace {

PageSequence::Head head_of(const Page& page) {
  return {page.header.seq, page.header.lost, begins_with_lost_word(page)};
}

}  // namespace

CpuStream::CpuStream(RecordingData& data, const std::vector<std::uint32_t>& pages,
                     std::uint64_t from, std::uint64_t to, const Checkpoint* checkpoint)
    : data_(&data), pages_(&pages), from_(from), to_(to) {
  const auto first = std::ranges::find_if(
      pages, [&](std::uint32_t page) { return data.pages[page].end_clock >= from; });
  next_page_ = static_cast<std::size_t>(first - pages.begin());
  // The previous page's loss count is of no use when it belongs to an earlier stretch.
  if (next_page_ == 0 ||
      (checkpoint && data.pages[pages[next_page_ - 1]].end_clock < checkpoint->from)) {
    if (pages.empty()) return;
    const std::uint32_t cpu = data.pages[pages[0]].cpu;
    const Checkpoint::Cpu* known = checkpoint ? checkpoint->find(cpu) : nullptr;
    if (known != nullptr) sequence_.lost_before(known->lost);
    if (checkpoint == nullptr) sequence_.lost_before(data.info.lost_before(cpu));
    return;
  }
  // Loss counts are cumulative: the page before the selection tells where they start.
  const PageRef& before = data.pages[pages[next_page_ - 1]];
  const Result<Page> page = data.source->page_header(before.offset);
  if (page) sequence_.lost_before(page->header.lost);
  // Pages missing behind it show in the sequence numbers.
  sequence_.comes_after(before.seq);
  if (!page) sequence_.skip();
  event_.clock = before.end_clock;
  if (first != pages.end()) event_.clock = std::min(event_.clock, data.pages[*first].first_clock);
}

void CpuStream::go_on_from(std::uint64_t clock) {
  if (next_page_ == 0 || next_page_ == pages_->size()) return;
  sequence_.comes_after(data_->pages[(*pages_)[next_page_ - 1]].seq);
  // The event at `clock` may be in the page that is read first.
  event_.clock = std::min(clock, data_->pages[(*pages_)[next_page_]].first_clock);
}

bool CpuStream::advance_slowly(Step step) {
  if (in_gap_) {
    if (end_gap()) return event_.clock < to_;
    step = decoder_.next(event_);
  }
  for (;; step = decoder_.next(event_)) {
    switch (step) {
      case Step::event:
        break;
      case Step::gap: {
        const std::uint64_t total = event_.words[0];
        const std::uint64_t from = std::min(event_.words[1], event_.clock);
        const std::uint64_t count = sequence_.take_lost_word(total);
        data_->set_lost(event_.cpu, total);
        // The module writes a LOST word only at the begin of a page; elsewhere the event before it
        // is not known here.
        const bool first = decoder_.position() == 1 + FKT_LOST_WORDS;
        if (set_gap(count, from, first ? std::max(from, last_before_) : event_.clock)) {
          return event_.clock < to_;
        }
        continue;
      }
      case Step::damaged:
        data_->damaged_page(page_offset_, decoder_.error());
        sequence_.skip();
        [[fallthrough]];
      case Step::end:
        switch (load_page()) {
          case Loaded::nothing:
            return last_gap();
          case Loaded::page_after_gap:
            return event_.clock < to_;
          case Loaded::page:
            continue;
        }
    }
    if (event_.clock >= from_) return event_.clock < to_;
  }
}

// event_ is the end of a gap that begins at `begin` (ticks) and has these words: makes event_ the
// gap's begin and keeps its end for the next advance(). Returns false when the gap ends before
// from_.
bool CpuStream::set_gap(std::uint64_t count, std::uint64_t from, std::uint64_t begin) {
  if (event_.clock < from_) return false;
  gap_[0] = count;
  gap_[1] = from;
  event_.words = gap_;
  gap_end_ = event_;
  behind_gap_ = decoder_;
  decoder_ = PageDecoder();  // its end makes the next advance() call end_gap()
  in_gap_ = true;
  event_.id = kGapBegins;
  event_.clock = std::max(std::min(begin, event_.clock), from_);
  return true;
}

// Returns false when the gap reaches to the end of the stream.
bool CpuStream::end_gap() {
  in_gap_ = false;
  if (ended_) return false;
  event_ = gap_end_;
  decoder_ = behind_gap_;
  return true;
}

// Called behind the last page: returns true, and sets event_ to a gap's begin, when events were
// lost after that page.
bool CpuStream::last_gap() {
  if (ended_ || pages_->empty()) return false;
  ended_ = true;
  const std::uint32_t cpu = data_->pages[pages_->front()].cpu;
  std::uint64_t count = 0, from = event_.clock;
  bool gap = sequence_.hole();
  if (data_->info.totals) {
    for (const CpuTotals& totals : data_->info.totals->per_cpu) {
      if (totals.cpu != cpu || totals.gap_lost == 0) continue;
      if (!gap) from = totals.gap_from;
      count = totals.gap_lost;
      gap = true;
    }
  }
  const std::uint64_t begin = std::max({from, sequence_.has_page() ? event_.clock : 0, from_});
  if (!gap || begin >= to_) return false;
  event_ = {begin, cpu, 0, kGapBegins, 0, {}, page_offset_};
  gap_[0] = count;
  gap_[1] = from;
  event_.words = gap_;
  decoder_ = PageDecoder();
  in_gap_ = true;
  return true;
}

// Returns the error of a page that is intact but does not belong at this place.
std::optional<Error> CpuStream::contradiction(const Page& page, const PageRef& ref) const {
  const std::string where = fmt::format("page at offset {:#x} (cpu {}", ref.offset, ref.cpu);
  if (page.header.cpu != ref.cpu || page.header.seq != ref.seq) {
    return Error{ErrorCode::damaged, where + "): the index takes it for another page"};
  }
  if (sequence_.has_page() && page.header.first_clock < event_.clock) {
    return Error{ErrorCode::damaged, where + "): it begins before the CPU's last event"};
  }
  return {};
}

CpuStream::Loaded CpuStream::load_page() {
  while (next_page_ < pages_->size() && !ended_) {
    const std::uint32_t number = (*pages_)[next_page_++];
    const PageRef& ref = data_->pages[number];
    if (ref.first_clock >= to_) {
      if (gap_across_end(ref)) return Loaded::page_after_gap;
      break;
    }
    data_->passed(ref.offset);
    const Result<Page> page = ahead_ != nullptr ? ahead_->page(number) : data_->page(number);
    const std::optional<Error> error =
        page ? contradiction(*page, ref) : std::optional<Error>(page.error());
    if (!error) return begin_page(*page);
    data_->damaged_page(ref.offset, *error);
    sequence_.skip();
  }
  return Loaded::nothing;
}

// Begins the page. When a gap ends there for which the page has no LOST word, sets event_ to the
// gap's begin.
CpuStream::Loaded CpuStream::begin_page(const Page& page) {
  const fkt_page_header& h = page.header;
  last_before_ = sequence_.has_page() ? event_.clock : 0;
  const std::uint64_t from = sequence_.has_page() ? event_.clock : h.first_clock;
  const PageSequence::Before before = sequence_.begin(head_of(page));
  decoder_ = PageDecoder(data_->table, page);
  keep_ = page.keep;
  page_offset_ = page.offset;
  current_page_ = {next_page_ - 1, h.first_clock, h.end_clock};
  data_->set_lost(h.cpu, h.lost);
  if (!before.gap) return Loaded::page;
  event_ = {h.first_clock, h.cpu, h.pid, FKT_W_LOST, 0, {}, page.offset};
  last_before_ = h.first_clock;
  return set_gap(before.count, from, from) ? Loaded::page_after_gap : Loaded::page;
}

// `ref` is the first page behind the selection. Returns true, and sets event_ to the gap's begin,
// when a gap before the page begins inside the selection. The page's events are not used, and its
// damage is not the selection's.
bool CpuStream::gap_across_end(const PageRef& ref) {
  const Result<Page> page = data_->source->page(ref.offset);
  if (!page || contradiction(*page, ref)) return false;
  const PageSequence::Head head = head_of(*page);
  const PageSequence::Before before = sequence_.before(head);
  const std::uint64_t last = sequence_.has_page() ? event_.clock : 0;
  std::uint64_t count = before.count;
  std::uint64_t from = sequence_.has_page() ? last : page->header.first_clock;
  if (!before.gap && head.lost_word && page->words.size() > FKT_LOST_WORDS) {
    count = sequence_.lost_in(page->words[1]);
    from = page->words[2];
  } else if (!before.gap) {
    return false;
  }
  const std::uint64_t begin = std::max({from, last, from_});
  if (begin >= to_) return false;
  event_ = {begin, ref.cpu, 0, kGapBegins, 0, {}, ref.offset};
  gap_[0] = count;
  gap_[1] = from;
  event_.words = gap_;
  decoder_ = PageDecoder();
  in_gap_ = ended_ = true;
  return true;
}

}  // namespace fkt
