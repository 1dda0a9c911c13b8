// SPDX-License-Identifier: GPL-2.0-only
// Groups of lent pages, compressed on other CPUs by threads of their own, and handed back in order.
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

#include "cli/fkt_record/lent_pages.h"
#include "lib/group.h"
#include "lib/unique_fd.h"

namespace fkt::record {

// Memory for a group, aligned for O_DIRECT.
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
  std::size_t bytes = 0;  // of the buffer, which place_group() still has to sign
  std::string fault;      // not empty: it could not be compressed
};

class PagePacker {
 public:
  // level: GroupPacker's; group_bytes: of pages to a group.
  static Result<std::unique_ptr<PagePacker>> start(int level, unsigned threads,
                                                   std::uint32_t page_bytes,
                                                   std::uint64_t group_bytes);
  ~PagePacker();
  PagePacker(const PagePacker&) = delete;
  PagePacker& operator=(const PagePacker&) = delete;

  std::size_t pages_per_group() const { return pages_per_group_; }
  // Groups that are not handed back yet.
  std::size_t waiting() const { return jobs_.size(); }
  // At most pages_per_group() pages.
  void put(std::span<const LentPage> pages);
  // Readable when one may be finished.
  int fd() const { return event_.get(); }
  // The oldest one, if it is finished; with `wait`, as soon as it is.
  std::optional<PackedGroup> take(bool wait);
  // CPU time of the threads so far (ns).
  std::uint64_t cpu_ns() const;

 private:
  struct Job {
    PackedGroup group;
    bool done = false;  // under the mutex
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
  std::deque<std::unique_ptr<Job>> jobs_;  // in order; changed by the caller's thread alone
  std::deque<Job*> todo_;                  // under the mutex
  bool ends_ = false;
  std::uint64_t cpu_ns_ = 0;  // of jobs that are done
  std::vector<std::jthread> threads_;
};

}  // namespace fkt::record
