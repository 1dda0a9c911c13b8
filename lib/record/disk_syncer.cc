// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/disk_syncer.h"

#include "lib/base/event_fd.h"
#include "lib/base/os_error.h"

namespace fkt {

Result<std::unique_ptr<DiskSyncer>> DiskSyncer::start(Sync sync, std::chrono::nanoseconds period,
                                                      Written written, Tell tell) {
  UniqueFd failed = make_event_fd();
  if (!failed) return os_failure("eventfd");
  return std::unique_ptr<DiskSyncer>(new DiskSyncer(std::move(sync), period, std::move(written),
                                                    std::move(tell), std::move(failed)));
}

DiskSyncer::DiskSyncer(Sync sync, std::chrono::nanoseconds period, Written written, Tell tell,
                       UniqueFd failed)
    : sync_(std::move(sync)),
      written_(std::move(written)),
      tell_(std::move(tell)),
      failed_(std::move(failed)),
      thread_([this, period] { run(period); }) {}

DiskSyncer::~DiskSyncer() {
  stop();
}

int DiskSyncer::stop() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  return error_;
}

void DiskSyncer::run(std::chrono::nanoseconds period) {
  std::unique_lock lock(mutex_);
  while (error_ == 0 && !wake_.wait_for(lock, period, [this] { return ends_; })) {
    lock.unlock();
    const std::uint64_t written = written_();
    // Without new pages a sync would only wake the disk.
    if (written != safe_) error_ = sync_();
    if (error_ != 0) {
      signal_event(failed_);
    } else if (written != safe_) {
      tell_(safe_ = written);
    }
    lock.lock();
  }
}

}  // namespace fkt
