// SPDX-License-Identifier: GPL-2.0-only
// Measures how much of a recording is made by the recorder itself. If writing a page causes about a
// page of events, the recording feeds on itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <fkt/ioctl.h>

namespace fkt::record {

// The share of bytes recorded by the recorder's own activity, in percent of the pages the module
// has sampled; nothing if it has sampled none.
std::optional<double> self_percent(const fkt_status& status);

class SelfLoad {
 public:
  // Called about once a second. Returns the warning, only once, when at least half of the bytes
  // sampled since the previous call are the recorder's own and enough bytes were sampled.
  std::optional<std::string> look(const fkt_status& status);

 private:
  std::uint64_t sampled_bytes_ = 0, own_ = 0;
  bool told_ = false;
};

}  // namespace fkt::record
