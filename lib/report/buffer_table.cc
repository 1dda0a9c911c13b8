// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/buffer_table.h"

#include <array>
#include <string>

#include "lib/base/table.h"

namespace fkt {
namespace {

using Count = std::optional<std::uint64_t>;

struct BufferColumn {
  std::string_view name, title;
  Count (*value)(const BufferColumns::Cell&);
};

constexpr BufferColumn kColumns[] = {
    {"filled", "Filled", [](const BufferColumns::Cell& c) { return Count(c.state.filled); }},
    {"submitted", "Submitted", [](const BufferColumns::Cell& c) { return c.state.submitted; }},
    {"written", "Written", [](const BufferColumns::Cell& c) { return c.state.written; }},
    {"available", "Available", [](const BufferColumns::Cell& c) { return c.state.available(); }},
    {"allocated", "Allocated", [](const BufferColumns::Cell& c) { return c.state.allocated; }},
    {"extra", "Extra", [](const BufferColumns::Cell& c) { return c.state.extra; }},
    {"free", "Free", [](const BufferColumns::Cell& c) { return c.state.free; }},
    {"lowest_free", "Lowest", [](const BufferColumns::Cell& c) { return c.lowest; }}};
constexpr std::span kOfMoment = std::span(kColumns).first<std::size(kColumns) - 1>();

std::uint64_t since(std::uint64_t clock, std::uint64_t start) {
  return clock > start ? clock - start : 0;
}

// A row for each cell, with the end of its time.
Table table_of(const BufferTable& buffers) {
  constexpr std::size_t kTime = 16, kPages = 11;
  const BufferColumns& cells = buffers.columns;
  Table table(cells.cells().size());
  table.add_column(
      {.title = "Up to (" + std::string(buffers.time.unit()) + ')', .key = "time", .width = kTime},
      [&cells, start = buffers.start](std::size_t i) {
        const auto end = static_cast<std::uint32_t>(i) + 1;
        return Ticks{since(cells.scale().begin(end), start)};
      });
  for (const BufferColumn& column : kColumns) {
    table.add_column({.title = std::string(column.title), .key = column.name, .width = kPages},
                     [&cells, value = column.value](std::size_t i) {
                       const Count count = value(cells.cells()[i]);
                       return count ? Cell(*count) : Cell(kUnknown);
                     });
  }
  return table;
}

}  // namespace

void write_buffer_title(TextWriter& out, const TimeFormat& time) {
  out.put("# time");
  for (const BufferColumn& column : kOfMoment) {
    out.put('\t');
    out.put(column.name);
  }
  out.put("; pages; time in ");
  out.put(time.unit());
  out.put('\n');
}

void write_buffer_line(TextWriter& out, const BufferState& state, std::uint64_t start,
                       const TimeFormat& time) {
  time.put(out, since(state.clock, start));
  const BufferColumns::Cell cell{state, {}};
  for (const BufferColumn& column : kOfMoment) {
    out.put('\t');
    if (const Count count = column.value(cell)) {
      out.number(*count);
    } else {
      out.put('-');
    }
  }
  out.put('\n');
}

void BufferTable::text(TextWriter& out) const {
  out.put("Pages of ");
  out.number(page_bytes);
  out.put(" bytes: up to each time; available: as many may be filled before none is free\n\n");
  write_text(out, table_of(*this), time);
}

void BufferTable::json(TextWriter& out) const {
  JsonReport report(out, time);
  report.members("page_bytes", page_bytes);
  report.rows("rows", table_of(*this), JsonRows::on_lines, false);
}

void BufferTable::csv(TextWriter& out) const {
  write_csv(out, table_of(*this), time);
}

}  // namespace fkt
