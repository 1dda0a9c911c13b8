// SPDX-License-Identifier: GPL-2.0-only
// Reads pages from the device and writes them to a pipe or other standard output, without copying
// where splice(2) or sendfile(2) is possible.
#pragma once

#include <poll.h>

#include <string>
#include <vector>

#include "lib/base/result.h"

namespace fkt::record {

class FetchStream {
 public:
  // The caller keeps ownership of both descriptors. The device must be non-blocking (O_NONBLOCK).
  FetchStream(int device, int out, std::string name);

  enum class Moved {
    some,    // moved some, there may be more
    later,   // nothing possible now: poll with device_events() and out_events()
    end,     // the recording is stopped and everything is written
    closed,  // the reader has closed the pipe
  };
  // Moves at most 1 MiB.
  Result<Moved> move();
  // Called after the recording's stop: moves all that is left, however slow the reader is. Error
  // (io): the reader has closed the pipe, or `give_up` has become readable.
  Status move_rest(int give_up);

  // The events to poll for before the next move().
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
  std::vector<std::byte> buffer_;  // for Way::copy
};

}  // namespace fkt::record
