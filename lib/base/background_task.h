// SPDX-License-Identifier: GPL-2.0-only
// Work that goes on while its owner does something else.
#pragma once

#include <thread>
#include <utility>

namespace fkt {

// Runs one function at a time in a thread of its own. What the function uses must outlive this
// object, which waits for it when it is destroyed. To be used by one thread.
class BackgroundTask {
 public:
  BackgroundTask() = default;
  BackgroundTask(const BackgroundTask&) = delete;
  BackgroundTask& operator=(const BackgroundTask&) = delete;
  ~BackgroundTask() { wait(); }

  // Waits for the function before, then starts this one.
  template <class Function>
  void start(Function function) {
    wait();
    thread_ = std::thread(std::move(function));
  }
  // Waits until no function runs. What the last one wrote can be read then.
  void wait() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace fkt
