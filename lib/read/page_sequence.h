// SPDX-License-Identifier: GPL-2.0-only
// Finds the events that are missing before each page of a CPU. The pages are given in their order.
#pragma once

#include <cstdint>
#include <optional>

namespace fkt {

class PageSequence {
 public:
  // The events that are missing between the previous page and a page's first event.
  struct Before {
    bool gap = false;  // something is missing
    std::uint64_t count =
        0;  // how many events the CPU lost there; pages that are missing do not say
  };
  // The data of a page that begin() needs.
  struct Head {
    std::uint64_t seq = 0;   // its number on its CPU
    std::uint64_t lost = 0;  // from its header: events that the CPU had lost at its end
    bool lost_word =
        false;  // its first word is FKT_W_LOST, which accounts for what `lost` has more
  };

  // Sets how many events the CPU had lost before the page that begins next, if that is known.
  void lost_before(std::optional<std::uint64_t> lost) { lost_ = lost; }
  // The page with this number is the last before the one that begins next; its events are not read.
  void comes_after(std::uint64_t seq) { last_seq_ = seq; }
  // A page, or the rest of one, cannot be read.
  void skip() { hole_ = true; }

  // Returns whether a page came before.
  bool has_page() const { return last_seq_.has_value(); }
  // Returns whether a part after the last event that was read cannot be read.
  bool hole() const { return hole_ && has_page(); }

  // Returns what is missing before `page`, if it comes next.
  Before before(const Head& page) const {
    Before before;
    const std::optional<std::uint64_t> lost = lost_at(page);
    if (!page.lost_word && lost && page.lost > *lost) before.count = page.lost - *lost;
    before.gap = hole() || (last_seq_ && page.seq != *last_seq_ + 1) || before.count > 0;
    return before;
  }
  // Moves on to the page. Returns what is missing before it.
  Before begin(const Head& page) {
    const Before before = this->before(page);
    lost_ = page.lost_word ? lost_at(page) : page.lost;
    last_seq_ = page.seq;
    hole_ = false;
    return before;
  }

  // Returns the number of events lost in the gap of a LOST word. total: the CPU's lost events so
  // far, from that word. 0 if the total before the gap is not known.
  std::uint64_t lost_in(std::uint64_t total) const {
    return lost_ && total > *lost_ ? total - *lost_ : 0;
  }
  // As lost_in(), and remembers the count: for the next LOST word in the order of the pages.
  std::uint64_t take_lost_word(std::uint64_t total) {
    const std::uint64_t count = lost_in(total);
    lost_ = total;
    return count;
  }

 private:
  // Nothing is lost before a CPU's first page.
  std::optional<std::uint64_t> lost_at(const Head& page) const {
    return !lost_ && page.seq == 0 ? 0 : lost_;
  }

  std::optional<std::uint64_t> lost_, last_seq_;
  bool hole_ = false;
};

}  // namespace fkt
