// SPDX-License-Identifier: GPL-2.0-only
// Makes pages of the events of one CPU, or of a ring that has the number of a CPU
// (include/fkt/wire.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <fkt/wire.h>

#include "lib/base/bytes.h"

namespace fkt {

class PageWriter {
 public:
  // Called with each page, of page_bytes bytes, when it is full; before that by save(), with fewer
  // events in it.
  using Take = std::function<void(const fkt_page_header& header, ByteView page)>;

  struct Identity {
    std::uint64_t recording = 0;  // random id
    std::uint32_t page_bytes = 0;
    std::uint32_t cpu = 0;
    std::uint32_t flags = 0;  // FKT_PAGE_*, of each page
  };
  // take: must stay valid as long as this object.
  PageWriter(const Identity& identity, Take take);

  // Appends an event of thread `tid`. clock: ticks, not before the event before it; words: those
  // after the event word, at most most_words().
  void event(std::uint32_t tid, std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
             std::span<const std::uint64_t> words);
  // Returns how many words after the event word fit into an empty page.
  std::size_t most_words() const;
  // Appends a gap: `count` events of thread `tid` were lost between `from` and `clock` (ticks).
  void lost(std::uint32_t tid, std::uint64_t clock, std::uint64_t count, std::uint64_t from);
  // Hands over the page that is not full yet. clock: not before its last event.
  void flush(std::uint64_t clock);
  // Hands over a copy of the page that is not full yet, if events were added since the last copy.
  // The page stays open: later events are added to it, and the next copy contains all of its
  // events.
  void save();

  std::uint64_t events() const { return events_; }
  std::uint64_t lost_events() const { return lost_; }
  std::uint64_t pages() const { return seq_; }
  // Clock of the last event (ticks).
  std::uint64_t clock() const { return clock_; }

 private:
  void append(std::uint32_t tid, std::uint64_t clock, std::uint32_t id, std::uint32_t arg,
              std::span<const std::uint64_t> words);
  void open(std::uint32_t tid, std::uint64_t clock);
  void put(std::uint64_t word);
  void hand_over(std::uint64_t clock);

  Identity identity_;
  Take take_;
  std::vector<std::byte> page_;
  fkt_page_header header_{};
  bool is_open_ = false;
  std::uint32_t saved_ = 0;  // bytes of the page that save() has handed over
  std::uint32_t tid_ = 0;
  std::uint64_t clock_ = 0, seq_ = 0, lost_ = 0, events_ = 0;
};

}  // namespace fkt
