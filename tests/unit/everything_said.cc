// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/everything_said.h"

#include "lib/report/report_csv.h"
#include "lib/report/report_text.h"

namespace fkt::test {

std::string everything_said(const Recording& trace, const Analysis& analysis) {
  const TimeFormat time(TimeUnit::cycles, trace.info().clocks.ticks_per_second());
  const Summary summary = summarize(analysis, trace.integrity(), false);
  TextWriter out;
  write_report(out, summary, analysis, time);
  write_counts(out, count_events(analysis));
  out.put(report_json(summary, analysis, time));
  for (TypeIndex type = 0; type < analysis.types().size(); type++) {
    const SpanStats& stats = analysis.profile().stats(type);
    out.put(analysis.types()[type].name);
    for (const std::uint64_t number :
         {stats.entries, stats.self.sum, stats.self.min, stats.self_whole, stats.sub,
          stats.blocked.ticks, stats.preempted.ticks, stats.unknown.count, stats.unknown.ticks,
          stats.percentile(50), stats.percentile(99)}) {
      out.put(' ');
      out.number(number);
    }
    for (const Child& child : stats.children) {
      out.put('/');
      out.number(child.type);
      out.put(' ');
      out.number(child.count);
      out.put(' ');
      out.number(child.ticks);
    }
    out.put('\n');
  }
  for (const std::string& note : trace.integrity().notes) out.put(note + "\n");
  out.number(trace.integrity().events);
  return std::string(out.view());
}

}  // namespace fkt::test
