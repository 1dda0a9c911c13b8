// SPDX-License-Identifier: GPL-2.0-only
// What is written gets onto the disk, not only into it: direct writes into space allocated ahead
// are lost in a power cut until the file system's journal has committed the extents.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "lib/result.h"
#include "lib/unique_fd.h"

namespace fkt {

// A thread that calls fdatasync(2) once per period, until one fails: the kernel says it only once
// that it could not write something, and what a later one says is worth nothing.
class Syncer {
 public:
  // written: pages in the file; called by the thread, just before it syncs. sync: 0, or why not
  // (errno). tell: each time, how many are safe now.
  using Written = std::function<std::uint64_t()>;
  using Tell = std::function<void(std::uint64_t)>;
  using Sync = std::function<int()>;
  static Result<std::unique_ptr<Syncer>> start(Sync sync, std::chrono::nanoseconds period,
                                               Written written, Tell tell);
  Syncer(const Syncer&) = delete;
  Syncer& operator=(const Syncer&) = delete;
  ~Syncer();

  // Readable when a sync has failed.
  int fd() const { return failed_.get(); }
  // Ends the thread; the errno of the sync that failed, or 0.
  int stop();
  // How many pages are safe; after stop().
  std::uint64_t safe() const { return safe_; }

 private:
  Syncer(Sync sync, std::chrono::nanoseconds period, Written written, Tell tell, UniqueFd failed);
  void run(std::chrono::nanoseconds period);

  Sync sync_;
  Written written_;
  Tell tell_;
  UniqueFd failed_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;  // under mutex_
  // The thread's, until it has ended:
  int error_ = 0;
  std::uint64_t safe_ = 0;
  std::thread thread_;
};

}  // namespace fkt
