// SPDX-License-Identifier: GPL-2.0-only
#include "lib/read/clock_events.h"

#include <algorithm>

#include <fkt/events.h>

#include "lib/read/page_decoder.h"

namespace fkt {
namespace {

void read_page(const Page& page, const WordTable& table, std::vector<ClockPair>& pairs) {
  PageDecoder decoder(table, page);
  Event event;
  for (;;) {
    const PageDecoder::Step step = decoder.next(event);
    if (step == PageDecoder::Step::end || step == PageDecoder::Step::damaged) return;
    if (step != PageDecoder::Step::event || event.id != FKT_E_CLOCK) continue;
    pairs.push_back({event.clock, event.words[0], event.words[1], event.words[2]});
  }
}

}  // namespace

TraceInfo info_with_clock_events(const Trace& trace) {
  TraceInfo info = trace.info();
  for (const PageRef& ref : trace.pages()) {
    const Result<Page> page = trace.page(ref);
    if (page) read_page(*page, trace.words(), info.clocks.between);
    trace.passed(ref);
  }
  std::ranges::sort(info.clocks.between, {}, &ClockPair::clock);
  return info;
}

}  // namespace fkt
