// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/sink/page_packer.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <new>

#include "lib/base/event_fd.h"
#include "lib/base/os_error.h"

namespace fkt::record {
namespace {

constexpr std::align_val_t kAlign{FKT_FILE_ALIGN};

std::uint64_t thread_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

GroupBuffer::GroupBuffer(std::size_t bytes)
    : data_(static_cast<std::byte*>(::operator new(bytes, kAlign))), size_(bytes) {}

void GroupBuffer::Free::operator()(std::byte* data) const {
  ::operator delete(data, kAlign);
}

Result<std::unique_ptr<PagePacker>> PagePacker::start(int level, unsigned threads,
                                                      std::uint32_t page_bytes,
                                                      std::uint64_t group_bytes) {
  std::vector<GroupPacker> packers;
  for (unsigned i = 0; i < threads; i++) {
    auto packer = FKT_TRY(GroupPacker::make(level));
    packers.push_back(std::move(packer));
  }
  UniqueFd event = make_event_fd();
  if (!event) return os_failure("eventfd");
  return std::unique_ptr<PagePacker>(new PagePacker(
      std::move(packers), std::move(event), page_bytes,
      std::clamp<std::size_t>(group_bytes / page_bytes, 1, FKT_GROUP_MAX_BYTES / page_bytes)));
}

PagePacker::PagePacker(std::vector<GroupPacker> packers, UniqueFd event, std::uint32_t page_bytes,
                       std::size_t pages_per_group)
    : pages_per_group_(pages_per_group),
      buffer_bytes_(group_bound(pages_per_group_ * page_bytes)),
      event_(std::move(event)) {
  for (GroupPacker& packer : packers) {
    threads_.emplace_back([this](GroupPacker own) { work(std::move(own)); }, std::move(packer));
  }
}

PagePacker::~PagePacker() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
}

void PagePacker::put(std::span<const LentPage> pages) {
  assert(pages.size() <= pages_per_group_);
  jobs_.push_back(std::make_unique<Job>(
      Job{{{pages.begin(), pages.end()}, GroupBuffer(buffer_bytes_), 0, {}}}));
  {
    const std::lock_guard lock(mutex_);
    todo_.push_back(jobs_.back().get());
  }
  wake_.notify_one();
}

std::optional<PackedGroup> PagePacker::take(bool wait) {
  std::uint64_t count = 0;
  (void)!::read(event_.get(), &count, sizeof count);
  if (jobs_.empty()) return {};
  Job& oldest = *jobs_.front();
  {
    std::unique_lock lock(mutex_);
    if (wait) finished_.wait(lock, [&] { return oldest.done; });
    if (!oldest.done) return {};
  }
  PackedGroup group = std::move(oldest.group);
  jobs_.pop_front();
  return group;
}

std::uint64_t PagePacker::cpu_ns() const {
  const std::lock_guard lock(mutex_);
  return cpu_ns_;
}

void PagePacker::pack(GroupPacker& packer, PackedGroup& group) const {
  std::vector<ByteView> views;
  for (const LentPage& page : group.pages) views.push_back(page.bytes);
  const Result<std::size_t> size = packer.pack({}, views, group.buffer.bytes());
  if (size) {
    group.bytes = *size;
  } else {
    group.fault = size.error().message;
  }
}

void PagePacker::work(GroupPacker packer) {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return ends_ || !todo_.empty(); });
    if (ends_) return;
    Job* job = todo_.front();
    todo_.pop_front();
    lock.unlock();
    const std::uint64_t before = thread_ns();
    pack(packer, job->group);
    const std::uint64_t used = thread_ns() - before;
    lock.lock();
    cpu_ns_ += used;
    job->done = true;
    finished_.notify_one();
    signal_event(event_);
  }
}

}  // namespace fkt::record
