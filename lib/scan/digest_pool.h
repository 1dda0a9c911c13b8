// SPDX-License-Identifier: GPL-2.0-only
// Digests of a recording's pages, made ahead by worker threads for one reader, which takes them
// page by page.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "lib/read/recording_data.h"
#include "lib/scan/digest.h"
#include "lib/scan/tally.h"

namespace fkt {

class DigestPool {
 public:
  // Returns how to digest a page that begins and ends at these times (ticks): true: its events
  // count in the statistics; false: they do not; nothing: the page is not digested. Called from
  // several threads.
  using Wanted = std::function<std::optional<bool>(std::uint32_t cpu, std::uint64_t first_clock,
                                                   std::uint64_t end_clock)>;
  // All arguments must outlive the pool. states: as for DigestRules. threads: with 1, no worker is
  // started and get() makes each digest.
  DigestPool(const RecordingData& data, const SharedTypeTable& types, Wanted wanted,
             bool histograms, bool states, unsigned threads);
  ~DigestPool();
  DigestPool(const DigestPool&) = delete;
  DigestPool& operator=(const DigestPool&) = delete;

  // Returns the digest of a page (its position in RecordingData::pages), and makes it if no other
  // thread has. Returns nullptr if the page is not digested. Valid until release().
  PageDigest* get(std::uint32_t page);
  // Releases the page's digest. A counted digest that get() has returned is added to the
  // statistics.
  void release(std::uint32_t page);
  // Adds the statistics of all released digests to the profile, and ends the workers. Call once,
  // after the last release().
  void add_to(Profile& profile);

 private:
  struct Slot {
    PageDigest digest;
    std::size_t bytes = 0;  // memory of its lists
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

  const RecordingData& data_;
  const SharedTypeTable& types_;
  const Wanted wanted_;
  const DigestRules rules_;
  std::vector<std::uint32_t> order_;  // pages by their first clock, about the order of get()
  std::vector<Tally> tallies_;        // by thread; [0]: of the reader's thread
  std::size_t most_ahead_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;       // position in order_
  std::vector<bool> claimed_;  // by page: its digest is or was made, or is not needed
  std::unordered_map<std::uint32_t, std::unique_ptr<Slot>> slots_;
  std::vector<std::unique_ptr<Slot>> spent_, free_;
  std::size_t bytes_ = 0;  // memory of all slots' lists
  bool stop_ = false;
  std::vector<std::jthread> helpers_;
};

}  // namespace fkt
