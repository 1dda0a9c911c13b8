// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/progress.h"

#include <unistd.h>

#include <cstdio>

#include "lib/base/text.h"

namespace fkt::cli {

Progress::Progress(std::string what)
    : what_(printable(what)), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::update(std::uint64_t done, std::uint64_t total) {
  if (!terminal_ || total == 0) return;
  const auto now = std::chrono::steady_clock::now();
  // Shows nothing in the first half second, so that short work leaves no trace on the terminal.
  if (next_ == std::chrono::steady_clock::time_point{}) {
    next_ = now + std::chrono::milliseconds(500);
  }
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(200);
  const double percent = 100. * static_cast<double>(done) / static_cast<double>(total);
  std::fprintf(stderr, "\r%s %.0f %%\033[K", what_.c_str(), percent);
  shown_ = true;
}

}  // namespace fkt::cli
