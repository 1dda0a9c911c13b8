// SPDX-License-Identifier: GPL-2.0-only
// The events of one CPU: its pages one after the other, with gaps where something is missing.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "lib/burst.h"
#include "lib/page.h"
#include "lib/trace_data.h"

namespace fkt {

class CpuStream {
 public:
  // The CPU's events in from <= clock < to (ticks). The stream's own address must not change once
  // advance() was called: a gap's words stand in it.
  // cut: the state at the begin of the slice's stretch that it lies in; nullptr: of no slice.
  CpuStream(TraceData& data, const std::vector<std::uint32_t>& pages, std::uint64_t from,
            std::uint64_t to, const Cut* cut);

  // Before the first advance(): whoever asks has read what is before `from`, and the CPU's last
  // event there was of `clock` (ticks). So a hole there is seen.
  void go_on_from(std::uint64_t clock);

  // Moves on to the next event, the first one at first; false when there is none.
  bool advance() {
    const PageDecoder::Step step = decoder_.next(event_);
    if (step == PageDecoder::Step::event && event_.clock >= from_) [[likely]] {
      return event_.clock < to_;
    }
    return advance_slowly(step);
  }

  const Event& event() const { return event_; }

  // The page that the event stands in, or the gap before it.
  struct Place {
    std::size_t page = 0;  // its number among the CPU's
    std::uint64_t first_clock = 0, end_clock = 0;
  };
  const Place& place() const { return place_; }
  // Words of this page up to behind the event; nullopt within a pair, in a gap, and before the
  // first page.
  std::optional<std::uint32_t> position() const {
    if (in_gap_) return std::nullopt;
    return decoder_.position();
  }
  // event() is the begin of a gap, whose end, or nothing, comes next.
  bool in_gap() const { return in_gap_; }
  // Goes on behind this burst of the page, which begins at position(): event() is of the past
  // until advance().
  void skip(const Burst& burst) {
    decoder_.skip(burst.end_word, burst.to, burst.leave != 0 ? burst.next : burst.pid);
    event_.clock = burst.to;
  }

 private:
  bool advance_slowly(PageDecoder::Step step);
  enum class Loaded { nothing, page, page_after_gap };
  Loaded load_page();
  Loaded begin_page(const Page& page);
  // What lies before a page, as far as its header and its first word say.
  struct Before {
    bool lost_word = false;   // the page begins with one
    bool gap = false;         // there is a gap of which it has no such word
    std::uint64_t count = 0;  // events lost in that gap
  };
  Before before(const Page& page) const;
  bool end_gap();
  bool last_gap();
  bool set_gap(std::uint64_t count, std::uint64_t from, std::uint64_t begin);
  bool gap_across_end(const PageRef& ref);
  std::optional<Error> contradiction(const Page& page, const PageRef& ref) const;

  TraceData* data_;
  const std::vector<std::uint32_t>* pages_;
  std::uint64_t from_;
  std::uint64_t to_;
  std::size_t next_page_ = 0;  // in *pages_

  PageDecoder decoder_;
  std::shared_ptr<const void> keep_;  // the decoder's words
  Event event_;
  std::uint64_t gap_[2] = {};      // words of the gap that event_ is the begin or the end of
  bool in_gap_ = false;            // event_ is a gap's begin ...
  bool ended_ = false;             // ... or nothing follows at all
  Event gap_end_;                  // in a gap: what comes next ...
  PageDecoder behind_gap_;         // ... and what goes on behind that
  std::uint64_t last_before_ = 0;  // the CPU's last event before the page (ticks); 0: not known
  // Events lost on this CPU before the current place; nothing: not known.
  std::optional<std::uint64_t> lost_;
  std::uint64_t page_offset_ = 0;
  Place place_;
  std::optional<std::uint64_t> last_seq_;  // of the page before; nothing: none was read
  bool hole_ = false;                      // since the last event something could not be read
};

}  // namespace fkt
