// SPDX-License-Identifier: GPL-2.0-only
// Parses the sections that describe a recording into a RecordingInfo.
#pragma once

#include "lib/base/result.h"
#include "lib/format/metadata.h"
#include "lib/format/sections.h"

namespace fkt {

// Adds the contents of a section to `info`. Unknown types of sections, and the index, are ignored.
// Error (damaged): says which section and why; what `info` held before stays.
Status add_section(const Section& section, RecordingInfo& info);

}  // namespace fkt
