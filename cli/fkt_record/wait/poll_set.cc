// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/wait/poll_set.h"

namespace fkt::record {

std::size_t PollSet::add(int fd, short events) {
  fds_.push_back({fd, events, 0});
  return fds_.size() - 1;
}

bool PollSet::wait() {
  return ::poll(fds_.data(), fds_.size(), -1) >= 0;
}

}  // namespace fkt::record
