// SPDX-License-Identifier: GPL-2.0-only
// The clock of user programs' events. In a recording without the kernel module: the TSC where the
// kernel itself uses it, else CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

#include <fkt/ioctl.h>
#include <fkt/user_ring.h>

#include "lib/base/result.h"

namespace fkt::record {

class UserClock {
 public:
  explicit UserClock(fkt_clock_source source);
  // Returns the source for a recording without the module. wanted: FKT_CLOCK_TSC where it can be
  // used.
  static fkt_clock_source usable(fkt_clock_source wanted);

  fkt_clock_source source() const { return source_; }
  fkt_user_clock of_rings() const {
    return source_ == FKT_CLOCK_TSC ? FKT_USER_TSC : FKT_USER_MONO;
  }
  std::uint64_t now() const;  // ticks
  // Returns all clocks at this moment, and the rate measured since the constructor. Waits if that
  // is too short a time for a good measurement.
  fkt_clocks read() const;

 private:
  fkt_clocks values() const;

  fkt_clock_source source_;
  fkt_clocks first_{};
};

}  // namespace fkt::record
