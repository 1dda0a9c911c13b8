// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/table.h"

#include <algorithm>
#include <charconv>

#include "lib/base/utf8.h"

namespace fkt {
namespace {

// The common part of writing text, JSON and CSV; the derived classes have the differences.
struct PutValue {
  TextWriter& out;
  const TimeFormat& time;

  void operator()(std::uint64_t value) const { out.number(value); }
  void operator()(Ticks value) const { time.put(out, value.ticks); }
  void operator()(SignedTicks value) const {
    if (value.ticks < 0) out.put('-');
    const auto bits = static_cast<std::uint64_t>(value.ticks);
    time.put(out, value.ticks < 0 ? ~bits + 1 : bits);
  }
  void operator()(Moment value) const { time.of_moments().put(out, value.ticks); }
  void operator()(EventCode value) const { out.number(value.code); }
  void operator()(Decimal value) const { out.decimal(value.value, value.digits); }
  void operator()(Percent value) const { out.decimal(value.value, 2); }
  void operator()(bool value) const { out.put(value ? "true" : "false"); }
  void operator()(const std::shared_ptr<const Table>&) const {}
};

struct PutText : PutValue {
  using PutValue::operator();
  void operator()(NoValue value) const { out.put(value.text); }
  void operator()(EventCode value) const { out.hex_digits(value.code, 4); }
  void operator()(Percent value) const {
    out.decimal(value.value, 2);
    out.put('%');
  }
  void operator()(const std::string& value) const { out.escaped(value); }
};

struct PutCsv : PutValue {
  using PutValue::operator();
  void operator()(NoValue) const {}
  void operator()(const std::string& value) const { out.csv(value); }
};

struct PutJson {
  JsonWriter& json;
  const TimeFormat& time;

  void operator()(NoValue) const { json.put(nullptr); }
  void operator()(Ticks value) const { put(time, value.ticks, false); }
  void operator()(Moment value) const { put(time.of_moments(), value.ticks, false); }
  void operator()(SignedTicks value) const {
    const auto bits = static_cast<std::uint64_t>(value.ticks);
    put(time, value.ticks < 0 ? ~bits + 1 : bits, value.ticks < 0);
  }
  void operator()(Decimal value) const { put(value.value, value.digits); }
  void operator()(Percent value) const { put(value.value, 2); }
  void operator()(EventCode value) const { json.put(value.code); }
  void operator()(const std::shared_ptr<const Table>& value) const {
    write_json_rows(json, *value, time, JsonRows::joined);
  }
  void operator()(const auto& value) const { json.put(value); }

 private:
  void put(double value, int digits) const {
    json.indented() ? json.put(value) : json.value().decimal(value, digits);
  }
  void put(const TimeFormat& format, std::uint64_t ticks, bool negative) const {
    TimeFormat::Digits room;
    const std::string_view digits = format.digits(room, ticks);
    if (json.indented() && digits.find('.') != std::string_view::npos) {
      double number = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
      return json.put(negative ? -number : number);
    }
    TextWriter& out = json.value();
    if (negative) out.put('-');
    out.put(digits);
  }
};

bool is_blank(const Cell& cell) {
  const NoValue* none = std::get_if<NoValue>(&cell);
  return none != nullptr && none->text.empty();
}

class TextTable {
 public:
  TextTable(TextWriter& out, const Table& table, const TimeFormat& time)
      : out_(out), table_(table), time_(time), parts_(table.parts(Column::kText)) {
    for (std::size_t i = 0; i < parts_.size(); i++) shown_.push_back(i);
    for (const Table::Part* part : parts_) widths_.push_back(width_of(*part));
    if (out.columns() > 0) fit(out.columns());
  }

  void write(bool underlined) {
    if (table_.has_titles()) titles();
    if (underlined) underline();
    for (std::size_t row = 0; row < table_.rows(); row++) {
      line([&](std::size_t i) { return parts_[i]->cell(row); });
      if (table_.after_row()) table_.after_row()(out_, row);
    }
    if (!table_.footer().empty()) line([&](std::size_t i) { return table_.footer()[i]; });
  }

