// SPDX-License-Identifier: GPL-2.0-only
// Compresses lent pages in groups with a pool of threads, and returns the groups in order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "cli/fkt_record/sink/lent_pages.h"
#include "lib/base/unique_fd.h"
#include "lib/format/page_group.h"

namespace fkt::record {

// Memory for one compressed group, aligned for O_DIRECT.
class GroupBuffer {
 public:
  explicit GroupBuffer(std::size_t bytes);
  std::span<std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_;
};

struct PackedGroup {
  std::vector<LentPage> pages;
  GroupBuffer buffer;
  std::size_t bytes = 0;  // used bytes of the buffer; place_group() has to complete its header
  std::string fault;      // error message; empty if compression succeeded
};

class PagePacker {
 public:
  // level: zstd level of GroupPacker. threads: number of threads. group_bytes: bytes of pages per
  // group.
  static Result<std::unique_ptr<PagePacker>> start(int level, unsigned threads,
                                                   std::uint32_t page_bytes,
                                                   std::uint64_t group_bytes);
  ~PagePacker();
  PagePacker(const PagePacker&) = delete;
  PagePacker& operator=(const PagePacker&) = delete;

  std::size_t pages_per_group() const { return pages_per_group_; }
  // Number of groups that take() has not returned yet.
  std::size_t waiting() const { return jobs_.size(); }
  // Queues a group of at most pages_per_group() pages for compression.
  void put(std::span<const LentPage> pages);
  // Readable when a group may be finished.
  int fd() const { return event_.get(); }
  // Returns the oldest group if it is finished; with `wait`, waits until it is. Returns nothing if
  // there is no group.
  std::optional<PackedGroup> take(bool wait);
  // CPU time of the threads so far (ns).
  std::uint64_t cpu_ns() const;

 private:
  struct Job {
    PackedGroup group;
    bool done = false;  // protected by mutex_
  };
  PagePacker(std::vector<GroupPacker> packers, UniqueFd event, std::uint32_t page_bytes,
             std::size_t pages_per_group);
  void work(GroupPacker packer);
  void pack(GroupPacker& packer, PackedGroup& group) const;

  const std::size_t pages_per_group_;
  const std::size_t buffer_bytes_;
  UniqueFd event_;
  mutable std::mutex mutex_;
  std::condition_variable wake_, finished_;
  // Oldest first; accessed by the thread that calls put() and take() only.
  std::deque<std::unique_ptr<Job>> jobs_;
  std::deque<Job*> todo_;  // protected by mutex_
  bool ends_ = false;
  std::uint64_t cpu_ns_ = 0;  // of completed jobs; protected by mutex_
  std::vector<std::jthread> threads_;
};

}  // namespace fkt::record
