// SPDX-License-Identifier: GPL-2.0-only
// The readings of all clocks during the recording: events that the module writes each minute and
// after the machine slept. The wall clock may be set while recording; by them its times are right.
#pragma once

#include "lib/format/metadata.h"
#include "lib/read/recording.h"

namespace fkt {

// Returns what recording.info() says of it, with the clocks' readings in the events, which all
// pages are decoded for. Damage is not counted: it is when the pages are read.
RecordingInfo info_with_clock_events(const Recording& recording);

}  // namespace fkt