 private:
  // Returns the cell's text, which is valid until the next call.
  std::string_view text(const Cell& cell) {
    cell_.clear();
    std::visit(PutText{{cell_, time_}}, cell);
    return cell_.view();
  }
  std::size_t width_of(const Cell& cell) { return columns_of(text(cell)); }
  std::size_t width_of(const Table::Part& part) {
    const Column& column = part.column;
    if (!column.fitted) return column.width;
    std::size_t width = std::max(column.width, columns_of(column.title));
    for (std::size_t row = 0; row < table_.rows(); row++) {
      width = std::max(width, width_of(part.cell(row)));
    }
    return width;
  }
  std::size_t whole_width() const {
    std::size_t width = 0;
    for (const std::size_t i : shown_) width += widths_[i] + parts_[i]->column.separated;
    return width;
  }
  // Returns the width of the column's contents, with a blank that separates it.
  std::size_t least_width(std::size_t i) {
    const Column& column = parts_[i]->column;
    std::size_t width = table_.has_titles() ? columns_of(column.title) : 0;
    for (std::size_t row = 0; row < table_.rows(); row++) {
      width = std::max(width, width_of(parts_[i]->cell(row)));
    }
    if (!table_.footer().empty()) width = std::max(width, width_of(table_.footer()[i]));
    return width + !column.separated;
  }
  // Makes the table as wide as the terminal, if it is wider: first by narrower columns, then by
  // leaving out those that can be spared.
  void fit(std::size_t columns) {
    if (whole_width() <= columns) return;
    for (const std::size_t i : shown_) widths_[i] = std::min(widths_[i], least_width(i));
    while (whole_width() > columns) {
      const auto spare = std::ranges::max_element(
          shown_, {}, [&](std::size_t i) { return parts_[i]->column.spare; });
      if (spare == shown_.end() || parts_[*spare]->column.spare == 0) return;
      shown_.erase(spare);
    }
  }
  template <class CellOf>
  void line(CellOf cell_of) {
    for (const std::size_t i : shown_) {
      const Column& column = parts_[i]->column;
      const Cell cell = cell_of(i);
      const bool open_end = column.left && i == shown_.back();
      if (open_end && is_blank(cell)) break;
      if (column.separated && i > 0) out_.put(' ');
      const std::string_view value = text(cell);
      if (column.left) {
        out_.left(value, open_end ? 0 : widths_[i]);
      } else {
        out_.right(value, widths_[i]);
      }
    }
    out_.put('\n');
  }
  void titles() {
    line([&](std::size_t i) {
      const std::string& title = parts_[i]->column.title;
      return title.empty() ? Cell(kBlank) : Cell(title);
    });
  }
  void underline() {
    for (const std::size_t i : shown_) {
      if (parts_[i]->column.separated && i > 0) out_.put(' ');
      out_.fill(widths_[i], '-');
    }
    out_.put('\n');
  }

  TextWriter& out_;
  const Table& table_;
  const TimeFormat& time_;
  const std::vector<const Table::Part*> parts_;
  std::vector<std::size_t> widths_, shown_;  // shown: positions in parts_
  TextWriter cell_;
};

void write_json_row(JsonWriter& json, const std::vector<const Table::Part*>& parts, std::size_t row,
                    const TimeFormat& time) {
  std::string_view group;  // the object that is open
  json.begin('{');
  for (const Table::Part* part : parts) {
    const Cell cell = part->cell(row);
    const NoValue* none = std::get_if<NoValue>(&cell);
    if (none != nullptr && !none->null) continue;
    const Column& column = part->column;
    if (column.group != group) {
      if (!group.empty()) json.end('}');
      group = column.group;
      if (!group.empty()) json.key(group).begin('{');
    }
    write_json(json.key(column.key), cell, time);
  }
  if (!group.empty()) json.end('}');
  json.end('}');
}

}  // namespace

std::vector<const Table::Part*> Table::parts(Column::In in) const {
  std::vector<const Part*> parts;
  for (const Part& part : parts_) {
    if ((part.column.in & in) != 0) parts.push_back(&part);
  }
  return parts;
}

void write_text(TextWriter& out, const Table& table, const TimeFormat& time, bool underlined) {
  TextTable(out, table, time).write(underlined);
}

void write_csv(TextWriter& out, const Table& table, const TimeFormat& time, std::string_view name) {
  const std::vector<const Table::Part*> parts = table.parts(Column::kCsv);
  const auto line = [&](std::string_view first, auto put) {
    out.put(first);
    for (std::size_t i = 0; i < parts.size(); i++) {
      if (i > 0 || !first.empty()) out.put(',');
      put(*parts[i]);
    }
    out.put("\r\n");
  };
  if (!name.empty() && out.size() > 0) out.put("\r\n");
  if (table.has_titles())
    line(name.empty() ? "" : "table", [&](const Table::Part& part) { out.put(part.column.key); });
  for (std::size_t row = 0; row < table.rows(); row++) {
    line(name, [&](const Table::Part& part) { std::visit(PutCsv{{out, time}}, part.cell(row)); });
  }
}

void write_json(JsonWriter& json, const Cell& cell, const TimeFormat& time) {
  std::visit(PutJson{json, time}, cell);
}

void write_json_lines(TextWriter& out, const Table& table, const TimeFormat& time) {
  const std::vector<const Table::Part*> parts = table.parts(Column::kJson);
  for (std::size_t row = 0; row < table.rows(); row++) {
    JsonWriter json(out);
    write_json_row(json, parts, row, time);
    out.put('\n');
  }
}

void write_json_rows(JsonWriter& json, const Table& table, const TimeFormat& time, JsonRows rows) {
  const std::vector<const Table::Part*> parts = table.parts(Column::kJson);
  json.array([&] {
    for (std::size_t row = 0; row < table.rows(); row++) {
      if (rows == JsonRows::on_lines) json.begin_line();
      write_json_row(json, parts, row, time);
    }
  });
}

JsonReport::JsonReport(TextWriter& out, const TimeFormat& time)
    : JsonWriter(out), out_(out), time_(time) {
  begin('{');
  members("unit", time.unit());
}

JsonReport::~JsonReport() {
  end('}');
  out_.put('\n');
}

void JsonReport::ticks(std::string_view name, std::optional<std::uint64_t> ticks) {
  key(name);
  ticks ? time_.put(value(), *ticks) : put(nullptr);
}

void JsonReport::rows(std::string_view name, const Table& table, JsonRows rows, bool on_line) {
  if (on_line) begin_line();
  key(name);
  write_json_rows(*this, table, time_, rows);
}

}  // namespace fkt
