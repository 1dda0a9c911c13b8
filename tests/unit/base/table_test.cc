// SPDX-License-Identifier: GPL-2.0-only
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/base/table.h"

namespace fkt {
namespace {

struct Row {
  std::string name;
  std::uint64_t count;
  std::uint64_t ticks;
  bool known;
};

const std::vector<Row> kRows = {{"plain", 7, 2000, true},
                                {"a \"b\",\x01", 12345678901234, 1, false}};

TableOf<Row> make_table() {
  TableOf<Row> table(kRows);
  table.add({.title = "Name", .key = "name", .width = 12, .left = true},
            [](const Row& row) { return row.name; });
  table.add({.title = "Calls", .key = "count", .width = 8},
            [](const Row& row) { return row.count; });
  table.add({.title = "Time", .key = "time", .width = 8}, [](const Row& row) -> Cell {
    if (row.known) return Ticks{row.ticks};
    return kUnknown;
  });
  table.add({.title = "Left out", .key = "none", .width = 10, .in = Column::kData},
            [](const Row&) -> Cell { return kNone; });
  return table;
}

const TimeFormat kMicroseconds(TimeUnit::us, 1e9);

template <class Write>
std::string written(Write write) {
  TextWriter out;
  write(out);
  return std::string(out.view());
}

TEST_CASE("a table as text: aligned columns, long values whole, unknown values as a dash") {
  const std::string text =
      written([](TextWriter& out) { write_text(out, make_table(), kMicroseconds); });
  CHECK(text ==
        "Name           Calls    Time\n"
        "plain              7   2.000\n"
        "a \"b\",\\x01  12345678901234       -\n");
}

TEST_CASE("a table as text: columns stand below each other whatever the names") {
  const std::vector<Row> rows = {
      {"日本語", 1, 1, true}, {"e\u0301", 2, 2, true}, {"\x1b", 3, 3, true}};
  TableOf<Row> table(rows);
  table.add({.title = "Name", .key = "name", .width = 3, .left = true, .fitted = true},
            [](const Row& row) { return row.name; });
  table.add({.title = "N", .key = "n", .width = 3}, [](const Row& row) { return row.count; });
  CHECK(written([&](TextWriter& out) { write_text(out, table, kMicroseconds); }) ==
        "Name    N\n"
        "日本語  1\n"
        "e\u0301       2\n"
        "\\x1b    3\n");
}

TEST_CASE("a table as CSV: quoted as RFC 4180 says, a value that is not there is empty") {
  const std::string text =
      written([](TextWriter& out) { write_csv(out, make_table(), kMicroseconds); });
  CHECK(text ==
        "name,count,time,none\r\n"
        "plain,7,2.000,\r\n"
        "\"a \"\"b\"\",\x01\",12345678901234,,\r\n");
  const std::string named =
      written([](TextWriter& out) { write_csv(out, make_table(), kMicroseconds, "calls"); });
  CHECK(named.find("table,name,count,time,none\r\ncalls,plain,7,2.000,\r\n") != std::string::npos);
}

TEST_CASE("a table as JSON is read back: null for unknown, no member for none") {
  const std::string text = written([](TextWriter& out) {
    JsonReport report(out, kMicroseconds);
    report.rows("calls", make_table(), JsonRows::joined, false);
  });
  const nlohmann::json parsed = nlohmann::json::parse(text);
  REQUIRE(parsed["calls"].size() == 2);
  CHECK(parsed["calls"][0] == nlohmann::json({{"name", "plain"}, {"count", 7}, {"time", 2.0}}));
  CHECK(parsed["calls"][1]["name"] == kRows[1].name);
  CHECK(parsed["calls"][1]["count"] == kRows[1].count);
  CHECK(parsed["calls"][1]["time"].is_null());
  CHECK_FALSE(parsed["calls"][1].contains("none"));
}

TEST_CASE("a table without rows has its titles only") {
  TableOf<Row> empty(std::span<const Row>{});
  empty.add({.title = "Name", .key = "name", .width = 5}, [](const Row& row) { return row.name; });
  CHECK(written([&](TextWriter& out) { write_text(out, empty, kMicroseconds); }) == " Name\n");
  CHECK(written([&](TextWriter& out) { write_csv(out, empty, kMicroseconds); }) == "name\r\n");
}

TEST_CASE("a table is fitted to a terminal that has too few columns") {
  struct Row {
    std::string name;
    std::uint64_t count = 0, time = 0;
  };
  const std::vector<Row> rows = {{"sys_read", 12, 1'500'000}, {"irq 14", 3, 20}};
  const auto text = [&](std::size_t columns) {
    TableOf<Row> table(rows);
    table.add({.title = "Name", .width = 30, .left = true}, [](const Row& r) { return r.name; });
    table.add({.title = "Count", .width = 10, .spare = 1}, [](const Row& r) { return r.count; });
    table.add({.title = "Time", .width = 15}, [](const Row& r) { return Ticks{r.time}; });
    table.footer({std::string("all"), kBlank, Ticks{1'500'020}});
    TextWriter out;
    out.set_columns(columns);
    write_text(out, table, TimeFormat(TimeUnit::readable, 1e9));
    return std::string(out.view());
  };
  CHECK(text(55) == text(0));
  CHECK(text(54) ==
        "Name      Count    Time\n"
        "sys_read     12 1.50 ms\n"
        "irq 14        3   20 ns\n"
        "all             1.50 ms\n");
  CHECK(text(20) ==
        "Name         Time\n"
        "sys_read  1.50 ms\n"
        "irq 14      20 ns\n"
        "all       1.50 ms\n");
  CHECK(text(5) == text(20));  // what is left is not cut
}

}  // namespace
}  // namespace fkt
