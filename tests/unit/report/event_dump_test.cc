// SPDX-License-Identifier: GPL-2.0-only
// Output that the golden recordings do not cover: numbers without names, events of other versions.
#include <catch2/catch.hpp>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "lib/format/number_names.h"
#include "lib/query/bound_expression.h"
#include "lib/report/report_csv.h"
#include "lib/report/report_text.h"
#include "tests/golden/recordings.h"
#include "tests/unit/texts.h"

using namespace fkt;
using namespace fkt::test;

namespace {}  // namespace

TEST_CASE("numbers stand where no table has a name") {
  RecordingBuilder b;
  b.section(FKT_SEC_SYSCALLS, "").section(FKT_SEC_INTERRUPTS, "").section(FKT_SEC_TASKS, "");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 39);
  b.event(0, T + 101, FKT_E_SYS_EXIT, static_cast<std::uint32_t>(-4000) & FKT_ARG_MASK);
  b.event(0, T + 102, FKT_E_IRQ_ENTRY, 14);
  b.event(0, T + 103, FKT_E_IRQ_EXIT, 14);
  b.event(0, T + 104, FKT_E_VECTOR_ENTRY, 0x31);
  b.event(0, T + 105, FKT_E_VECTOR_EXIT, 0x31);
  b.event(0, T + 106, FKT_E_SOFTIRQ_RAISE, 77);
  b.event(0, T + 107, FKT_E_TRAP, 200, {0x1234, 0});
  b.event(0, T + 108, FKT_E_WAKING, 99);
  const Analyzed a(b);
  CHECK(has(a.dump(), "0010 sys_39\n"));
  CHECK(has(a.dump(), "sysret ret=-4000 (sys_39 took 1)"));
  CHECK(has(a.dump(), "irq 14\n"));
  CHECK(has(a.dump(), "irq_exit 14, handled=0 (took 1)"));
  CHECK(has(a.dump(), "vector 49\n"));
  CHECK(has(a.dump(), "softirq_raise 77\n"));
  CHECK(has(a.dump(), "trap 200, user=0, ip=0x1234, error=0x0"));
  CHECK(has(a.dump(), "waking tid=99\n"));
  CHECK(has(a.counts(), "1\tsystem\tsys_39\n"));
  CHECK(has(a.report(), "no table of system calls"));
}

TEST_CASE("a system call's number may be negative") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY_LONG, 0, {~std::uint64_t{0}});
  b.event(0, T + 101, FKT_E_SYS_EXIT, static_cast<std::uint32_t>(-38) & FKT_ARG_MASK);
  const Analyzed a(b);
  CHECK(has(a.dump(), "sys_-1\n"));
  CHECK(has(a.dump(), "sysret ret=-ENOSYS (sys_-1 took 1)"));
  CHECK(has(a.counts(), "1\tsystem\tsys_-1\n"));
  CHECK(NumberNames::syscall_number(~std::uint64_t{0}, true) == "sys32_-1");
  const auto which = Expression::parse("name == \"sys_-1\"");
  REQUIRE(which);
  CHECK(BoundExpression::bind(*which, a.analysis().info()));
}

TEST_CASE("where layers were switched and nothing was lost, the report speaks of no gap") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 39);
  b.event(1, T + 110, FKT_E_MASK, 0, {1ULL << FKT_L_SYSTEM | 1ULL << FKT_L_PROCESS});
  b.event(0, T + 120, FKT_E_SYS_EXIT, 0);
  const std::string report = Analyzed(b).report();
  CHECK(has(report, "open when layers were switched: 1"));
  CHECK(has(report, "1 return of calls whose entry lies before a switch of the layers"));
  CHECK_FALSE(has(report, "gap"));
}

TEST_CASE("what the kernel names, the dump names") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_TRAP, 0 | 1 << 8, {0x401000, 0});
  b.event(0, T + 110, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 120, FKT_E_SYS_EXIT, static_cast<std::uint32_t>(-512) & FKT_ARG_MASK);
  b.event(0, T + 130, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 140, FKT_E_SYS_EXIT_LONG, 0, {0x7f0012345000});
  b.event(0, T + 150, FKT_E_EXIT, 9, {pair(42, 42)});
  b.event(0, T + 160, FKT_E_EXIT, 0x8b, {pair(42, 42)});
  const Analyzed a(b);
  CHECK(has(a.dump(), "trap divide_error, user=1, ip=0x401000, error=0x0"));
  CHECK(has(a.dump(), "ret=-ERESTARTSYS"));
  CHECK(has(a.dump(), "ret=0x7f0012345000"));
  CHECK(has(a.dump(), "exit code=SIGKILL"));
  CHECK(has(a.dump(), "exit code=SIGSEGV core dumped"));
}

