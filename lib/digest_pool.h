// SPDX-License-Identifier: GPL-2.0-only
// Digests of a trace's pages, made ahead by some threads for one that asks for them, page by page.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "lib/digest.h"
#include "lib/tally.h"
#include "lib/trace_data.h"

namespace fkt {

class DigestPool {
 public:
  // How a page that begins and ends at these times (ticks) is digested: counted, not counted, or,
  // where nothing is said, not at all. Several threads ask.
  using Wanted = std::function<std::optional<bool>(std::uint32_t cpu, std::uint64_t first_clock,
                                                   std::uint64_t end_clock)>;
  // All must outlive the pool. With one thread, everything happens when it is asked for.
  DigestPool(const TraceData& data, const KnownTypes& types, Wanted wanted, bool histograms,
             unsigned threads);
  ~DigestPool();
  DigestPool(const DigestPool&) = delete;
  DigestPool& operator=(const DigestPool&) = delete;

  // The digest of a page (its position in TraceData::pages), made here if no other thread has.
  // nullptr: there is none. Valid until release().
  PageDigest* get(std::uint32_t page);
  // Nobody will ask for the page any more; if it was asked for and is counted, it goes into the
  // statistics.
  void release(std::uint32_t page);
  // When all are released: what they have added.
  void add_to(Profile& profile);

 private:
  struct Slot {
    PageDigest digest;
    std::size_t bytes = 0;  // that its lists take
    bool ready = false, useful = false, asked = false, unwanted = false;
  };
  using Lock = std::unique_lock<std::mutex>;
  void work(std::size_t thread);
  bool one_job(Lock& lock, std::size_t thread);
  void make(Lock& lock, std::uint32_t page);
  void spend(Lock& lock, std::size_t thread, std::unique_ptr<Slot> slot);
  std::optional<std::uint32_t> next_page();
  std::unique_ptr<Slot> new_slot();
  void limit(Slot& slot);

  const TraceData& data_;
  const KnownTypes& types_;
  const Wanted wanted_;
  const DigestTable table_;
  std::vector<std::uint32_t> order_;  // of the pages, about as they will be asked for
  std::vector<Tally> tallies_;        // of each thread; [0]: who asks
  std::size_t most_ahead_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;       // in order_
  std::vector<bool> claimed_;  // by page: it is, was, or need not be made
  std::unordered_map<std::uint32_t, std::unique_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<Slot>> spent_, free_;
  std::size_t bytes_ = 0;  // of all slots' lists
  bool stop_ = false;
  std::vector<std::jthread> helpers_;
};

}  // namespace fkt
