// SPDX-License-Identifier: GPL-2.0-only
// What is written gets onto the disk, not only into it: direct writes into space allocated ahead
// are lost in a power cut until the file system's journal has committed the extents.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "lib/result.h"

namespace fkt::record {

// A thread that calls fdatasync(2) once per period, for as long as the object lives.
class Syncer {
 public:
  // written: pages in the file; called by the thread, just before it syncs. fd stays the caller's.
  // tell: each time, how many are safe now.
  using Written = std::function<std::uint64_t()>;
  using Tell = std::function<void(std::uint64_t)>;
  Syncer(int fd, std::chrono::nanoseconds period, Written written, Tell tell);
  Syncer(const Syncer&) = delete;
  Syncer& operator=(const Syncer&) = delete;
  ~Syncer();

  // Ends the thread; the errno of the first sync that failed, or 0.
  int stop();

 private:
  void run(std::chrono::nanoseconds period);

  int fd_;
  Written written_;
  Tell tell_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;  // under mutex_
  int error_ = 0;      // the thread's, until it has ended
  std::thread thread_;
};

}  // namespace fkt::record
