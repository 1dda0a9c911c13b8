// SPDX-License-Identifier: GPL-2.0-only
// QuietRuns: the runs of consecutive events of a page that may be in one burst
// (lib/timeline/burst_merge.h). The thread that reads pages ahead finds them, because it has less
// to do than the one that follows the tasks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "lib/analyse/meanings.h"
#include "lib/read/page_decoder.h"

namespace fkt {

// Which words may be part of a burst, by their ids: points that change no task, begins and ends of
// spans on stacks, and pairs of these. Not events with a variable number of words, because
// PageDecoder::look_ahead() skips words by their ids alone, and not late begins and ends
// (EventType::late).
class QuietWords {
 public:
  QuietWords(const Catalogue& catalogue, const Meanings& meanings);
  bool operator[](std::uint32_t id) const { return quiet_[id]; }

 private:
  std::array<bool, 1 << FKT_ID_BITS> quiet_{};
};

// The runs of at least two consecutive quiet events of one page.
class QuietRuns {
 public:
  QuietRuns() = default;
  QuietRuns(const WordTable& table, const Page& page, const QuietWords& quiet);
  // Returns the result of PageDecoder::look_ahead() without limits, after the first event of a run;
  // nullopt: no run begins there. progress: of the decoder, not less than in the previous call.
  std::optional<PageDecoder::Ahead> behind(std::uint32_t progress) {
    while (next_ < runs_.size() && runs_[next_].progress < progress) next_++;
    if (next_ == runs_.size() || runs_[next_].progress != progress) return {};
    return runs_[next_].ahead;
  }

 private:
  struct Run {
    std::uint32_t progress;  // of the decoder behind its first event
    PageDecoder::Ahead ahead;
  };
  std::vector<Run> runs_;  // by their place
  std::size_t next_ = 0;
};

// Passes the runs of pages from one thread to another.
class QuietRunsByPage {
 public:
  void put(std::uint32_t page, QuietRuns runs) {
    const std::lock_guard lock(mutex_);
    by_page_.insert_or_assign(page, std::move(runs));
  }
  // Removes and returns the runs of the page; none if they are not known.
  QuietRuns take(std::uint32_t page) {
    const std::lock_guard lock(mutex_);
    const auto found = by_page_.extract(page);
    return found ? std::move(found.mapped()) : QuietRuns();
  }

 private:
  std::mutex mutex_;
  std::map<std::uint32_t, QuietRuns> by_page_;
};

}  // namespace fkt
