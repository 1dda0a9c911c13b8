// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/buffer_table.h"

#include <array>
#include <string>

namespace fkt {
namespace {

constexpr std::size_t kTime = 16, kPages = 11;

using Count = std::optional<std::uint64_t>;

struct Column {
  std::string_view name, title;
  Count (*value)(const BufferColumns::Cell&);
};

constexpr Column kColumns[] = {
    {"filled", "Filled", [](const BufferColumns::Cell& c) { return Count(c.state.filled); }},
    {"submitted", "Submitted", [](const BufferColumns::Cell& c) { return c.state.submitted; }},
    {"written", "Written", [](const BufferColumns::Cell& c) { return c.state.written; }},
    {"available", "Available", [](const BufferColumns::Cell& c) { return c.state.available(); }},
    {"allocated", "Allocated", [](const BufferColumns::Cell& c) { return c.state.allocated; }},
    {"extra", "Extra", [](const BufferColumns::Cell& c) { return c.state.extra; }},
    {"free", "Free", [](const BufferColumns::Cell& c) { return c.state.free; }},
    {"lowest_free", "Lowest", [](const BufferColumns::Cell& c) { return c.lowest; }}};
constexpr std::span kOfMoment = std::span(kColumns).first<std::size(kColumns) - 1>();

void put_count(TextWriter& out, const Count& count, std::string_view unknown) {
  if (count) {
    out.number(*count);
  } else {
    out.put(unknown);
  }
}

std::uint64_t since(std::uint64_t clock, std::uint64_t start) {
  return clock > start ? clock - start : 0;
}

}  // namespace

void write_buffer_title(TextWriter& out, const TimeFormat& time) {
  out.put("# time");
  for (const Column& column : kOfMoment) {
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
  for (const Column& column : kOfMoment) {
    out.put('\t');
    put_count(out, column.value(cell), "-");
  }
  out.put('\n');
}

void BufferTable::text(TextWriter& out) const {
  out.put("Pages of ");
  out.number(page_bytes);
  out.put(" bytes: up to each time; available: as many may be filled before none is free\n\n");
  out.right("Up to (" + std::string(time.unit()) + ')', kTime);
  for (const Column& column : kColumns) out.right(column.title, kPages);
  out.put('\n');
  for (std::uint32_t i = 0; i < columns.cells().size(); i++) {
    time.right(out, since(columns.scale().begin(i + 1), start), kTime);
    for (const Column& column : kColumns) {
      const Count count = column.value(columns.cells()[i]);
      if (count) {
        out.right(*count, kPages);
      } else {
        out.right("-", kPages);
      }
    }
    out.put('\n');
  }
}

void BufferTable::json(TextWriter& out) const {
  out.put("{\"unit\":");
  out.json(time.unit());
  out.put(",\"page_bytes\":");
  out.number(page_bytes);
  out.put(",\"rows\":[");
  for (std::uint32_t i = 0; i < columns.cells().size(); i++) {
    out.put(i == 0 ? "\n{\"time\":" : ",\n{\"time\":");
    time.put(out, since(columns.scale().begin(i + 1), start));
    for (const Column& column : kColumns) {
      out.put(',');
      out.json(column.name);
      out.put(':');
      put_count(out, column.value(columns.cells()[i]), "null");
    }
    out.put('}');
  }
  out.put("]}\n");
}

void BufferTable::csv(TextWriter& out) const {
  out.put("time");
  for (const Column& column : kColumns) {
    out.put(',');
    out.put(column.name);
  }
  out.put("\r\n");
  for (std::uint32_t i = 0; i < columns.cells().size(); i++) {
    time.put(out, since(columns.scale().begin(i + 1), start));
    for (const Column& column : kColumns) {
      out.put(',');
      put_count(out, column.value(columns.cells()[i]), "");
    }
    out.put("\r\n");
  }
}

}  // namespace fkt
