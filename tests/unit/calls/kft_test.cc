// SPDX-License-Identifier: GPL-2.0-only
#include <catch2/catch.hpp>

#include <map>

#include "lib/calls/function_table.h"
#include "lib/calls/kft_nesting.h"

using namespace fkt;

namespace {

std::map<std::string, FunctionRow> rows_of(std::string_view log,
                                           std::uint64_t* backwards = nullptr) {
  Profile profile;
  profile.keep_histograms();
  KftNesting calls(profile, nullptr);
  REQUIRE(read_kft(log, "log", [&](const KftCall& call) { calls.add(call); }));
  calls.finish();
  if (backwards != nullptr) *backwards = calls.backwards();
  std::map<std::string, FunctionRow> rows;
  const TypeNames names{calls.types(), [&](TypeIndex type) { return calls.name(type); },
                        [](TypeIndex) { return false; }};
  for (FunctionRow& row : function_rows(profile, names)) rows[row.name] = row;
  return rows;
}

}  // namespace

TEST_CASE("a line of a KFT log") {
  const auto call = parse_kft_line("   23662       1333       7    con_init   console_init+0x78\r");
  REQUIRE(call);
  CHECK(call->entry == 23662);
  CHECK(call->delta == 1333);
  CHECK(call->pid == 7);
  CHECK(!call->interrupt);
  CHECK(call->function == "con_init");
  CHECK(call->caller == "console_init");
  CHECK(call->called_at == "console_init+0x78");
}

TEST_CASE("what KFI and KFT write besides") {
  CHECK(parse_kft_line("4 no exit 1362 sub_preempt_count+0x0 a+0xc0")->delta == 0);
  CHECK(parse_kft_line("4 no exit 1362 sub_preempt_count+0x0 a+0xc0")->function ==
        "sub_preempt_count");
  CHECK(parse_kft_line("1 45 -1i __do_IRQ do_IRQ+0x5c")->interrupt);
  CHECK(parse_kft_line("1 45 -1 __do_IRQ do_IRQ+0x5c")->interrupt);
  CHECK(parse_kft_line("1 45 33i ack do_IRQ+0x5c")->interrupt);
  CHECK(parse_kft_line("1 -2 33 deep down+0x5c")->delta == 0);
  CHECK(parse_kft_line("1 -2 33 deep down+0x5c")->cpu == 0);
  CHECK(parse_kft_line("1 5 33 f down+0x5c   63")->cpu == 63);
}

TEST_CASE("lines that are no calls") {
  for (const char* line :
       {"", "1", "1 2", "1 2 3", "1 2 3 f", "x 2 3 f c+0x1", "1 y 3 f c+0x1", "1 2 z f c+0x1",
        "1 2 3 f c+0x1 more", "1 2 3 f c+0x1 1 more", "1 2 3 f c+0x1 65536", "-1 2 3 f c+0x1",
        "1 -3 3 f c+0x1", "1 2 -2 f c+0x1", "1 no 3 f c", "99999999999999999999 2 3 f c+0x1",
        "1 99999999999999999 3 f c+0x1", "1 2 3 +0x1 c+0x1", "1 2 3 \x1b[2J c+0x1"}) {
    INFO(line);
    CHECK(!parse_kft_line(line));
  }
}

TEST_CASE("what is a KFT log, and what is not") {
  CHECK(looks_like_kft("Run ID 0\n\n Entry      Delta      PID   Function  Called At\n"));
  CHECK(looks_like_kft("1 2 3 f c+0x1\n"));
  CHECK(!looks_like_kft("one\ntwo\n"));
  CHECK(!looks_like_kft(std::string_view("1 2 3 f c+0x1\n\0", 15)));
  const Result<KftCounts> none = read_kft("Entry Delta PID\n", "x.lst", [](const KftCall&) {});
  REQUIRE(!none);
  CHECK(none.error().message == "x.lst: no call in this KFT log");
}

TEST_CASE("lines that are no calls are counted from the first call on") {
  const auto counts =
      read_kft("head\n1 2 3 f c+0x1\n\nnoise\n4 2 3 f c+0x1\nmore\n", "log", [](const KftCall&) {});
  REQUIRE(counts);
  CHECK(counts->calls == 2);
  CHECK(counts->other_lines == 2);
  CHECK(counts->first_other == 4);
}

TEST_CASE("time in sub-routines is not local") {
  auto rows = rows_of("10 100 5 outer x+0x1\n20 30 5 inner outer+0x1\n60 30 5 inner outer+0x2\n");
  CHECK(rows["outer"].local == 40);
  CHECK(rows["outer"].sub == 60);
  CHECK(rows["outer"].subs[0].count == 2);
  CHECK(rows["inner"].time == 60);
}

