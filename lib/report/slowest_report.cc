// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/slowest_report.h"

#include <algorithm>

namespace fkt {
namespace {

constexpr std::size_t kTime = 16;  // column widths
constexpr std::size_t kDuration = 15;
constexpr std::size_t kTask = 15;

std::uint64_t since(const FoundSpan& span, std::uint64_t start) {
  return span.begin > start ? span.begin - start : 0;
}

}  // namespace

void SlowestTable::text(TextWriter& out) const {
  out.put("The slowest ");
  out.escaped(name);
  out.put(", in ");
  out.put(time.unit());
  out.put('\n');
  out.right("From", kTime);
  out.right("To", kTime);
  out.right("Duration", kDuration);
  out.put(" CPU     Pid ");
  out.left("Task", kTask);
  out.put(" Name\n");
  for (const FoundSpan& span : spans) {
    const std::uint64_t from = since(span, start);
    time.right(out, from, kTime);
    time.right(out, from + span.duration, kTime);
    time.right(out, span.duration, kDuration);
    out.right(span.cpu, 4);
    out.right(span.pid, 8);
    out.put(' ');
    TextWriter task;
    task.escaped(span.task);
    out.left(task.view(), kTask);
    out.put(' ');
    out.escaped(span.name);
    out.put('\n');
  }
}

void SlowestTable::json(TextWriter& out) const {
  for (const FoundSpan& span : spans) {
    out.put("{\"time\":");
    time.put(out, since(span, start));
    out.put(",\"duration\":");
    time.put(out, span.duration);
    out.put(",\"cpu\":");
    out.number(span.cpu);
    out.put(",\"pid\":");
    out.number(span.pid);
    out.put(",\"task\":");
    out.json(span.task);
    out.put(",\"name\":");
    out.json(span.name);
    out.put("}\n");
  }
}

void SlowestTable::csv(TextWriter& out) const {
  out.put("time,duration,cpu,pid,task,name\r\n");
  for (const FoundSpan& span : spans) {
    time.put(out, since(span, start));
    out.put(',');
    time.put(out, span.duration);
    out.put(',');
    out.number(span.cpu);
    out.put(',');
    out.number(span.pid);
    out.put(',');
    out.csv(span.task);
    out.put(',');
    out.csv(span.name);
    out.put("\r\n");
  }
}

std::vector<Interval> surroundings(const std::vector<FoundSpan>& spans, std::uint64_t window) {
  std::vector<Interval> parts;
  for (const FoundSpan& span : spans) {
    const std::uint64_t end = span.begin + span.duration;
    parts.push_back({span.begin > window ? span.begin - window : 0,
                     end + window < window ? ~std::uint64_t{0} : end + window + 1});
  }
  std::ranges::sort(parts, {}, &Interval::from);
  std::vector<Interval> joined;
  for (const Interval& part : parts) {
    if (!joined.empty() && part.from <= joined.back().to) {
      joined.back().to = std::max(joined.back().to, part.to);
    } else {
      joined.push_back(part);
    }
  }
  return joined;
}

}  // namespace fkt
