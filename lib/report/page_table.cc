// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/page_table.h"

#include "lib/format/clocks.h"

namespace fkt {

void write_page_table(TextWriter& out, const Recording& recording, const TimeFormat& time) {
  const std::uint64_t start = recording_start(recording.info());
  const auto since_start = [&](std::uint64_t clock) {
    time.put(out, clock > start ? clock - start : 0);
    out.put('\t');
  };
  out.put("# page\tcpu\tfrom\tto\tevents; times in ");
  out.put(time.unit());
  out.put('\n');
  std::uint64_t number = 0;
  for (const PageRef& page : recording.pages()) {
    out.number(number++);
    out.put('\t');
    out.number(page.cpu);
    out.put('\t');
    since_start(page.first_clock);
    since_start(page.end_clock);
    out.number(page.events);
    out.put('\n');
  }
}

}  // namespace fkt