TEST_CASE("a call may seem to outlive its caller by the microsecond that was cut off") {
  auto rows = rows_of("10 100 5 outer x+0x1\n20 91 5 inner outer+0x1\n");
  CHECK(rows["outer"].sub == 91);
  rows = rows_of("10 100 5 outer x+0x1\n20 92 5 inner outer+0x1\n");
  CHECK(rows["outer"].sub == 0);  // 2 us is more than rounding explains
}

TEST_CASE("a call that begins where another ends is not its sub-routine") {
  auto rows = rows_of("10 100 5 first x+0x1\n110 5 5 second x+0x1\n");
  CHECK(rows["first"].sub == 0);
}

TEST_CASE("interrupts are taken out of what they interrupted") {
  auto rows = rows_of(
      "10 100 5 work x+0x1\n20 30 5 irq work+0x1\n25 10 -1 tick irq+0x1\n36 4 5 leave irq+0x5\n"
      "60 5 5 part work+0x9\n");
  CHECK(rows["work"].interrupts == 30);
  CHECK(rows["work"].sub == 5);
  CHECK(rows["work"].local == 65);
  CHECK(rows["irq"].local == 16);
  CHECK(rows["irq"].sub == 14);  // tick, which has PID -1, and leave after it
  CHECK(rows["work"].subs.size() == 1);
}

TEST_CASE("time that others ran is no CPU time") {
  auto rows = rows_of(
      "10 1000 5 read x+0x1\n20 900 5 schedule read+0x1\n30 300 6 other y+0x1\n950 9 5 end "
      "read+0x2\n");
  CHECK(rows["schedule"].blocked == 890);  // from the entry of `other` to the end of schedule
  CHECK(rows["schedule"].cpu() == 10);
  CHECK(rows["read"].blocked == 890);
  CHECK(rows["read"].cpu() == 110);
  CHECK(rows["other"].cpu() == 300);
}

TEST_CASE("tasks of other CPUs take no time from each other") {
  auto rows = rows_of(
      "10 1000 5 work x 0\n20 1000 6 play y 1\n30 5 5 part work 0\n40 5 6 game play 1\n"
      "50 20 6i tick - 1\n60 900 5 part work 0\n70 800 6 game play 1\n980 9 5 part work 0\n");
  CHECK(rows["work"].blocked == 0);
  CHECK(rows["work"].interrupts == 0);
  CHECK(rows["work"].cpu() == 1000);
  CHECK(rows["play"].blocked == 0);
  CHECK(rows["play"].interrupts == 20);
  rows = rows_of(
      "10 1000 5 read x 3\n12 1000 7 busy z 1\n20 900 5 schedule read 3\n30 300 6 other y 3\n"
      "40 9 7 part busy 1\n950 9 5 end read 3\n960 9 7 part busy 1\n");
  CHECK(rows["schedule"].blocked == 890);  // as if the other CPU were not there
  CHECK(rows["read"].cpu() == 110);
  CHECK(rows["busy"].cpu() == 1000);
}

TEST_CASE("a task that returns on another CPU has moved while it slept") {
  auto rows = rows_of(
      "1 5 5 before x 0\n2 990 7 busy z 1\n10 1000 5 read x 1\n20 900 5 schedule read 1\n"
      "30 300 6 other y 0\n40 9 7 part busy 1\n950 9 5 end read 1\n");
  CHECK(rows["schedule"].blocked == 890);
  CHECK(rows["busy"].blocked == 992 - 950);  // from where the other task is seen on its CPU
}

TEST_CASE("a call whose exit was not seen has no duration, and holds what it called") {
  auto rows = rows_of("10 0 5 main x+0x1\n20 30 5 part main+0x1\n60 10 5 alone z+0x1\n");
  CHECK(rows["main"].count == 1);
  CHECK(rows["main"].whole == 0);
  CHECK(rows["part"].time == 30);
  CHECK(rows["alone"].time == 10);
}

TEST_CASE("where the time goes back nothing is known of what was open") {
  std::uint64_t backwards = 0;
  auto rows = rows_of("100 50 5 first x+0x1\n10 20 5 second x+0x1\n", &backwards);
  CHECK(backwards == 1);
  CHECK(rows["first"].count == 1);
  CHECK(rows["second"].time == 20);
}

TEST_CASE("the times of any row add up") {
  auto rows = rows_of(
      "10 500 5 a x+0x1\n20 400 5 b a+0x1\n30 50 -1 i b+0x1\n100 100 6 c y+0x1\n150 20 -1 j c+0x2\n"
      "300 10 5 d b+0x1\n");
  CHECK(rows.size() == 6);
  for (const auto& [name, row] : rows) {
    INFO(name);
    CHECK(row.time > 0);
    CHECK(row.time == row.local + row.sub + row.blocked + row.preempted + row.interrupts);
  }
}
