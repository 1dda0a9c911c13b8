// SPDX-License-Identifier: GPL-2.0-only
// Does the recording feed on itself? When writing a page makes about a page's worth of events,
// there is more and more to write (FKT report, section 8.2.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <fkt/ioctl.h>

namespace fkt::record {

// How much of what was recorded the recording made itself, in percent of a sample of its pages;
// nothing: no page was looked at.
std::optional<double> own_percent(const fkt_status& status);

class OwnShare {
 public:
  // Looked at about once a second. The warning, once: half of what is recorded since the last look,
  // or more, is the recording's own, and it is much.
  std::optional<std::string> look(const fkt_status& status);

 private:
  std::uint64_t looked_at_ = 0, own_ = 0;
  bool told_ = false;
};

}  // namespace fkt::record