TEST_CASE("a file's own catalogue says how its events read") {
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE,
            Catalogue::builtin().to_lines() +
                "layer\t40\tbattery\tcharge\n"
                "event\t700\tcharge\t40\tpoint\t1\tpercent:u:0:0:8 volt:x:1:0:64\n"
                "event\t701\tdrive\t40\tbegin:drive\t0\tcar:u:0:0:24\n"
                "event\t702\tdrive_end\t40\tend:drive\t0\tcar:u:0:0:24\n");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 110, 0x701, 7);
  b.event(0, T + 120, 0x700, 55, {0x1000});
  b.event(0, T + 150, 0x702, 7);
  b.event(0, T + 160, FKT_E_SYS_EXIT, 0);
  const Analyzed a(b);
  CHECK(has(a.dump(), "0700     charge percent=55, volt=0x1000\n"));
  CHECK(has(a.counts(), "1\tbattery\tcharge\n"));
  const auto read = a.call("sys_read");
  REQUIRE(read.parts.size() == 1);  // a new kind of span nests on the stack of its task
  CHECK(read.parts[0].name == "drive");
  CHECK(read.parts[0].ticks == 40);
  CHECK(read.self == 20);
}

TEST_CASE("counts hold each event once, and JSON is JSON") {
  for (const Bytes& file : {find_recording(), broken_recording()}) {
    const Analyzed a(file);
    std::uint64_t sum = 0;
    std::istringstream counts(a.counts());
    for (std::string line; std::getline(counts, line);) sum += std::stoull(line);
    CHECK(sum == a.analysis().profile().events());
    const auto report = nlohmann::json::parse(a.json());
    CHECK(report["events"] == sum);
    std::size_t lines = 0;
    std::istringstream dump(a.json_dump());
    for (std::string line; std::getline(dump, line); lines++) {
      CHECK(nlohmann::json::parse(line).contains("time"));
    }
    CHECK(lines == sum + a.analysis().gap_count());
  }
}

TEST_CASE("percentiles are those of the durations from entry to exit") {
  RecordingBuilder b;
  b.pid(0, 42);
  // Values below 32 ticks are exact: the durations are 1 to 20, in mixed order.
  for (std::uint64_t i = 0; i < 20; i++) {
    b.event(0, T + 100 * i, FKT_E_SYS_ENTRY, 39);
    b.event(0, T + 100 * i + 1 + i * 7 % 20, FKT_E_SYS_EXIT, 0);
  }
  b.event(0, T + 3000, FKT_E_SYS_ENTRY, 0);  // never ends, so it has no row
  const auto durations = Analyzed(b).summary().durations;
  REQUIRE(durations.size() == 1);
  CHECK(durations[0].name == "sys_getpid");
  CHECK(durations[0].total.count == 20);
  CHECK(durations[0].p50 == 10);
  CHECK(durations[0].p90 == 18);
  CHECK(durations[0].p99 == 20);
  CHECK(durations[0].total.max == 20);
}

TEST_CASE("each table of the CSV has as many cells in every line as in its head") {
  for (const Bytes& file : {find_recording(), broken_recording()}) {
    TextWriter out;
    write_report_csv(out, Analyzed(file).summary(), {}, TimeFormat());
    std::istringstream lines{std::string(out.view())};
    std::ptrdiff_t commas = -1;
    std::set<std::string> tables;
    for (std::string line; std::getline(lines, line);) {
      REQUIRE(line.ends_with('\r'));
      if (line == "\r") {
        commas = -1;
        continue;
      }
      INFO(line);
      line = std::regex_replace(line, std::regex("\"[^\"]*\""), "quoted");
      if (commas < 0) {
        CHECK(line.starts_with("table,"));
        commas = std::ranges::count(line, ',');
      } else {
        CHECK(std::ranges::count(line, ',') == commas);
        tables.insert(line.substr(0, line.find(',')));
      }
    }
    CHECK(tables.size() >= 7);
    CHECK(tables.contains("durations"));
  }
}

