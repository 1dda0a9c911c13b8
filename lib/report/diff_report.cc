// SPDX-License-Identifier: GPL-2.0-only
// Output of the table of lib/calls/function_diff.h as text, JSON and CSV.
#include <algorithm>

#include "lib/calls/function_diff.h"

namespace fkt {
namespace {

constexpr std::size_t kName = 25, kCount = 9, kTime = 12, kShare = 8;

// The times in a diff are nanoseconds.
TimeFormat format(TimeUnit unit) {
  return TimeFormat(unit, 1e9);
}

std::string signed_text(std::int64_t ns, const TimeFormat& time) {
  const auto size = static_cast<std::uint64_t>(ns < 0 ? -ns : ns);
  return (ns < 0 ? "-" : "") + time.text(size);
}

std::string change(const DiffRow& row) {
  if (row.before.whole == 0) return row.before.count == 0 ? "new" : "-";
  if (row.after.whole == 0) return row.after.count == 0 ? "gone" : "-";
  if (row.before.average == 0) return "-";
  const auto before = static_cast<double>(row.before.average);
  const double percent = 100 * (static_cast<double>(row.after.average) - before) / before;
  TextWriter out;
  if (percent >= 0) out.put('+');
  out.decimal(percent, 1);
  out.put('%');
  return std::string(out.view());
}

// Values below 0.0001 are shown as such: their further digits say nothing.
std::string probability(const std::optional<double>& p) {
  if (!p) return "-";
  if (*p < 0.0001) return "<0.0001";
  TextWriter out;
  out.decimal(*p, 4);
  return std::string(out.view());
}

void optional_number(TextWriter& out, const std::optional<double>& value, std::string_view none) {
  if (value) return out.decimal(*value, 6);
  out.put(none);
}

struct Figure {
  std::string_view key;
  std::uint64_t (*of)(const DiffRow&);
  bool is_time;
};
constexpr Figure kFigures[] = {
    {"old_count", [](const DiffRow& r) { return r.before.count; }, false},
    {"new_count", [](const DiffRow& r) { return r.after.count; }, false},
    {"old_time", [](const DiffRow& r) { return r.before.time; }, true},
    {"new_time", [](const DiffRow& r) { return r.after.time; }, true},
    {"old_average", [](const DiffRow& r) { return r.before.average; }, true},
    {"new_average", [](const DiffRow& r) { return r.after.average; }, true},
    {"old_p50", [](const DiffRow& r) { return r.before.p50; }, true},
    {"new_p50", [](const DiffRow& r) { return r.after.p50; }, true},
};

void figure(TextWriter& out, const Figure& figure, const DiffRow& row, const TimeFormat& time) {
  if (figure.is_time) return time.put(out, figure.of(row));
  out.number(figure.of(row));
}

}  // namespace

void write_diff(TextWriter& out, const std::vector<DiffRow>& rows, TimeUnit unit) {
  const TimeFormat time = format(unit);
  std::size_t width = kName;
  for (const DiffRow& row : rows) width = std::max(width, row.name.size());
  out.left("Function", width);
  for (const char* title : {"Old", "New"}) out.right(title, kCount + 1);
  for (const char* title : {"Old average", "New average", "Change", "Extra time"}) {
    out.right(title, kTime + 1);
  }
  out.right("Slower", kShare + 1);
  out.right("p", kShare + 1);
  out.put('\n');
  for (const DiffRow& row : rows) {
    out.left(row.name, width);
    out.right(row.before.count, kCount + 1);
    out.right(row.after.count, kCount + 1);
    time.right(out, row.before.average, kTime + 1);
    time.right(out, row.after.average, kTime + 1);
    out.right(change(row), kTime + 1);
    out.right(signed_text(row.extra, time), kTime + 1);
    TextWriter share;
    if (row.slower) share.decimal(100 * *row.slower, 1);
    out.right(row.slower ? std::string(share.view()) + "%" : "-", kShare + 1);
    out.right(probability(row.p), kShare + 1);
    out.put(row.significant ? " *\n" : "\n");
  }
}

void write_diff_json(TextWriter& out, const std::vector<DiffRow>& rows, TimeUnit unit,
                     const std::string& old_name, const std::string& new_name) {
  const TimeFormat time = format(unit);
  out.put("{\"unit\":");
  out.json(time.unit());
  out.put(",\"old\":");
  out.json(old_name);
  out.put(",\"new\":");
  out.json(new_name);
  out.put(",\n\"changes\":[");
  for (const DiffRow& row : rows) {
    out.put(&row == rows.data() ? "\n{\"function\":" : ",\n{\"function\":");
    out.json(row.name);
    for (const Figure& f : kFigures) {
      out.put(",\"");
      out.put(f.key);
      out.put("\":");
      figure(out, f, row, time);
    }
    out.put(",\"extra\":" + signed_text(row.extra, time) + ",\"slower_share\":");
    optional_number(out, row.slower, "null");
    out.put(",\"p_value\":");
    optional_number(out, row.p, "null");
    out.put(row.significant ? ",\"significant\":true}" : ",\"significant\":false}");
  }
  out.put("]}\n");
}

void write_diff_csv(TextWriter& out, const std::vector<DiffRow>& rows, TimeUnit unit) {
  const TimeFormat time = format(unit);
  out.put("function");
  for (const Figure& f : kFigures) {
    out.put(',');
    out.put(f.key);
  }
  out.put(",extra,slower_share,p_value,significant\r\n");
  for (const DiffRow& row : rows) {
    out.csv(row.name);
    for (const Figure& f : kFigures) {
      out.put(',');
      figure(out, f, row, time);
    }
    out.put(',' + signed_text(row.extra, time) + ',');
    optional_number(out, row.slower, "");
    out.put(',');
    optional_number(out, row.p, "");
    out.put(row.significant ? ",true\r\n" : ",false\r\n");
  }
}

}  // namespace fkt
