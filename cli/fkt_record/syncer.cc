// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/syncer.h"

#include <errno.h>
#include <unistd.h>

namespace fkt::record {

Syncer::Syncer(int fd, std::chrono::nanoseconds period, Written written, Tell tell)
    : fd_(fd),
      written_(std::move(written)),
      tell_(std::move(tell)),
      thread_([this, period] { run(period); }) {}

Syncer::~Syncer() {
  stop();
}

int Syncer::stop() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  return error_;
}

void Syncer::run(std::chrono::nanoseconds period) {
  std::uint64_t safe = 0;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, period, [this] { return ends_; })) {
    lock.unlock();
    const std::uint64_t written = written_();
    // Nothing new: a sync would only wake the disk.
    if (written != safe && ::fdatasync(fd_) == 0) {
      safe = written;
      tell_(safe);
    } else if (written != safe && error_ == 0) {
      error_ = errno;
    }
    lock.lock();
  }
}

}  // namespace fkt::record
