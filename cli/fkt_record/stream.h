// SPDX-License-Identifier: GPL-2.0-only
// Pages fetched from the device and sent on to a pipe or whatever else standard output is, without
// a copy where the kernel can do it.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "lib/result.h"

namespace fkt::record {

class Stream {
 public:
  // Both descriptors stay the caller's. The device's reads must not block (O_NONBLOCK).
  Stream(int device, int out, std::string name);

  enum class Moved {
    some,    // and there may be more
    later,   // nothing now: poll with device_events() and out_events()
    end,     // the recording is stopped, and everything is sent
    closed,  // the reader has gone
  };
  Result<Moved> move();

  // What to wait for before the next move().
  short device_events() const { return reader_is_slow_ ? 0 : POLLIN; }
  short out_events() const { return reader_is_slow_ ? POLLOUT : 0; }

 private:
  enum class Way { splice, sendfile, copy };
  ssize_t move_once();
  ssize_t copy_once();

  int device_;
  int out_;
  std::string name_;
  Way way_;
  bool reader_is_slow_ = false;
  std::vector<std::byte> buffer_;  // Way::copy's
};

}  // namespace fkt::record
