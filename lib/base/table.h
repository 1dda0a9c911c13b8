// SPDX-License-Identifier: GPL-2.0-only
// Table: the columns of a report described once, and written as text, JSON or CSV (RFC 4180).
//
//   TableOf<Task> table(tasks);  // the table refers to the rows
//   table.add({.title = "Name", .key = "name", .width = 20, .left = true},
//             [](const Task& task) { return task.name; });
//   table.add({.title = "Running", .key = "running", .width = 15},
//             [](const Task& task) { return Ticks{task.running}; });
//   write_text(out, table, time);
//
// Texts of cells are names as they are: each output makes them safe in its own way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lib/base/json_writer.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"

namespace fkt {

class Table;

// Values with a form of their own, which are neither plain numbers nor texts.
struct Ticks {  // in the unit of the writer's TimeFormat
  std::uint64_t ticks;
};
struct SignedTicks {
  std::int64_t ticks;
};
struct Moment {  // a time since the recording's start, in the unit of TimeFormat::of_moments()
  std::uint64_t ticks;
};
struct EventCode {  // text: four hexadecimal digits; JSON and CSV: a number
  std::uint16_t code;
};
struct Decimal {
  double value;
  int digits;  // behind the point
};
struct Percent {  // text: with two digits behind the point and "%"; JSON and CSV: without "%"
  double value;
};
// A cell without a value. Its CSV field is empty.
struct NoValue {
  std::string_view text;  // what the text shows
  bool null;              // JSON: true: null; false: the member is left out
};
inline constexpr NoValue kUnknown{"-", true};
inline constexpr NoValue kNone{"-", false};
inline constexpr NoValue kBlank{"", false};

// A nested table is an array of objects in JSON; it cannot be written as text or CSV.
using Cell = std::variant<NoValue, std::uint64_t, Ticks, SignedTicks, Moment, EventCode, Decimal,
                          Percent, bool, std::string, std::shared_ptr<const Table>>;

struct Column {
  // The outputs that have the column.
  enum In : unsigned { kText = 1, kJson = 2, kCsv = 4, kData = kJson | kCsv, kAll = 7 };

  std::string title{};       // in the head line of the text
  std::string_view key{};    // in JSON, and in the head line of CSV
  std::string_view group{};  // JSON: columns of one group are the members of an object
  std::size_t width = 0;     // in the text; longer values are not cut
  bool left = false;         // aligned to the left; as the last column it is not padded
  bool separated = false;    // a blank before the column, in addition to its width
  bool fitted = false;       // the width grows to that of the longest value
  // Left out where a terminal has too few columns: those with the highest number first; 0: never.
  unsigned spare = 0;
  unsigned in = kAll;
};

class Table {
 public:
  using CellOf = std::function<Cell(std::size_t row)>;
  using AfterRow = std::function<void(TextWriter& out, std::size_t row)>;
  struct Part {
    Column column;
    CellOf cell;
  };

  explicit Table(std::size_t rows) : rows_(rows) {}
  void add_column(Column column, CellOf cell) {
    parts_.push_back({std::move(column), std::move(cell)});
  }
  // Text only: called behind each row, to write further lines about it.
  void after_row(AfterRow write) { after_row_ = std::move(write); }
  // Text only: cells of a last line, one for each column that the text has where there is room.
  void footer(std::vector<Cell> cells) { footer_ = std::move(cells); }
  // Text and CSV: no line of titles, because the rows continue a table that has one.
  void continues() { continues_ = true; }

  std::size_t rows() const { return rows_; }
  // Returns the columns that an output has.
  std::vector<const Part*> parts(Column::In in) const;
  const AfterRow& after_row() const { return after_row_; }
  const std::vector<Cell>& footer() const { return footer_; }
  bool has_titles() const { return !continues_; }

 private:
  std::size_t rows_;
  std::vector<Part> parts_;
  AfterRow after_row_;
  std::vector<Cell> footer_;
  bool continues_ = false;
};

// A table over rows that outlive it.
template <class Row>
class TableOf : public Table {
 public:
  explicit TableOf(std::span<const Row> rows) : Table(rows.size()), all_(rows) {}
  // `cell` takes a row and returns what a Cell can be made of.
  template <class Function>
  void add(Column column, Function cell) {
    add_column(std::move(column), [rows = all_, cell = std::move(cell)](std::size_t i) {
      return Cell(cell(rows[i]));
    });
  }

 private:
  std::span<const Row> all_;
};

// Writes a line of titles and a line for each row. underlined: a line of dashes below the titles.
void write_text(TextWriter& out, const Table& table, const TimeFormat& time,
                bool underlined = false);
// Writes a line of keys and a line for each row. name: first column of every line, with the key
// "table"; an empty line separates the table from the text before it. Empty: no such column.
void write_csv(TextWriter& out, const Table& table, const TimeFormat& time,
               std::string_view name = {});

// Writes a cell's value. Times and shares have fixed digits, in indented JSON as many as tell them
// apart.
void write_json(JsonWriter& json, const Cell& cell, const TimeFormat& time);
// Writes an object for each row, on a line of its own, without commas between them.
void write_json_lines(TextWriter& out, const Table& table, const TimeFormat& time);
// Writes an array with an object for each row: in one line, or each on a line of its own.
enum class JsonRows { joined, on_lines };
void write_json_rows(JsonWriter& json, const Table& table, const TimeFormat& time, JsonRows rows);

// Writes one JSON object with the unit of the times, further members, and arrays of rows.
class JsonReport : public JsonWriter {
 public:
  JsonReport(TextWriter& out, const TimeFormat& time);
  ~JsonReport();

  // Writes a member that is a time in the unit of the report, or null.
  void ticks(std::string_view key, std::optional<std::uint64_t> value);
  // Writes a member that is an array with an object for each row. on_line: the key begins a line.
  void rows(std::string_view key, const Table& table, JsonRows rows, bool on_line);

 private:
  TextWriter& out_;
  const TimeFormat& time_;
};

}  // namespace fkt
