// SPDX-License-Identifier: GPL-2.0-only
// What other processes ask of this recorder: fkt_snapshot, fkt_instrument.
#pragma once

#include <optional>

#include "lib/base/unique_fd.h"
#include "lib/record/recorder_protocol.h"

namespace fkt::record {

class RecorderAsks {
 public:
  // Listens from now on. If that fails, prints a warning and takes no requests.
  RecorderAsks();

  // When readable, the caller has to call take().
  int fd() const { return listen_.get(); }

  struct Ask {
    ReceivedAsk received;
    UniqueFd connection;  // gets the answer
  };
  // Takes a request; waits at most a second for its message and file. Returns nothing if it is
  // refused, after answering it.
  std::optional<Ask> take();
  // Stops listening.
  void end() { listen_.reset(); }

 private:
  UniqueFd listen_;
};

}  // namespace fkt::record
