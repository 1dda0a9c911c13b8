// SPDX-License-Identifier: GPL-2.0-only
// The recording's buffers over time as SVG: the 2005 report's figure 10 above; below, which stays
// readable however long the recording was, how many pages there were, free and waiting.
#pragma once

#include "lib/buffer_use.h"
#include "lib/writer.h"

namespace fkt {

// One pixel wide columns. zero: of the times shown (full stamp). The page follows the reader's
// choice of light or dark. Precondition: columns are finished.
void write_buffer_picture(Writer& out, const BufferColumns& columns, std::uint64_t zero,
                          double ticks_per_second, std::string_view title);

}  // namespace fkt
