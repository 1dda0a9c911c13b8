// SPDX-License-Identifier: GPL-2.0-only
// CoverDevice: /dev/fkt_cover of the module fkt_splices, which marks instructions that are
// executed.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <fkt/ioctl.h>

#include "lib/base/result.h"
#include "lib/base/unique_fd.h"

namespace fkt {

class CoverDevice {
 public:
  // Opens the device and checks that the module has this tool's FKT_ABI_VERSION. Error (io): there
  // is none, or it must not be opened, and what to do.
  static Result<CoverDevice> open();

  // Begins to watch the instructions at these addresses, which ascend, and are at most
  // FKT_COVER_MOST. Can be called once. Returns how many the kernel does not refuse.
  Result<std::uint32_t> arm(std::span<const std::uint64_t> addresses);
  // Returns an fkt_cover_state for each address. What was hit is not watched any more.
  Result<std::string> states() const;

 private:
  explicit CoverDevice(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  std::size_t count_ = 0;
};

}  // namespace fkt
