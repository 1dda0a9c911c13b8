// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/function_report.h"

#include <algorithm>

#include "lib/base/table.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

constexpr std::size_t kTime = 12, kCount = 9;

// A figure of a function, a column of the table.
struct Figure {
  char letter;
  std::string_view title, key;
  std::size_t width;  // width of the column; texts: minimum width, grown to fit
  enum class Kind { text, count, time } kind;
  std::uint64_t (*number)(const FunctionRow&);
  std::string (*text)(const FunctionRow&);
  std::string_view about;  // for the help; empty: another column of the letter above
};

std::string sub_name(const FunctionRow& row) {
  return row.subs.empty() ? "" : row.subs[0].name;
}
std::uint64_t sub_count(const FunctionRow& row) {
  return row.subs.empty() ? 0 : row.subs[0].count;
}
std::string sub_list(const FunctionRow& row) {
  std::string list;
  for (const FunctionRow::Sub& sub : row.subs) list += (list.empty() ? "" : ",") + sub.name;
  return list;
}

template <std::uint64_t FunctionRow::*member>
std::uint64_t field(const FunctionRow& row) {
  return row.*member;
}

constexpr auto kText = Figure::Kind::text;
constexpr auto kNumber = Figure::Kind::count;
constexpr auto kTicks = Figure::Kind::time;
using Row = FunctionRow;

constexpr Figure kFigures[] = {
    {'F', "Function", "function", 25, kText, nullptr, [](const Row& r) { return r.name; },
     "name of the function, system call, interrupt"},
    {'c', "Count", "count", kCount, kNumber, field<&Row::count>, nullptr, "calls"},
    {'t', "Time", "time", kTime, kTicks, field<&Row::time>, nullptr, "time from entry to exit"},
    {'a', "Average", "average", kTime, kTicks, [](const Row& r) { return r.average(); }, nullptr,
     "time of one call"},
    {'r', "Min", "min", kTime, kTicks, field<&Row::min>, nullptr,
     "range: the shortest, the longest"},
    {'r', "Max", "max", kTime, kTicks, field<&Row::max>, nullptr, ""},
    {'s', "Sub-time", "sub", kTime, kTicks, field<&Row::sub>, nullptr, "CPU time in sub-routines"},
    {'l', "Local", "local", kTime, kTicks, field<&Row::local>, nullptr, "CPU time of its own"},
    {'C', "CPU", "cpu", kTime, kTicks, [](const Row& r) { return r.cpu(); }, nullptr,
     "CPU time: local and sub-routines"},
    {'b', "Blocked", "blocked", kTime, kTicks, field<&Row::blocked>, nullptr, "time asleep"},
    {'p', "Preempted", "preempted", kTime, kTicks, field<&Row::preempted>, nullptr,
     "time switched out, but ready to run"},
    {'i', "Interrupts", "interrupts", kTime, kTicks, field<&Row::interrupts>, nullptr,
     "time that interrupts took"},
    {'q', "p50", "p50", kTime, kTicks, field<&Row::p50>, nullptr, "percentiles: p50, p90, p99"},
    {'q', "p90", "p90", kTime, kTicks, field<&Row::p90>, nullptr, ""},
    {'q', "p99", "p99", kTime, kTicks, field<&Row::p99>, nullptr, ""},
    {'x', "Cut", "cut", kCount, kNumber, [](const Row& r) { return r.count - r.whole; }, nullptr,
     "calls without a duration: not seen to their exit"},
    {'m', "Max-sub", "max_sub", 25, kText, nullptr, sub_name, "sub-routine with the most time"},
    {'n', "Ms-count", "max_sub_count", kCount, kNumber, sub_count, nullptr,
     "how often it was called"},
    {'u', "Sub-routines", "subs", 12, kText, nullptr, sub_list, "all sub-routines"},
};

const Figure* figure(char letter) {
  for (const Figure& f : kFigures) {
    if (f.letter == letter) return &f;
  }
  return nullptr;
}

std::string letters() {
  std::string all;
  for (const Figure& f : kFigures) {
    if (!f.about.empty()) all += f.letter;
  }
  return all;
}

void add(TableOf<Row>& table, const Figure& figure, unsigned in) {
  const bool text = figure.kind == kText;
  table.add({.title = std::string(figure.title),
             .key = figure.key,
             .width = figure.width,
             .left = text,
             .separated = true,
             .fitted = text,
             .in = in},
            [&figure](const Row& row) {
              if (figure.kind == kText) return Cell(figure.text(row));
              const std::uint64_t number = figure.number(row);
              return figure.kind == kTicks ? Cell(Ticks{number}) : Cell(number);
            });
}

