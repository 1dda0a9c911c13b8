// SPDX-License-Identifier: GPL-2.0-only
#include <catch2/catch.hpp>

#include <random>

#include "lib/calls/function_diff.h"
#include "lib/report/diff_report.h"
#include "tests/unit/folder.h"
#include "tests/unit/recording_builder.h"

using namespace fkt;
using namespace fkt::test;

namespace {

// A realistic distribution of durations: most are short, some long.
Histogram calls(unsigned seed, std::size_t count, double factor) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> duration(8, 1.5);
  Histogram histogram;
  for (std::size_t i = 0; i < count; i++) {
    histogram.add(static_cast<std::uint64_t>(factor * duration(random)));
  }
  return histogram;
}

}  // namespace

TEST_CASE("the same durations do not differ") {
  const Histogram one = calls(1, 1000, 1);
  const auto test = rank_test(one, one, 1);
  REQUIRE(test);
  CHECK(test->slower == Approx(0.5));
  CHECK(test->p == Approx(1.0));
}

TEST_CASE("chance alone is called a difference as often as the level says") {
  int found = 0;
  for (unsigned seed = 0; seed < 400; seed++) {
    found += rank_test(calls(seed, 200, 1), calls(seed + 1000, 300, 1), 1)->p < 0.05;
  }
  CHECK(found > 5);
  CHECK(found < 40);  // 20 are expected with a standard deviation of 4.4
}

TEST_CASE("slower calls are found, and which side is slower") {
  const auto slower = rank_test(calls(1, 500, 1), calls(2, 500, 1.5), 1);
  CHECK(slower->p < 1e-3);
  CHECK(slower->slower > 0.55);
  const auto faster = rank_test(calls(1, 500, 1.5), calls(2, 500, 1), 1);
  CHECK(faster->p < 1e-3);
  CHECK(faster->slower < 0.45);
}

TEST_CASE("another clock makes no difference") {
  const auto test = rank_test(calls(3, 2000, 1), calls(3, 2000, 2.5), 2.5);
  CHECK(test->slower == Approx(0.5).margin(0.02));
}

TEST_CASE("too few calls say nothing") {
  CHECK(!rank_test(calls(1, kFewest - 1, 1), calls(2, 500, 1), 1));
  CHECK(!rank_test(calls(1, 500, 1), Histogram(), 1));
  Histogram equal;
  for (int i = 0; i < 20; i++) equal.add(7);
  CHECK(rank_test(equal, equal, 1)->p == 1);
}

namespace {

// Calls of write, each of 1000 ns, and as many of read.
RecordingBuilder calling(std::uint64_t writes, std::uint64_t reads) {
  RecordingBuilder b;
  b.pid(0, 42);
  std::uint64_t at = T;
  const auto call = [&](std::uint32_t number) {
    b.event(0, at += 100, FKT_E_SYS_ENTRY, number);
    b.event(0, at += 1000, FKT_E_SYS_EXIT, 0);
  };
  for (std::uint64_t i = 0; i < writes; i++) call(1);
  for (std::uint64_t i = 0; i < reads; i++) call(0);
  return b;
}

CallSource source_of(const Folder& folder, const char* name, RecordingBuilder b) {
  b.write(folder.file(name));
  Result<CallSource> source = CallSource::open(folder.file(name));
  REQUIRE(source);
  source->select({});
  REQUIRE(source->read(nullptr, [](std::uint64_t, std::uint64_t) { return true; }));
  return std::move(*source);
}

}  // namespace

TEST_CASE("numbers of calls differ by chance as often as the test says") {
  CHECK(count_test(100, 100, 1) == Approx(1));
  CHECK(count_test(7, 31, 1) < 1e-3);
  CHECK(count_test(62, 86, 1) == Approx(0.05).margin(0.02));
  CHECK(count_test(100, 200, 2) == Approx(1).margin(0.1));
  std::mt19937_64 random(1);
  std::poisson_distribution<std::uint64_t> one(20), other(60);
  int found = 0;
  for (int i = 0; i < 1000; i++) found += count_test(one(random), other(random), 3) < 0.05;
  CHECK(found > 25);
  CHECK(found < 80);
}

TEST_CASE("what is done more often comes first, and is marked") {
  const Folder folder;
  const CallSource before = source_of(folder, "old", calling(10, 100));
  const CallSource after = source_of(folder, "new", calling(60, 101));
  const std::vector<DiffRow> rows = function_diff(before, after, DiffBy::sums);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "sys_write");
  CHECK(rows[0].change == 50'000);
  CHECK(rows[0].extra == 0);  // each takes as long as before
  CHECK(rows[0].count_significant);
  CHECK(!rows[1].count_significant);
  // The new one took longer, by as much as it wrote more: per second both are done less often.
  const std::vector<DiffRow> rates = function_diff(before, after, DiffBy::rates);
  CHECK(rates[0].name == "sys_write");
  CHECK(rates[1].change == 1'000);
  CHECK(unlike(before, after).empty());
}

TEST_CASE("what two recordings do not have in common is told") {
  const Folder folder;
  RecordingBuilder b = calling(1, 1);
  b.section(FKT_SEC_COMMAND,
            R"({"recorder_pid":10,"workload_pid":42,"command":["work","-x"],"mask":1089,)"
            R"("args":true,"filter":"only","filter_pid":42})");
  b.section(FKT_SEC_MACHINE,
            R"({"sysname":"Linux","nodename":"other","release":"6.12.0",)"
            R"("version":"#1","machine":"x86_64","cpus":2,"cpu_model":"synthetic",)"
            R"("tool_version":"test"})");
  b.section(FKT_SEC_INSTRUMENTS, R"({"instruments":[{"text":"call:vfs_read","action":"record",)"
                                 R"("layer":32,"places":1,"of":"function","cpus":[]}]})");
  b.lost(0, T + 5'000, T + 6'000, 7);
  const CallSource before = source_of(folder, "old", calling(1, 1));
  const CallSource after = source_of(folder, "new", std::move(b));
  std::string all;
  for (const Unlike& one : unlike(before, after)) {
    all += one.what + ": " + one.before + " | " + one.after + "\n";
  }
  CHECK(all ==
        "layers: - | fs\n"
        "instruments: - | call:vfs_read\n"
        "recorded of: all | the command\n"
        "arguments of calls: no | yes\n"
        "command: work | work -x\n"
        "host: test | other\n"
        "kernel: Linux 6.1.0 #1 x86_64 | Linux 6.12.0 #1 x86_64\n"
        "CPUs: 4 | 2\n"
        "events lost: 0 | 7\n");
}
