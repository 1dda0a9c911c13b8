// SPDX-License-Identifier: GPL-2.0-only
#include "lib/report/io_report.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "lib/base/table.h"

namespace fkt {
namespace {

using IoRow = IoUse::Row;

void add_sums(TableOf<IoRow>& table) {
  constexpr std::size_t kCount = 9, kBytes = 14, kErrors = 7, kTicks = 15;
  const auto ticks = [&](std::string title, std::string_view key, auto value) {
    table.add({.title = std::move(title), .key = key, .width = kTicks},
              [value](const IoRow& row) { return Ticks{value(row)}; });
  };
  table.add({.title = "Count", .key = "count", .width = kCount},
            [](const IoRow& row) { return row.sums.count; });
  table.add({.title = "Bytes", .key = "bytes", .width = kBytes},
            [](const IoRow& row) { return row.sums.bytes; });
  table.add({.title = "Errors", .key = "errors", .width = kErrors},
            [](const IoRow& row) { return row.sums.errors; });
  ticks("Total", "total", [](const IoRow& row) { return row.sums.ticks; });
  ticks("50%", "p50", [](const IoRow& row) { return row.sums.percentile(50); });
  ticks("99%", "p99", [](const IoRow& row) { return row.sums.percentile(99); });
  ticks("Max", "max", [](const IoRow& row) { return row.sums.longest; });
}

void add_objects(TableOf<IoRow>& table, const IoReport& report) {
  const IoUse& use = report.use;
  const auto device = [&info = report.info](const IoRow& row) {
    return device_name(info, row.object.device);
  };
  if (report.table == IoUse::Table::sockets) {
    table.add({.title = "Proto", .key = "protocol", .width = 5, .left = true, .separated = true},
              [](const IoRow& row) { return std::string(row.object.protocol); });
    table.add({.title = "Port", .key = "port", .width = 5, .separated = true},
              [](const IoRow& row) { return std::uint64_t{row.object.own_port}; });
    table.add({.title = "Peer", .key = "peer", .left = true, .separated = true},
              [](const IoRow& row) { return peer_text(row.object); });
    return;
  }
  table.add({.title = "Device",
             .key = "device",
             .width = 8,
             .left = true,
             .separated = true,
             .fitted = true},
            device);
  table.add({.title = "Inode", .key = "inode", .width = 10, .separated = true},
            [](const IoRow& row) {
              return row.object.number == 0 ? Cell(kUnknown) : Cell(row.object.number);
            });
  table.add({.title = "File", .key = "file", .left = true, .separated = true},
            [&use](const IoRow& row) {
              const std::string_view name = use.file_name(row.object);
              return name.empty() ? Cell(kUnknown) : Cell(std::string(name));
            });
}

TableOf<IoRow> io_table(std::span<const IoRow> rows, const IoReport& report) {
  TableOf<IoRow> table(rows);
  add_sums(table);
  table.add({.title = "What", .key = "what", .width = 11, .left = true, .separated = true},
            [](const IoRow& row) { return IoUse::name(row.what, row.below); });
  table.add({.title = "Pid", .key = "pid", .width = 7}, [&tasks = report.tasks](const IoRow& row) {
    return std::uint64_t{tasks[row.process].tid};
  });
  table.add(
      {.title = "Process", .key = "process", .width = 15, .left = true, .separated = true},
      [&tasks = report.tasks](const IoRow& row) { return std::string(tasks.name(row.process)); });
  add_objects(table, report);
  return table;
}

// What the layers have no events of; man fkt_print tells more.
constexpr std::string_view kNotSeen[] = {
    "Not seen: what mmap(2) reads and writes (only its faults are), what splice(2), vmsplice(2) "
    "and "
    "tee(2) move between a program and pipes, copies that a file system makes by itself (clones), "
    "io_uring's multishot reads.\n",
    "",
    "Not seen: sockets that are neither TCP, MPTCP, UDP nor Unix (raw, packet, netlink, SCTP, "
    "vsock), TCP_ZEROCOPY_RECEIVE, sockets with a BPF program's map.\n"};

}  // namespace

void IoReport::text(TextWriter& out) const {
  const std::vector<IoRow> all = use.rows();
  const std::span rows = std::span(all).first(std::min(top, all.size()));
  if (!time.unit().empty()) out.put("Times in " + std::string(time.unit()) + '\n');
  write_text(out, io_table(rows, *this), time);
  if (rows.size() < all.size()) {
    out.put("and ");
    out.number(all.size() - rows.size());
    out.put(" more (--top)\n");
  }
  out.put(kNotSeen[static_cast<std::size_t>(table)]);
}

void IoReport::json(TextWriter& out) const {
  const std::vector<IoRow> all = use.rows();
  const std::span rows = std::span(all).first(std::min(top, all.size()));
  write_json_lines(out, io_table(rows, *this), time);
}

void IoReport::csv(TextWriter& out) const {
  const std::vector<IoRow> all = use.rows();
  const std::span rows = std::span(all).first(std::min(top, all.size()));
  write_csv(out, io_table(rows, *this), time);
}

}  // namespace fkt
