// SPDX-License-Identifier: GPL-2.0-only
// Table of when each page of a recording was filled (fkt_print -t).
#pragma once

#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/read/recording.h"

namespace fkt {

// Writes a title that begins with "#", then a line per page in file order, columns separated by
// tabs: page number (from 0; fkt_extract --pages takes it), CPU, first and last time since the
// recording's start in the format's unit, number of events. Uses only the index: no page is read.
void write_page_table(TextWriter& out, const Recording& recording, const TimeFormat& time);

}  // namespace fkt