TEST_CASE("the histogram is all time, each call's parts are all of it") {
  for (const Bytes& file : {find_recording(), broken_recording()}) {
    const Summary s = Analyzed(file).summary();
    std::uint64_t sum = 0;
    for (const auto& row : s.histogram) sum += row.ticks;
    CHECK(sum == s.cpu_ticks);
    CHECK(s.cpu_ticks == 2 * (s.selected.to - s.selected.from));
    CHECK_FALSE(s.calls.empty());
    for (const auto& call : s.calls) {
      std::uint64_t parts = call.self;
      for (const auto& part : call.parts) parts += part.ticks;
      CHECK(parts == call.total.sum);
    }
  }
}

TEST_CASE("text is escaped byte by byte, wherever in it a byte stands") {
  for (std::size_t length = 1; length <= 19; length++) {
    for (std::size_t at = 0; at < length; at++) {
      for (int byte = 0; byte < 256; byte++) {
        std::string text(length, 'a'), wanted;
        text[at] = static_cast<char>(byte);
        text.back() = at + 1 == length ? text.back() : '\xff';
        for (const char c : text) {
          char hex[8];
          std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned char>(c));
          // A byte from 0x80 on is no UTF-8 here.
          const bool is_plain = c >= ' ' && c != 0x7f && c != '\\';
          wanted += !is_plain ? std::string(hex) : std::string(1, c);
        }
        TextWriter out;
        out.escaped(text);
        REQUIRE(out.view() == wanted);
      }
    }
  }
}

TEST_CASE("the statistics keep their shares in a narrow terminal, and use a wide one") {
  const Recording trace = std::move(*Recording::from_bytes(find_recording()));
  Analysis analysis(trace.info(), {});
  analysis.keep_histograms();
  for (const Event& event : trace.events()) analysis.add(event);
  analysis.finish(true, recording_end(trace));
  const Summary summary = summarize(analysis, trace.integrity(), false);
  const auto lines = [&](std::size_t columns) {
    TextWriter out;
    out.set_columns(columns);
    write_report(out, summary, analysis, TimeFormat(TimeUnit::readable, 1e9));
    std::vector<std::string> table;
    std::istringstream in{std::string(out.view())};
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with("Name ")) table.emplace_back();
      if (line.empty()) table.emplace_back();
      if (line.starts_with("Name ") || line.starts_with("sys_lstat")) table.push_back(line);
    }
    std::erase(table, "");
    return table;
  };
  const auto widest_of_calls = [&](std::size_t columns) {
    TextWriter out;
    out.set_columns(columns);
    write_report(out, summary, analysis, TimeFormat(TimeUnit::readable, 1e9));
    const std::string_view text = out.view();
    const std::size_t begin = text.find("System calls: what each spent");
    const std::size_t end = text.find("\nProcesses:", begin);
    REQUIRE(end != std::string_view::npos);
    std::istringstream in{std::string(text.substr(begin, end - begin))};
    std::size_t widest = 0;
    for (std::string line; std::getline(in, line);) widest = std::max(widest, line.size());
    return widest;
  };
  CHECK(widest_of_calls(70) <= 70);
  CHECK(widest_of_calls(100) <= 100);
  CHECK(widest_of_calls(0) > 100);
  // Name, Code, time, Count, Average, Min, Max, Percent and the bar; then the percentiles.
  const std::vector<std::string> narrow = lines(70), wide = lines(200), file = lines(0);
  REQUIRE(narrow.size() >= 4);
  const auto percentiles = std::ranges::find_if(
      narrow, [](const std::string& line) { return line.find("p50") != std::string::npos; });
  REQUIRE(percentiles != narrow.end());
  for (const std::string& line : {narrow[0], narrow[1], percentiles[0], percentiles[1]}) {
    CHECK(line.size() <= 70);
  }
  CHECK(narrow[0].find("Code") == std::string::npos);
  CHECK(narrow[0].find("Percent") != std::string::npos);
  CHECK(narrow[1].find("9.68%") != std::string::npos);
  CHECK(std::ranges::count(file[1], '*') == 4);
  CHECK(std::ranges::count(wide[1], '*') == 8);
}
