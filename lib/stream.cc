// SPDX-License-Identifier: GPL-2.0-only
#include "lib/stream.h"

#include <algorithm>

#include "lib/text.h"

namespace fkt {

using Step = PageDecoder::Step;

CpuStream::CpuStream(TraceData& data, const std::vector<std::uint32_t>& pages, std::uint64_t from,
                     std::uint64_t to, const Cut* cut)
    : data_(&data), pages_(&pages), from_(from), to_(to) {
  const auto first = std::ranges::find_if(
      pages, [&](std::uint32_t page) { return data.pages[page].end_clock >= from; });
  next_page_ = static_cast<std::size_t>(first - pages.begin());
  // A page of an earlier stretch says nothing of what was lost between the two.
  if (next_page_ == 0 || (cut && data.pages[pages[next_page_ - 1]].end_clock < cut->from)) {
    if (pages.empty()) return;
    const std::uint32_t cpu = data.pages[pages[0]].cpu;
    const Cut::Cpu* known = cut ? cut->find(cpu) : nullptr;
    if (known != nullptr) lost_ = known->lost;
    if (cut == nullptr) lost_ = data.info.lost_before(cpu);
    return;
  }
  // Losses are cumulative; the page before the slice says where they stood.
  const PageRef& before = data.pages[pages[next_page_ - 1]];
  const Result<Page> page = data.source->page(before.offset);
  if (page) lost_ = page->header.lost;
}

void CpuStream::go_on_from(std::uint64_t clock) {
  if (next_page_ == 0 || next_page_ == pages_->size()) return;
  last_seq_ = data_->pages[(*pages_)[next_page_ - 1]].seq;
  // That event may be in the page that is read first.
  event_.clock = std::min(clock, data_->pages[(*pages_)[next_page_]].first_clock);
}

bool CpuStream::advance_slowly(Step step) {
  for (;; step = decoder_.next(event_)) {
    switch (step) {
      case Step::event:
        break;
      case Step::gap: {
        const std::uint64_t total = event_.words[0];
        const std::uint64_t begin = std::min(event_.words[1], event_.clock);
        const std::uint64_t count = lost_ && total > *lost_ ? total - *lost_ : 0;
        set_gap(count, begin);
        lost_ = total;
        data_->set_lost(event_.cpu, total);
        break;
      }
      case Step::damaged:
        data_->damaged_page(page_offset_, decoder_.error());
        hole_ = true;
        [[fallthrough]];
      case Step::end:
        if (const Loaded loaded = load_page(); loaded == Loaded::nothing) {
          return false;
        } else if (loaded == Loaded::page) {
          continue;
        }
        break;  // event_ is the gap before the page
    }
    if (event_.clock >= from_) return event_.clock < to_;
  }
}

// Makes event_ the gap that ends at its clock.
void CpuStream::set_gap(std::uint64_t count, std::uint64_t from) {
  gap_[0] = count;
  gap_[1] = from;
  event_.words = gap_;
}

// What makes a page that is sound in itself useless at this place.
std::optional<Error> CpuStream::contradiction(const Page& page, const PageRef& ref) const {
  const std::string where =
      "page at offset " + hex(ref.offset) + " (cpu " + std::to_string(ref.cpu);
  if (page.header.cpu != ref.cpu || page.header.seq != ref.seq) {
    return Error{ErrorCode::damaged, where + "): the index takes it for another page"};
  }
  if (last_seq_ && page.header.first_clock < event_.clock) {
    return Error{ErrorCode::damaged, where + "): it begins before the CPU's last event"};
  }
  return {};
}

CpuStream::Loaded CpuStream::load_page() {
  while (next_page_ < pages_->size()) {
    const PageRef& ref = data_->pages[(*pages_)[next_page_++]];
    if (ref.first_clock >= to_) break;
    const Result<Page> page = data_->source->page(ref.offset);
    const std::optional<Error> error =
        page ? contradiction(*page, ref) : std::optional<Error>(page.error());
    if (!error) return begin_page(*page);
    data_->damaged_page(ref.offset, *error);
    hole_ = true;
  }
  return Loaded::nothing;
}

// Sets event_ to a gap when one ends here of which the page has no LOST word.
CpuStream::Loaded CpuStream::begin_page(const Page& page) {
  const fkt_page_header& h = page.header;
  decoder_ = PageDecoder(data_->table, page);
  keep_ = page.keep;
  page_offset_ = page.offset;
  place_ = {next_page_ - 1, h.first_clock, h.end_clock};
  data_->set_lost(h.cpu, h.lost);

  if (!lost_ && h.seq == 0) lost_ = 0;
  const bool has_word = !page.words.empty() && fkt_word_id(page.words[0]) == FKT_W_LOST;
  // With a LOST word the header's count already includes that word's gap: leave it to the word.
  const std::uint64_t count = !has_word && lost_ && h.lost > *lost_ ? h.lost - *lost_ : 0;
  if (!has_word) lost_ = h.lost;
  const bool hole = last_seq_ && (hole_ || h.seq != *last_seq_ + 1);
  const bool gap = hole || count > 0;
  if (gap) {
    const std::uint64_t from = last_seq_ ? event_.clock : h.first_clock;
    event_ = {h.first_clock, h.cpu, h.pid, FKT_W_LOST, 0, {}, page.offset};
    set_gap(count, from);
  }
  last_seq_ = h.seq;
  hole_ = false;
  return gap ? Loaded::page_after_gap : Loaded::page;
}

}  // namespace fkt
