// SPDX-License-Identifier: GPL-2.0-only
// The table of lib/analyse/task_activity.h as text, JSON and CSV.
#include <algorithm>

#include "lib/analyse/task_activity.h"

namespace fkt {
namespace {

constexpr std::size_t kName = 20, kPid = 8, kCount = 8, kTime = 12;

// A figure of a row; the order is that of the columns.
struct Figure {
  std::string_view title, key;
  bool is_time;
  std::uint64_t (*of)(const TaskRow&);
};
constexpr Figure kFigures[] = {
    {"Running", "running", true, [](const TaskRow& r) { return r.stat.running; }},
    {"Ready", "ready", true, [](const TaskRow& r) { return r.stat.ready; }},
    {"Asleep", "asleep", true, [](const TaskRow& r) { return r.stat.asleep; }},
    {"Disk", "disk", true, [](const TaskRow& r) { return r.stat.disk; }},
    {"Runs", "runs", false, [](const TaskRow& r) { return r.stat.runs; }},
    {"Preempt", "preempted", false, [](const TaskRow& r) { return r.stat.preempted; }},
    {"Wakeups", "wakeups", false, [](const TaskRow& r) { return r.stat.wakeups; }},
    {"Wait p50", "wait_p50", true, [](const TaskRow& r) { return r.p50; }},
    {"p90", "wait_p90", true, [](const TaskRow& r) { return r.p90; }},
    {"p99", "wait_p99", true, [](const TaskRow& r) { return r.p99; }},
    {"max", "wait_max", true, [](const TaskRow& r) { return r.stat.wait.max; }},
};

void parts(TextWriter& out, std::string_view what, const std::vector<TaskRow::Part>& list,
           std::string_view then, const TimeFormat& time) {
  for (const TaskRow::Part& part : list) {
    out.fill(4);
    out.put(what);
    out.put(part.name);
    out.put(": ");
    out.number(part.count);
    out.put(part.count == 1 ? " time, " : " times, ");
    out.put(then);
    time.put(out, part.time);
    out.put('\n');
  }
}

void figure(TextWriter& out, const Figure& figure, const TaskRow& row, const TimeFormat& time) {
  if (figure.is_time) return time.put(out, figure.of(row));
  out.number(figure.of(row));
}

void json_parts(TextWriter& out, std::string_view key, const std::vector<TaskRow::Part>& list,
                std::string_view time_key, const TimeFormat& time) {
  out.put(",\"");
  out.put(key);
  out.put("\":[");
  for (const TaskRow::Part& part : list) {
    out.put(&part == list.data() ? "{\"name\":" : ",{\"name\":");
    out.json(part.name);
    out.put(",\"count\":");
    out.number(part.count);
    out.put(",\"");
    out.put(time_key);
    out.put("\":");
    time.put(out, part.time);
    out.put('}');
  }
  out.put(']');
}

}  // namespace

void write_tasks(TextWriter& out, const std::vector<TaskRow>& rows, bool long_form,
                 const TimeFormat& time) {
  std::size_t width = kName;
  for (const TaskRow& row : rows) width = std::max(width, row.name.size());
  out.left("Name", width);
  out.right("Pid", kPid);
  for (const Figure& f : kFigures) out.right(f.title, 1 + (f.is_time ? kTime : kCount));
  out.put(" Woken by (most often)\n");
  for (const TaskRow& row : rows) {
    out.left(row.name, width);
    out.right(row.pid, kPid);
    for (const Figure& f : kFigures) {
      out.put(' ');
      f.is_time ? time.right(out, f.of(row), kTime) : out.right(f.of(row), kCount);
    }
    if (!row.wakers.empty()) {
      out.put(' ');
      out.put(row.wakers[0].name);
    }
    out.put('\n');
    if (!long_form) continue;
    parts(out, "asleep in ", row.in, "", time);
    parts(out, "woken by ", row.wakers, "then waited ", time);
  }
}

void write_tasks_json(TextWriter& out, const std::vector<TaskRow>& rows, const TimeFormat& time) {
  out.put("{\"unit\":");
  out.json(time.unit());
  out.put(",\n\"tasks\":[");
  for (const TaskRow& row : rows) {
    out.put(&row == rows.data() ? "\n{\"name\":" : ",\n{\"name\":");
    out.json(row.name);
    out.put(",\"pid\":");
    out.number(row.pid);
    for (const Figure& f : kFigures) {
      out.put(",\"");
      out.put(f.key);
      out.put("\":");
      figure(out, f, row, time);
    }
    json_parts(out, "asleep_in", row.in, "time", time);
    json_parts(out, "woken_by", row.wakers, "wait", time);
    out.put('}');
  }
  out.put("]}\n");
}

void write_tasks_csv(TextWriter& out, const std::vector<TaskRow>& rows, const TimeFormat& time) {
  out.put("name,pid");
  for (const Figure& f : kFigures) {
    out.put(',');
    out.put(f.key);
  }
  out.put("\r\n");
  for (const TaskRow& row : rows) {
    out.csv(row.name);
    out.put(',');
    out.number(row.pid);
    for (const Figure& f : kFigures) {
      out.put(',');
      figure(out, f, row, time);
    }
    out.put("\r\n");
  }
}

}  // namespace fkt
