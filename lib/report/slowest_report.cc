// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/slowest_report.h"

#include <algorithm>

#include "lib/base/table.h"

namespace fkt {
namespace {

std::uint64_t since(const FoundSpan& span, std::uint64_t start) {
  return span.begin > start ? span.begin - start : 0;
}

// "sys_fdatasync(5</mnt/app.db>)"
std::string title_of(const FoundSpan& span) {
  return span.about.empty() ? span.name : span.name + '(' + span.about + ')';
}

Table spans_table(const SlowestTable& slowest) {
  constexpr std::size_t kTime = 16, kDuration = 15, kTask = 15;
  TableOf<FoundSpan> table(slowest.spans);
  const auto ticks = [&](Column column, auto value) {
    table.add(std::move(column), [value](const FoundSpan& span) { return Ticks{value(span)}; });
  };
  const auto from = [start = slowest.start](const FoundSpan& span) { return since(span, start); };
  table.add({.title = "From", .key = "time", .width = kTime},
            [from](const FoundSpan& span) { return Moment{from(span)}; });
  table.add({.title = "To", .width = kTime, .in = Column::kText},
            [from](const FoundSpan& span) { return Moment{from(span) + span.duration}; });
  ticks({.title = "Duration", .key = "duration", .width = kDuration},
        [](const FoundSpan& span) { return span.duration; });
  table.add({.title = "CPU", .key = "cpu", .width = 4},
            [](const FoundSpan& span) { return span.cpu; });
  table.add({.title = "Pid", .key = "pid", .width = 8},
            [](const FoundSpan& span) { return span.pid; });
  const auto text = [&](const char* title, std::string_view key, auto value) {
    table.add({.title = title, .key = key, .width = kTask, .left = true, .separated = true},
              [value](const FoundSpan& span) { return std::string(value(span)); });
  };
  text("Task", "task", [](const FoundSpan& span) { return span.task; });
  table.add({.title = "Name", .left = true, .separated = true, .in = Column::kText}, title_of);
  table.add({.key = "name", .in = Column::kData}, [](const FoundSpan& span) { return span.name; });
  table.add({.key = "title", .in = Column::kData}, title_of);
  return table;
}

}  // namespace

void SlowestTable::text(TextWriter& out) const {
  out.put("The slowest ");
  out.escaped(name);
  if (!time.unit().empty()) out.put(", in " + std::string(time.unit()));
  out.put('\n');
  write_text(out, spans_table(*this), time);
}

void SlowestTable::json(TextWriter& out) const {
  write_json_lines(out, spans_table(*this), time);
}

void SlowestTable::csv(TextWriter& out) const {
  write_csv(out, spans_table(*this), time);
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
