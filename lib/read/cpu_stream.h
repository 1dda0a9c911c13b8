// SPDX-License-Identifier: GPL-2.0-only
// The events of one CPU: its pages in order, with gaps where events are missing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "lib/read/page_decoder.h"
#include "lib/read/page_sequence.h"
#include "lib/read/pages_ahead.h"
#include "lib/read/recording_data.h"

namespace fkt {

class CpuStream {
 public:
  // Yields the CPU's events in from <= clock < to (ticks). The stream must not be moved once
  // advance() was called, because a gap's event points into it. checkpoint: the state at the begin
  // of the slice's stretch that contains the events; nullptr when the file is no slice.
  CpuStream(RecordingData& data, const std::vector<std::uint32_t>& pages, std::uint64_t from,
            std::uint64_t to, const Checkpoint* checkpoint);

  // Call before the first advance() when the events before `from` were read elsewhere and the CPU's
  // last one was at `clock` (ticks): a hole after it is then reported as a gap.
  void go_on_from(std::uint64_t clock);

  // Call before the first advance(): takes the pages from `ahead`, which must outlive this object;
  // nullptr: reads them itself.
  void read_from(PagesAhead* ahead) { ahead_ = ahead; }

  // Moves on to the next event, at first to the first one. Returns false when there is none.
  bool advance() {
    const PageDecoder::Step step = decoder_.next(event_);
    if (step == PageDecoder::Step::event && event_.clock >= from_) [[likely]] {
      return event_.clock < to_;
    }
    return advance_slowly(step);
  }

  const Event& event() const { return event_; }
  // Same as PageDecoder::look_ahead(), of the events after event(); none from `to` on.
  template <class Quiet>
  PageDecoder::Ahead look_ahead(const Quiet& quiet, std::uint32_t most, std::uint64_t until) const {
    if (to_ == 0) return {};
    return decoder_.look_ahead(quiet, most, std::min(until, to_ - 1));
  }
  // Same as PageDecoder::take_pair(), of a pair that look_ahead() has found. Until advance(), only
  // the time of event() is updated.
  bool take_pair(PageDecoder::WholePair& pair) {
    if (!decoder_.take_pair(pair)) return false;
    event_.clock = pair.to;
    return true;
  }

  // The page that contains the event, or follows the gap.
  struct CurrentPage {
    std::size_t index = 0;  // among the CPU's pages
    std::uint64_t first_clock = 0, end_clock = 0;
  };
  const CurrentPage& current_page() const { return current_page_; }
  // Number of words of the page up to the end of the event; nullopt within a pair, in a gap, and
  // before the first page.
  std::optional<std::uint32_t> position() const {
    if (in_gap_) return std::nullopt;
    return decoder_.position();
  }
  // As PageDecoder::progress().
  std::uint32_t progress() const { return decoder_.progress(); }
  // event() is the begin of a gap; next comes its end, or nothing when the stream ends in it.
  bool in_gap() const { return in_gap_; }
  // Moves to `word` of the page, behind events that the caller has applied by other means: the last
  // of them was at `clock` (ticks), and the thread `pid` runs after it. event() is not updated
  // before advance().
  void skip(std::uint32_t word, std::uint64_t clock, std::uint32_t pid) {
    decoder_.skip(word, clock, pid);
    event_.clock = clock;
  }

 private:
  bool advance_slowly(PageDecoder::Step step);
  enum class Loaded { nothing, page, page_after_gap };
  Loaded load_page();
  Loaded begin_page(const Page& page);
  bool end_gap();
  bool last_gap();
  bool set_gap(std::uint64_t count, std::uint64_t from, std::uint64_t begin);
  bool gap_across_end(const PageRef& ref);
  std::optional<Error> contradiction(const Page& page, const PageRef& ref) const;

  RecordingData* data_;
  PagesAhead* ahead_ = nullptr;
  const std::vector<std::uint32_t>* pages_;
  std::uint64_t from_;
  std::uint64_t to_;
  std::size_t next_page_ = 0;  // index in *pages_

  PageDecoder decoder_;
  std::shared_ptr<const void> keep_;  // keeps the decoder's words alive
  Event event_;
  std::uint64_t gap_[2] = {};      // words of the gap event that event_ is
  bool in_gap_ = false;            // event_ is the begin of a gap
  bool ended_ = false;             // event_ is the begin of a gap that nothing follows
  Event gap_end_;                  // in a gap: the event that comes next
  PageDecoder behind_gap_;         // in a gap: the decoder behind gap_end_
  std::uint64_t last_before_ = 0;  // the CPU's last event before the page (ticks); 0: not known
  PageSequence sequence_;          // of the pages that were read
  std::uint64_t page_offset_ = 0;
  CurrentPage current_page_;
};

}  // namespace fkt
