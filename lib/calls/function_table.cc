// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/function_table.h"

#include <algorithm>
#include <span>

#include "lib/base/text.h"

namespace fkt {
namespace {

constexpr std::size_t kTime = 12, kCount = 9;

// A column; its cells are times (ticks), counts or texts.
struct Column {
  char letter;
  std::string_view title, csv;
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

constexpr auto kText = Column::Kind::text;
constexpr auto kNumber = Column::Kind::count;
constexpr auto kTicks = Column::Kind::time;
using Row = FunctionRow;

constexpr Column kColumns[] = {
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

const Column* column(char letter) {
  for (const Column& c : kColumns) {
    if (c.letter == letter) return &c;
  }
  return nullptr;
}

// Returns the columns of the letters, in the order of the letters.
std::vector<const Column*> chosen(std::string_view letters) {
  std::vector<const Column*> columns;
  for (const char letter : letters) {
    for (const Column& c : kColumns) {
      if (c.letter == letter) columns.push_back(&c);
    }
  }
  return columns;
}

std::string letters() {
  std::string all;
  for (const Column& c : kColumns) {
    if (!c.about.empty()) all += c.letter;
  }
  return all;
}

FunctionRow make_row(const SpanStats& stats, const TypeNames& types, TypeIndex type) {
  FunctionRow row;
  row.name = types.name(type);
  row.count = stats.entries;
  row.whole = stats.total.count;
  row.time = stats.total.sum;
  row.min = row.whole == 0 ? 0 : stats.total.min;
  row.max = stats.total.max;
  row.local = stats.own_whole;
  row.sub = stats.sub;
  row.blocked = stats.blocked.ticks + stats.sub_blocked;
  row.preempted = stats.preempted.ticks + stats.sub_preempted;
  const std::uint64_t known = row.local + row.sub + row.blocked + row.preempted;
  row.interrupts = row.time > known ? row.time - known : 0;
  row.p50 = stats.percentile(50);
  row.p90 = stats.percentile(90);
  row.p99 = stats.percentile(99);
  for (const Child& child : stats.children) {
    if (types.interrupt(child.type)) continue;
    row.subs.push_back({std::string(types.name(child.type)), child.count, child.ticks});
  }
  std::stable_sort(row.subs.begin(), row.subs.end(),
                   [](const auto& x, const auto& y) { return x.time > y.time; });
  return row;
}

}  // namespace

std::vector<FunctionRow> function_rows(const Profile& profile, const TypeNames& types) {
  std::vector<FunctionRow> rows;
  for (TypeIndex type = 0; type < types.count; type++) {
    const SpanStats& stats = profile.stats(type);
    if (stats.entries > 0) rows.push_back(make_row(stats, types, type));
  }
  return rows;
}

Status check_columns(std::string_view option, std::string_view columns) {
  const std::string subject = std::string(option) + ": ";
  if (columns.empty()) return Error{ErrorCode::usage, subject + "no columns"};
  for (std::size_t i = 0; i < columns.size(); i++) {
    const std::string letter = "\"" + std::string(1, columns[i]) + "\"";
    if (column(columns[i]) == nullptr) {
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
  const Column* c = letter.size() == 1 ? column(letter[0]) : nullptr;
  if (c != nullptr) return Done{};
  return Error{ErrorCode::usage, std::string(option) + ": \"" + std::string(letter) +
                                     "\" is not a column (there are " + letters() + ")"};
}

std::string columns_help() {
  std::string text;
  for (const Column& c : kColumns) {
    if (c.about.empty()) continue;
    text += (text.empty() ? "" : "; ") + std::string(1, c.letter) + ' ' + std::string(c.about);
  }
  return text;
}

void arrange(std::vector<FunctionRow>& rows, const TableShape& shape) {
  if (shape.above > 0) std::erase_if(rows, [&](const Row& r) { return r.time <= shape.above; });
  const Column* by = column(shape.sort);
  // Of several columns the last one sorts: r by max, q by p99.
  const auto number = [&](const Row& row) {
    std::uint64_t value = 0;
    for (const Column& c : kColumns) {
      if (c.letter == by->letter && c.number != nullptr) value = c.number(row);
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

void write_table(TextWriter& out, const std::vector<FunctionRow>& rows, const TableShape& shape,
                 const TimeFormat& time) {
  const std::vector<const Column*> columns = chosen(shape.columns);
  std::vector<std::size_t> widths;
  for (const Column* c : columns) {
    std::size_t width = std::max(c->width, c->title.size());
    for (const Row& row : rows) {
      if (c->text != nullptr) width = std::max(width, c->text(row).size());
    }
    widths.push_back(width);
  }
  const auto line = [&](auto cell) {
    for (std::size_t i = 0; i < columns.size(); i++) {
      if (i > 0) out.put(' ');
      // The last column is not padded, so lines have no trailing blanks.
      cell(*columns[i], i + 1 == columns.size() && columns[i]->text != nullptr ? 0 : widths[i]);
    }
    out.put('\n');
  };
  line([&](const Column& c, std::size_t width) {
    c.text != nullptr ? out.left(c.title, width) : out.right(c.title, width);
  });
  for (std::size_t i = 0; i < widths.size(); i++) {
    if (i > 0) out.put(' ');
    out.fill(widths[i], '-');
  }
  out.put('\n');
  for (const Row& row : rows) {
    line([&](const Column& c, std::size_t width) {
      if (c.text != nullptr) return out.left(c.text(row), width);
      if (c.kind == kTicks) return time.right(out, c.number(row), width);
      out.right(c.number(row), width);
    });
  }
  // Such calls count in Count but not in Time, so Count x Average is not Time: say so.
  std::uint64_t cut = 0;
  for (const Row& row : rows) cut += row.count - row.whole;
  const bool has = shape.columns.find('c') != shape.columns.npos;
  if (cut == 0 || !has || shape.columns.find('x') != shape.columns.npos) return;
  out.put("\nIn Count alone, as " + std::string(cut == 1 ? "it was" : "they were") +
          " not seen from entry to exit: " + counted(cut, "call") + " (column x)\n");
}

void write_csv(TextWriter& out, const std::vector<FunctionRow>& rows, const TableShape& shape,
               const TimeFormat& time) {
  const std::vector<const Column*> columns = chosen(shape.columns);
  const auto line = [&](auto cell) {
    for (std::size_t i = 0; i < columns.size(); i++) {
      if (i > 0) out.put(',');
      cell(*columns[i]);
    }
    out.put("\r\n");
  };
  line([&](const Column& c) { out.put(c.csv); });
  for (const Row& row : rows) {
    line([&](const Column& c) {
      if (c.text != nullptr) return out.csv(c.text(row));
      if (c.kind == kTicks) return time.put(out, c.number(row));
      out.number(c.number(row));
    });
  }
}

namespace {

void json_row(TextWriter& out, const FunctionRow& row, const TimeFormat& time) {
  out.put("{\"function\":");
  out.json(row.name);
  for (const Column& c : kColumns) {
    if (c.kind == kText || c.letter == 'n') continue;
    out.put(",\"");
    out.put(c.csv);
    out.put("\":");
    if (c.kind == kTicks) {
      time.put(out, c.number(row));
    } else {
      out.number(c.number(row));
    }
  }
  out.put(",\"subs\":[");
  for (const FunctionRow::Sub& sub : row.subs) {
    if (&sub != row.subs.data()) out.put(',');
    out.put("{\"function\":");
    out.json(sub.name);
    out.put(",\"count\":");
    out.number(sub.count);
    out.put(",\"time\":");
    time.put(out, sub.time);
    out.put('}');
  }
  out.put("]}");
}

}  // namespace

void write_json(TextWriter& out, const std::vector<FunctionRow>& rows, const TimeFormat& time) {
  out.put("{\"unit\":");
  out.json(time.unit());
  out.put(",\n\"functions\":[");
  for (const FunctionRow& row : rows) {
    out.put(&row == rows.data() ? "\n" : ",\n");
    json_row(out, row, time);
  }
  out.put("]}\n");
}

}  // namespace fkt
