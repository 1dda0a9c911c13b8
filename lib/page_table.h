// SPDX-License-Identifier: GPL-2.0-only
// When each page of a recording was filled: fkt_print -t, as in the 2005 system.
#pragma once

#include "lib/time_format.h"
#include "lib/trace.h"
#include "lib/writer.h"

namespace fkt {

// A title that begins with "#", then a line a page, in file order, columns separated by tabs:
// number (from 0; fkt_extract --pages takes it), CPU, first and last moment since the recording's
// start in the format's unit, events. From the index alone: no page is read.
void write_page_table(Writer& out, const Trace& trace, const TimeFormat& time);

}  // namespace fkt