// The columns of the letters, in the order of the letters: text and CSV.
Table chosen(const std::vector<Row>& rows, std::string_view letters) {
  TableOf<Row> table(rows);
  for (const char letter : letters) {
    for (const Figure& f : kFigures) {
      if (f.letter == letter) add(table, f, Column::kText | Column::kCsv);
    }
  }
  return table;
}

std::shared_ptr<const Table> subs_table(const Row& row) {
  TableOf<Row::Sub> table(row.subs);
  table.add({.key = "function"}, [](const auto& sub) { return sub.name; });
  table.add({.key = "count"}, [](const auto& sub) { return sub.count; });
  table.add({.key = "time"}, [](const auto& sub) { return Ticks{sub.time}; });
  return std::make_shared<const Table>(std::move(table));
}

// All figures, and the sub-routines as a nested table: JSON.
Table all_figures(const std::vector<Row>& rows) {
  TableOf<Row> table(rows);
  for (const Figure& f : kFigures) {
    const bool of_subs = f.letter == 'm' || f.letter == 'n' || f.letter == 'u';
    if (!of_subs) add(table, f, Column::kJson);
  }
  table.add({.key = "subs", .in = Column::kJson}, subs_table);
  return table;
}

}  // namespace

Status check_columns(std::string_view option, std::string_view columns) {
  const std::string subject = std::string(option) + ": ";
  if (columns.empty()) return Error{ErrorCode::usage, subject + "no columns"};
  for (std::size_t i = 0; i < columns.size(); i++) {
    const std::string letter = "\"" + std::string(1, columns[i]) + "\"";
    if (figure(columns[i]) == nullptr) {
      return Error{ErrorCode::usage,
                   subject + "no column " + letter + " (there are " + letters() + ")"};
    }
    if (columns.find(columns[i], i + 1) != std::string_view::npos) {
      return Error{ErrorCode::usage, subject + "column " + letter + " twice"};
    }
  }
  return Done{};
}

Status check_sort(std::string_view option, std::string_view letter) {
  const Figure* f = letter.size() == 1 ? figure(letter[0]) : nullptr;
  if (f != nullptr) return Done{};
  return Error{ErrorCode::usage, std::string(option) + ": \"" + std::string(letter) +
                                     "\" is not a column (there are " + letters() + ")"};
}

std::string columns_help() {
  std::string text;
  for (const Figure& f : kFigures) {
    if (f.about.empty()) continue;
    text += (text.empty() ? "" : "; ") + std::string(1, f.letter) + ' ' + std::string(f.about);
  }
  return text;
}

void arrange(std::vector<FunctionRow>& rows, const TableShape& shape) {
  if (shape.above > 0) std::erase_if(rows, [&](const Row& r) { return r.time <= shape.above; });
  const Figure* by = figure(shape.sort);
  // Of several columns the last one sorts: r by max, q by p99.
  const auto number = [&](const Row& row) {
    std::uint64_t value = 0;
    for (const Figure& f : kFigures) {
      if (f.letter == by->letter && f.number != nullptr) value = f.number(row);
    }
    return value;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& x, const Row& y) {
    if (by->text != nullptr) return by->text(x) < by->text(y);
    const std::uint64_t a = number(x), b = number(y);
    return a != b ? a > b : x.name < y.name;
  });
  if (rows.size() > shape.most) rows.resize(shape.most);
}

void write_functions(TextWriter& out, const std::vector<FunctionRow>& rows, const TableShape& shape,
                     const TimeFormat& time) {
  write_text(out, chosen(rows, shape.columns), time, true);
  // Such calls count in Count but not in Time, so Count x Average is not Time: say so.
  std::uint64_t cut = 0;
  for (const Row& row : rows) cut += row.count - row.whole;
  const bool has = shape.columns.find('c') != shape.columns.npos;
  if (cut == 0 || !has || shape.columns.find('x') != shape.columns.npos) return;
  out.put("\nIn Count alone, as " + std::string(cut == 1 ? "it was" : "they were") +
          " not seen from entry to exit: " + counted(cut, "call") + " (column x)\n");
}

void write_functions_json(TextWriter& out, const std::vector<FunctionRow>& rows,
                          const TimeFormat& time) {
  JsonReport(out, time).rows("functions", all_figures(rows), JsonRows::on_lines, true);
}

void write_functions_csv(TextWriter& out, const std::vector<FunctionRow>& rows,
                         const TableShape& shape, const TimeFormat& time) {
  write_csv(out, chosen(rows, shape.columns), time);
}

}  // namespace fkt
