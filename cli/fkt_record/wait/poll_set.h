// SPDX-License-Identifier: GPL-2.0-only
// Waits at several descriptors, and tells what happened at each of them.
#pragma once

#include <poll.h>

#include <cstddef>
#include <vector>

namespace fkt::record {

class PollSet {
 public:
  // Adds a descriptor to wait at. fd: -1 is one where nothing ever happens. events: flags of
  // poll(2). Returns its place.
  std::size_t add(int fd, short events = POLLIN);
  // Waits until something has happened at one of them. Returns false if the wait failed, as when a
  // signal came.
  bool wait();
  // What happened at the descriptor in this place during the last wait: flags of poll(2), POLLERR,
  // POLLHUP and POLLNVAL among them; 0 before the first one.
  short operator[](std::size_t place) const { return fds_[place].revents; }

 private:
  std::vector<pollfd> fds_;
};

}  // namespace fkt::record
