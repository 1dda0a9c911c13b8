// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/buffer_use.h"

#include <algorithm>

#include <fkt/events.h>

#include "lib/format/clocks.h"
#include "lib/read/event_merge.h"

namespace fkt {
namespace {

constexpr std::uint64_t kProgressEvents = 1 << 20;

std::uint64_t less(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : 0;
}

// Clock values sorted by time, taken one by one.
class Moments {
 public:
  Moments(const Recording& recording, std::uint64_t PageRef::*clock) {
    clocks_.reserve(recording.pages().size());
    for (const PageRef& page : recording.pages()) clocks_.push_back(page.*clock);
    std::ranges::sort(clocks_);
  }
  std::uint64_t next() const { return at_ < clocks_.size() ? clocks_[at_] : kForever; }
  void take() { at_++; }

 private:
  std::vector<std::uint64_t> clocks_;
  std::size_t at_ = 0;
};

class Follower {
 public:
  Follower(const Recording& recording, const BufferSink& sink)
      : recording_(recording),
        sink_(sink),
        opens_(recording, &PageRef::first_clock),
        fills_(recording, &PageRef::end_clock) {
    const Command& command = recording.info().command;
    // The layer was on from the start, so no page was submitted, written or added before the first
    // event of the layer: these counts are known from 0 on.
    from_start_ = (command.mask >> FKT_L_FKT & 1) != 0;
    if (!from_start_) return;
    now_.written = now_.extra = 0;
    if (command.engine == "drain") now_.submitted = 0;
  }

  // Returns true if the layer fkt was recorded from the start.
  bool from_start() const { return from_start_; }

  std::uint64_t next_change() const { return std::min(opens_.next(), fills_.next()); }

  // Applies the pages that were opened or filled up to `clock`.
  void pages_until(std::uint64_t clock) {
    while (next_change() <= clock) {
      now_.clock = next_change();
      if (opens_.next() <= fills_.next()) {
        opens_.take();
        now_.opened++;
        if (now_.free) now_.free = less(*now_.free, 1);
      } else {
        fills_.take();
        now_.filled++;
      }
      sink_(now_);
    }
  }

  // Returns false when the event is not one of the drain.
  bool add(const Event& event) {
    const bool has_word = !event.words.empty();
    switch (event.id) {
      case FKT_E_DRAIN_WAKE:
        if (has_word) woke(event.words[0]);
        break;
      case FKT_E_PAGES_SUBMITTED:
        if (has_word) now_.submitted = up_to(now_.submitted, event);
        break;
      case FKT_E_PAGES_WRITTEN:
        if (has_word) now_.written = up_to(now_.written, event);
        told_written_ = true;
        break;
      case FKT_E_PAGES_RECYCLED:
        if (has_word) recycled(event.arg, static_cast<std::uint32_t>(event.words[0]));
        break;
      case FKT_E_PAGES_EXTRA:
        now_.extra = now_.extra.value_or(0) + event.arg;
        if (now_.free) *now_.free += event.arg;
        if (now_.allocated) *now_.allocated += event.arg;
        break;
      default:
        return false;
    }
    now_.clock = event.clock;
    sink_(now_);
    return true;
  }

 private:
  // Returns the number of pages up to the end of the piece that the event reports. Computed from
  // the piece's position in the file, it is right even if the event of an earlier piece was lost.
  // In a slice the positions are those of the whole recording, so there the pieces are added up.
  std::uint64_t up_to(const std::optional<std::uint64_t>& before, const Event& event) const {
    const std::uint64_t position = event.words[0];
    const std::uint64_t first = recording_.pages().empty() ? 0 : recording_.pages().front().offset;
    if (recording_.info().checkpoint || position < first) return before.value_or(0) + event.arg;
    return (position - first) / recording_.info().page_bytes + event.arg;
  }

  void recycled(std::uint32_t pages, std::uint32_t unwritten) {
    // Where the recorder fetches the pages, no event reports submissions and writes: a page that is
    // recycled and not counted as unwritten was handed to the recorder.
    if (!told_written_ && pages > unwritten) {
      now_.written = now_.written.value_or(0) + pages - unwritten;
      now_.submitted.reset();
    }
    if (now_.free) *now_.free += pages;
  }

  // Pages in use are those that were opened and not yet written. The file of a flight recorder
  // lacks most of these: there it is the waiting pages plus the open page of each CPU.
  void woke(std::uint64_t word) {
    const std::uint64_t waiting = word & 0xffffffff, free = word >> 32;
    const std::uint64_t known = now_.written ? less(now_.opened, *now_.written) : 0;
    now_.free = free;
    now_.allocated = free + std::max(known, waiting + now_.opened - now_.filled);
  }

  const Recording& recording_;
  const BufferSink& sink_;
  Moments opens_, fills_;
  BufferState now_;
  bool from_start_ = false, told_written_ = false;
};

}  // namespace

Status follow_buffers(const Recording& recording, const BufferSink& sink, const Reading& reading) {
  Follower follower(recording, sink);
  std::uint64_t read = 0, told = 0, next_change = follower.next_change();
  for (const Event& event : recording.events()) {
    if (++read % kProgressEvents == 0 && reading) reading(read);
    if (event.clock >= next_change) {
      follower.pages_until(event.clock);
      next_change = follower.next_change();
    }
    told += follower.add(event);
  }
  follower.pages_until(kForever - 1);
  if (told > 0 || follower.from_start()) return Done{};
  return Error{ErrorCode::usage,
               "the layer fkt was not recorded: only the pages filled are known; fkt_record -k "
               "system,process,fkt records it"};
}

void BufferColumns::close_cells(std::size_t upto) {
  while (cells_.size() < upto) {
    cells_.push_back(open_);
    open_.lowest = open_.state.free;
  }
}

void BufferColumns::add(const BufferState& state) {
  if (state.clock >= scale_.to) return close_cells(scale_.cells);
  if (state.clock >= scale_.from) close_cells(scale_.cell(state.clock));
  open_.state = state;
  const bool inside = state.clock >= scale_.from && open_.lowest;
  open_.lowest = inside && state.free ? std::min(*open_.lowest, *state.free) : state.free;
}

void BufferColumns::finish() {
  close_cells(scale_.cells);
}

}  // namespace fkt
