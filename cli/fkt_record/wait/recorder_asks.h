// SPDX-License-Identifier: GPL-2.0-only
// What other processes ask of this recorder: fkt_snapshot, fkt_instrument.
#pragma once

#include <optional>

#include "lib/base/unique_fd.h"
#include "lib/record/recorder_protocol.h"

namespace fkt::record {

class RecorderAsks {
 public:
  // Listens from now on. If that fails, prints a warning; the recording goes on without it.
  RecorderAsks();

  // When readable, the caller has to call take().
  int fd() const { return listen_.get(); }

  struct Ask {
    ReceivedAsk received;
    UniqueFd connection;  // gets the answer
  };
  // Takes one, and waits for at most a second for what comes with it. Answers those that are
  // refused: nothing is returned then.
  std::optional<Ask> take();
  // Takes no further ones.
  void end() { listen_.reset(); }

 private:
  UniqueFd listen_;
};

}  // namespace fkt::record
