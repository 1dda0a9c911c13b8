// SPDX-License-Identifier: GPL-2.0-only
// Limits that follow from a condition: it is false for calls outside of them, so these can be
// dropped without running the program.
#pragma once

#include <cstdint>

#include <fkt/program.h>

#include "lib/instrument/hit_test.h"

namespace fkt {

constexpr unsigned kLevels = FKT_LEVEL_NMI + 1;

struct CallLimits {
  std::uint64_t shortest = 0;  // ticks: it is false for all shorter calls
  std::uint32_t deepest = 0;   // it is false for all calls that are deeper in their task; 0: none
  std::uint32_t contexts = (1U << kLevels) - 1;  // bits of enum fkt_level: it is false in others
};

// Narrows the limits by a test that must hold.
void narrow(CallLimits& limits, const HitTest& test);

}  // namespace fkt
