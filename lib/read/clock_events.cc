// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/clock_events.h"

#include <algorithm>

#include <fkt/events.h>

#include "lib/read/page_decoder.h"

namespace fkt {
RecordingInfo info_with_clock_events(const Recording& recording) {
  RecordingInfo info = recording.info();
  for (const PageRef& ref : recording.pages()) {
    const Result<Page> page = recording.page(ref);
    if (!page) continue;
    for_each_event(recording.words(), *page, [&info](const Event& event) {
      // How many words it has is what the file's own catalogue says.
      if (event.id != FKT_E_CLOCK || event.words.size() < FKT_N_CLOCK) return;
      info.clocks.between.push_back({event.clock, event.words[0], event.words[1], event.words[2]});
    });
    recording.passed(ref);
  }
  std::ranges::sort(info.clocks.between, {}, &ClockPair::clock);
  return info;
}

}  // namespace fkt
