// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/user_functions_report.h"

#include "lib/base/table.h"

namespace fkt {
namespace {

using UserRow = UserFunctionRow;

TableOf<UserRow> user_functions_table(const std::vector<UserRow>& rows) {
  constexpr std::size_t kName = 25, kCount = 9, kTime = 12;
  TableOf<UserRow> table(rows);
  const auto ticks = [&](const char* title, std::string_view key, auto value) {
    table.add({.title = title, .key = key, .width = kTime, .separated = true},
              [value](const UserRow& row) { return Ticks{value(row)}; });
  };
  const auto number = [&](const char* title, std::string_view key, auto value) {
    table.add({.title = title, .key = key, .width = kCount, .separated = true}, value);
  };
  table.add({.title = "Function",
             .key = "function",
             .width = kName,
             .left = true,
             .separated = true,
             .fitted = true},
            [](const UserRow& row) { return row.name; });
  number("Count", "count", [](const UserRow& row) { return row.count; });
  ticks("Time", "time", [](const UserRow& row) { return row.time; });
  ticks("Own", "own", [](const UserRow& row) { return row.self; });
  ticks("System", "system", [](const UserRow& row) { return row.system; });
  ticks("Waiting", "waiting", [](const UserRow& row) { return row.waiting; });
  ticks("Called", "called", [](const UserRow& row) { return row.called; });
  ticks("Interrupts", "interrupts", [](const UserRow& row) { return row.interrupts(); });
  number("Syscalls", "syscalls", [](const UserRow& row) { return row.syscalls; });
  number("Cut", "cut", [](const UserRow& row) { return row.count - row.whole; });
  return table;
}

}  // namespace

void write_user_functions(TextWriter& out, const std::vector<UserRow>& rows,
                          const TimeFormat& time) {
  write_text(out, user_functions_table(rows), time, true);
}

void write_user_functions_json(TextWriter& out, const std::vector<UserRow>& rows,
                               const TimeFormat& time) {
  JsonReport(out, time).rows("user_functions", user_functions_table(rows), JsonRows::on_lines,
                             true);
}

void write_user_functions_csv(TextWriter& out, const std::vector<UserRow>& rows,
                              const TimeFormat& time) {
  write_csv(out, user_functions_table(rows), time);
}

}  // namespace fkt
