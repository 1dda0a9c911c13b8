// SPDX-License-Identifier: GPL-2.0-only
// The head of KFT's text log: when the recording began and ended, and what its filters dropped.
// Its lines of calls are those of lib/calls/call_trace.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/read/recording.h"

namespace fkt {

struct KftEnds {
  // The hit of a trigger; nothing: the recording itself.
  struct Hit {
    std::uint64_t clock = 0;  // ticks
    std::uint32_t instrument = 0;
  };
  std::optional<Hit> begin, end;
};

// Reads the recording for the hits of triggers, if it had any.
KftEnds find_kft_ends(const Recording& recording);

// Lines that end with a newline, up to the line of dashes below the columns' titles.
std::string kft_head(const Recording& recording, const KftEnds& ends);

}  // namespace fkt
