// SPDX-License-Identifier: GPL-2.0-only
// The sections that describe a recording, made into a TraceInfo.
#pragma once

#include "lib/result.h"
#include "lib/sections.h"
#include "lib/trace.h"

namespace fkt {

// Adds what a section says to `info`; types that this program does not know, and the index, are
// passed over. On error `info` keeps what it had (code damaged: which section, why).
Status add_section(const Section& section, TraceInfo& info);

}  // namespace fkt
