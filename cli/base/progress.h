// SPDX-License-Identifier: GPL-2.0-only
// Shows on a terminal how much of a file a tool has read.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace fkt::cli {

// Shows "reading 42 %" on stderr a few times per second if stderr is a terminal. The destructor
// clears the line.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void update(std::uint64_t done, std::uint64_t total);

 private:
  std::string what_;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace fkt::cli
