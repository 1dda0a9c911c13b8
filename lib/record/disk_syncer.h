// SPDX-License-Identifier: GPL-2.0-only
// Makes written pages survive a power cut: direct writes into space allocated ahead are lost until
// the file system's journal has committed the extents.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt {

// A thread that calls fdatasync(2) once per period, until a call fails: the kernel reports only
// once that it could not write something, so the success of a later call would mean nothing.
class DiskSyncer {
 public:
  // written: returns the number of pages in the file; called by the thread just before it syncs.
  // sync: returns 0 or errno. tell: called after each sync with the number of pages that survive a
  // power cut.
  using Written = std::function<std::uint64_t()>;
  using Tell = std::function<void(std::uint64_t)>;
  using Sync = std::function<int()>;
  static Result<std::unique_ptr<DiskSyncer>> start(Sync sync, std::chrono::nanoseconds period,
                                                   Written written, Tell tell);
  DiskSyncer(const DiskSyncer&) = delete;
  DiskSyncer& operator=(const DiskSyncer&) = delete;
  ~DiskSyncer();

  // Becomes readable when a sync has failed.
  int fd() const { return failed_.get(); }
  // Ends the thread. Returns the errno of the sync that failed, or 0.
  int stop();
  // Number of pages that are safe; valid after stop().
  std::uint64_t safe() const { return safe_; }

 private:
  DiskSyncer(Sync sync, std::chrono::nanoseconds period, Written written, Tell tell,
             UniqueFd failed);
  void run(std::chrono::nanoseconds period);

  Sync sync_;
  Written written_;
  Tell tell_;
  UniqueFd failed_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;  // protected by mutex_
  // Written by the thread only; others may read them after it has ended.
  int error_ = 0;
  std::uint64_t safe_ = 0;
  std::thread thread_;
};

}  // namespace fkt
