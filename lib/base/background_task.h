// SPDX-License-Identifier: GPL-2.0-only
// A function that runs in a thread of its own.
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

  // Waits for the previous function, then starts this one.
  template <class Function>
  void start(Function function) {
    wait();
    thread_ = std::thread(std::move(function));
  }
  // Waits until no function runs. Afterwards the data that the last one wrote can be read.
  void wait() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace fkt
