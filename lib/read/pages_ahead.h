// SPDX-License-Identifier: GPL-2.0-only
// The pages of a range that is read from its begin to its end, prepared by another thread: it
// checks them, unpacks those of compressed groups and splits those with events of whole calls
// (lib/read/split_pages.h), while the reader decodes earlier ones.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/base/result.h"
#include "lib/read/page_decoder.h"
#include "lib/read/recording.h"

namespace fkt {

struct RecordingData;

class PagesAhead {
 public:
  // For pages with events in from <= clock < to (ticks). `data` must outlive this object. taker:
  // called with each page of the range when it has been read, by either thread; may be empty.
  PagesAhead(const RecordingData& data, std::uint64_t from, std::uint64_t to, PageTaker taker = {});
  ~PagesAhead();
  PagesAhead(const PagesAhead&) = delete;
  PagesAhead& operator=(const PagesAhead&) = delete;

  // Returns RecordingData::page(number). For one thread; quickest if pages are asked for once each
  // and by the times at which they begin.
  Result<Page> page(std::uint32_t number);

 private:
  static constexpr std::uint32_t kAhead = 32;  // pages that wait for the reader at most
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  void work();
  Result<Page> read(std::uint32_t number) const;
  // Returns the place in order_ of the next page to prepare; kNowhere: there is none, or too many
  // pages wait already. Caller must hold the lock.
  std::uint32_t next();

  const RecordingData& data_;
  const PageTaker taker_;
  std::vector<std::uint32_t> order_;  // pages by their first clock
  std::vector<std::uint32_t> rank_;   // by page: its place in order_; kNowhere: not in the range

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> claimed_;  // by place in order_: prepared, being prepared, or read otherwise
  std::map<std::uint32_t, Result<Page>> ready_;  // by place in order_
  std::uint32_t next_ = 0;                       // place in order_
  std::uint32_t waiting_ = 0;                    // pages that are ready, or being prepared
  bool stop_ = false;
  std::jthread worker_;
};

}  // namespace fkt
