// SPDX-License-Identifier: GPL-2.0-only
// SVG picture of the recording's page buffers over time. The upper panel shows sums, which grow
// with the recording; the lower one shows the numbers of free and waiting pages at each moment,
// which stay readable in a long recording.
#pragma once

#include "lib/analyse/buffer_use.h"
#include "lib/base/text_writer.h"

namespace fkt {

// Writes the picture; each column is one pixel wide. zero: full stamp (ticks) of time 0 on the
// axis. title: the picture's heading. The picture follows the viewer's light or dark colour scheme.
// Precondition: columns.finish() was called.
void write_buffer_picture(TextWriter& out, const BufferColumns& columns, std::uint64_t zero,
                          double ticks_per_second, std::string_view title);

}  // namespace fkt
