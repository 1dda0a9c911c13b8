// SPDX-License-Identifier: GPL-2.0-only
// Tests KFT's configurations: the plans of the guide's samples, and the errors of wrong ones.
#include <catch2/catch.hpp>

#include <fkt/kft_parse.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/instrument/instrument.h"
#include "lib/instrument/kft_plan.h"
#include "tests/unit/texts.h"

using namespace fkt;

namespace {

using KftLines = std::vector<std::string>;

Result<std::string> kft_function(std::uint64_t address) {
  if (address == 0xc001d804) return std::string("kernel_clone");
  return Error{ErrorCode::usage, "no function begins there"};
}

KftPlan planned_kft(const std::string& text) {
  const Result<KftPlan> plan = plan_kft(text, "conf", kft_function);
  INFO((plan ? "" : plan.error().message));
  REQUIRE(plan);
  return *plan;
}

KftLines kft_lines(const KftPlan& plan) {
  KftLines lines;
  for (const Instrument& instrument : plan.instruments) lines.push_back(instrument.text);
  return lines;
}

KftLines kft_lines(const std::string& text) {
  return kft_lines(planned_kft(text));
}

std::string refused_kft(const std::string& text) {
  const Result<KftPlan> plan = plan_kft(text, "conf", kft_function);
  return plan ? "planned" : plan.error().message;
}

struct ParsedKft {
  bool is_good = false;
  std::unique_ptr<fkt_kft_config> config = std::make_unique<fkt_kft_config>();
  fkt_kft_error error{};
};

ParsedKft parsed_kft(const std::string& text) {
  ParsedKft made;
  made.is_good = fkt_kft_parse(text.data(), static_cast<__u32>(text.size()), made.config.get(),
                               &made.error) != 0;
  return made;
}

}  // namespace

TEST_CASE("the samples of KFT's guide come to instruments") {
  CHECK(kft_lines("  trigger start entry start_kernel\n  trigger stop exit to_userspace\n"
                  "  filter mintime 500\n  filter maxtime 0\n  filter noints\n") ==
        KftLines{"fn:start_kernel:entry do start", "call:to_userspace do stop",
                 "call:* if context == task && duration >= 500us"});

  const KftPlan fork = planned_kft(
      "new\nbegin\n  trigger start entry 0xc001d804\n  trigger stop time 5000000\n"
      "  filter mintime 500\n  filter maxtime 0\n  filter noints\nend\n");
  CHECK(kft_lines(fork) ==
        KftLines{"fn:kernel_clone:entry do start",
                 "call:* if context == task && since_start <= 5s && duration >= 500us"});
  CHECK(fork.lasts == std::chrono::seconds(5));
  CHECK(fork.waits_for_hit);
  CHECK_FALSE(fork.begins_at);

  const KftPlan interrupts = planned_kft(
      "trigger start time 5000000\ntrigger stop time 5000\nfilter onlyints  # the clock's, too\n");
  CHECK(interrupts.begins_at == std::chrono::seconds(5));
  CHECK(interrupts.lasts == std::chrono::milliseconds(5));
  CHECK(kft_lines(interrupts) == KftLines{"call:* if context != task && since_start <= 5ms"});
  CHECK_FALSE(interrupts.waits_for_hit);

  const KftPlan listed = planned_kft("trigger start time 10000000\nfilter funclist schedule fend");
  CHECK(kft_lines(listed) == KftLines{"call:schedule"});
  CHECK(listed.begins_at == std::chrono::seconds(10));
  CHECK(kft_lines("trigger start entry kernel_clone\ntrigger stop exit kernel_clone") ==
        KftLines{"fn:kernel_clone:entry do start", "call:kernel_clone do stop", "call:*"});
}

TEST_CASE("what KFT's language has got besides") {
  // Of several that fit a function the first one has its calls.
  CHECK(kft_lines("filter mintime 2ms\nfilter mintime 50 ext4_* vfs_read\n"
                  "filter funclist vfs_* do_sys_openat2 :mod:jbd2 !vfs_w* fend filter cpu 1") ==
        KftLines{"call:vfs_read if cpu == 1 && duration >= 50us",
                 "call:ext4_*,!vfs_w* if cpu == 1 && duration >= 50us",
                 "call:do_sys_openat2 if cpu == 1 && duration >= 2ms",
                 "call:vfs_*,!vfs_w* if cpu == 1 && duration >= 2ms",
                 "call:jbd2:*,!vfs_w* if cpu == 1 && duration >= 2ms"});
  // As with /proc/kft, a module is like the pattern `*`, however long its name is.
  CHECK(kft_lines("filter mintime 1 x* filter mintime 2 :mod:xfs filter funclist xfs_x fend") ==
        KftLines{"call:x* if duration >= 1us", "call:xfs:* if duration >= 2us", "call:xfs_x"});
  CHECK(kft_lines("filter task find\nfilter uid 33\nfilter cgroup 77\nfilter maxtime 400") ==
        KftLines{"call:* if duration <= 400us && task == \"find\" && uid == 33 && cgroup == 77"});
  CHECK(kft_lines("filter task kworker*") == KftLines{"call:* if task ~ \"kworker*\""});
  CHECK(kft_lines("trigger stop exit vfs_fsync duration > 50ms # slow\nfilter mintime 1") ==
        KftLines{"call:vfs_fsync if duration > 50ms do stop", "call:* if duration >= 1us"});
  CHECK(kft_lines(
            "autorepeat trigger start entry a\ntrigger stop exit b if ret < 0\nfilter mintime 5") ==
        KftLines{"fn:a:entry do set kft_runs", "call:b if ret < 0 do clear kft_runs",
                 "call:* if kft_runs && duration >= 5us"});
  CHECK(kft_lines("untimed filter funclist vfs_read vfs_w* fend prime") ==
        KftLines{"fn:vfs_read", "fn:vfs_w*"});
  CHECK(kft_lines("watch stack 500") ==
        KftLines{"fn:*:entry if stack_left < 500 do stack", "call:*"});
  CHECK(kft_lines("watch worst-stack 500").front() ==
        "fn:*:entry if stack_left < 500 && stack_left < lowest_stack do stack");
  CHECK(kft_lines("filter caller vfs_read filter mintime 5") ==
        KftLines{"fn:vfs_read:entry do set kft_inside of task",
                 "call:vfs_read do clear kft_inside of task",
                 "call:* if kft_inside && duration >= 5us"});
  CHECK(kft_lines("filter depth 3") == KftLines{"call:* if depth <= 3"});
  CHECK(
      kft_lines("filter cputime filter mintime 5ms filter maxtime 1s filter mintime 50 vfs_read") ==
      KftLines{"call:vfs_read if cputime <= 1s && cputime >= 50us",
               "call:* if cputime <= 1s && cputime >= 5ms"});
  CHECK(planned_kft("overwrite").overwrites);
  // A list goes on over lines, and without fend up to the next statement.
  CHECK(kft_lines("filter funclist a\nb\n\n# no c\nd\ntrigger stop entry e") ==
        KftLines{"fn:e:entry do stop", "call:a", "call:b", "call:d"});
  // The same function twice is one.
  CHECK(kft_lines("filter funclist a a b* b* fend") == KftLines{"call:a", "call:b*"});
}

TEST_CASE("KFT's configurations in plain words") {
  const KftPlan plan = planned_kft(
      "trigger start entry 0xc001d804\ntrigger stop time 5000\nfilter mintime 500\nfilter noints\n"
      "filter funclist * !schedule fend");
  CHECK(plan.explanation ==
        KftLines{"the recording begins when kernel_clone is entered", "it ends 5ms after its begin",
                 "the calls of * are recorded that took at least 500us", "not recorded is schedule",
                 "all of that only not in interrupts"});
  CHECK(planned_kft("filter cputime filter mintime 500 filter depth 2").explanation.back() ==
        "all of that only at most 2 of them deep in their task");
  CHECK(planned_kft("filter cputime filter mintime 500 filter depth 2").explanation[2] ==
        "the calls of all functions are recorded that were on the CPU for at least 500us");
}

TEST_CASE("wrong configurations of KFT: where, what, and what would be right") {
  CHECK(refused_kft("trigger strat entry x") ==
        "conf:1:9: \"strat\" where \"start\" or \"stop\" should stand");
  CHECK(refused_kft("trigger start\n entri x") ==
        "conf:2:2: \"entri\" where \"entry\", \"exit\" or \"time\" should stand");
  CHECK(test::has(refused_kft("filter mintime"), "conf:1:15: the end where a time should stand"));
  CHECK(test::has(refused_kft("filter mintime 5m"), "conf:1:16: \"5m\" where a time should stand"));
  CHECK(test::has(refused_kft("filter mintime 99999999999999999999"), "where a time should stand"));
  CHECK(test::has(refused_kft("filter maxtime 1000000001s"), "where a time should stand"));
  CHECK(test::has(refused_kft("filter mintim 5"),
                  "\"mintim\" where a filter should stand: mintime, "));
  CHECK(
      test::has(refused_kft("mintime 5"), "conf:1:1: \"mintime\" where a statement should begin"));
  CHECK(test::has(refused_kft("filter noints\nfilter onlyints"),
                  "conf:2:8: \"onlyints\": with noints"));
  CHECK(test::has(refused_kft("filter mintime 500\nfilter maxtime 400"),
                  "conf:2:8: \"maxtime\" is less"));
  CHECK(test::has(refused_kft("filter cpu 1 filter cpu 2"),
                  "conf:1:21: \"cpu\" is said a second time"));
  CHECK(test::has(refused_kft("filter funclist fend"),
                  "conf:1:17: \"fend\" where the first function"));
  CHECK(test::has(refused_kft("filter funclist !a fend"), "write \"*\" before them"));
  CHECK(
      test::has(refused_kft("filter funclist a-b fend"), "\"a-b\" where a function should stand"));
  CHECK(test::has(refused_kft("trigger stop entry ext4_*"),
                  "\"ext4_*\" where a function should stand"));
  CHECK(test::has(refused_kft("trigger stop entry 0xxyz"), "\"0xxyz\" is no address"));
  CHECK(refused_kft("trigger stop entry 0xc001") == "conf:1:20: no function begins there");
  CHECK(test::has(refused_kft("trigger stop exit f duration >"), "conf:1:21: "));
  CHECK(test::has(refused_kft("begin end x"), "conf:1:11: \"x\" stands behind the end"));
  CHECK(test::has(refused_kft(" # nothing"), "the end where a configuration should begin"));
  CHECK(
      test::has(refused_kft("untimed filter mintime 5"), "\"untimed\": entries and exits have no"));
  CHECK(test::has(refused_kft("autorepeat trigger start entry f"), "write a trigger stop"));
  CHECK(test::has(refused_kft(std::string(70000, ' ')),
                  "comes too late: a configuration has at most"));
  CHECK(test::has(refused_kft("filter x\x1b[31m"), "\"x?[31m\" where a filter should stand"));
  std::string many = "filter funclist";
  for (int i = 0; i < 513; i++) many += " f" + std::to_string(i);
  CHECK(test::has(refused_kft(many), "\"f512\" is one function too many"));
}

TEST_CASE("a function that is left out is not recorded, whatever else names it") {
  CHECK(kft_lines("filter funclist a b !a fend") == KftLines{"call:b"});
  CHECK(kft_lines("filter funclist vfs_read vfs_open !vfs_r* !?fs_x fend") ==
        KftLines{"call:vfs_open"});
  CHECK(kft_lines("filter mintime 50 a filter funclist * !a fend") == KftLines{"call:*,!a"});
  CHECK(kft_lines("filter funclist a* b* !a* fend") == KftLines{"call:b*,!a*"});
  CHECK(kft_lines("filter funclist a* !a? fend") == KftLines{"call:a*,!a?"});
  CHECK(kft_lines("filter funclist :mod:ext4 !ext* fend") == KftLines{"call:ext4:*,!ext*"});
  CHECK(refused_kft("filter funclist a !a fend") ==
        "conf:1:20: all functions of the configuration are left out: nothing would be recorded");
  for (const char* const nothing :
       {"filter funclist a b a? !a? !b !a", "filter funclist :mod:ext4 !*", "filter funclist * !*",
        "filter mintime 50 a filter funclist b !? fend", "untimed filter funclist ab* !a*"}) {
    INFO(nothing);
    CHECK(test::has(refused_kft(nothing), "are left out: nothing would be recorded"));
  }
}

TEST_CASE("a configuration may limit the number of calls") {
  const auto plan = plan_kft("logentries 500", "conf", {});
  REQUIRE(plan);
  CHECK(plan->most_calls == 500);
  CHECK(test::has(plan->explanation.back(), "500 calls"));
  CHECK_FALSE(plan_kft("filter noints", "conf", {})->most_calls);
  CHECK(test::has(refused_kft("logentries 0"), "0 leaves no room"));
}

TEST_CASE("slow calls may bring along what they have called") {
  const KftPlan all = planned_kft("filter mintime 500 keep children");
  CHECK(kft_lines(all) == KftLines{"call:* if duration >= 500us"});
  REQUIRE(all.keep);
  CHECK(all.keep->text().empty());
  CHECK(test::has(all.explanation.back(), "with each of them"));
  const KftPlan some = planned_kft("filter mintime 500 filter keep children 10% 3");
  REQUIRE(some.keep);
  CHECK(some.keep->text() == "3,10%");
  CHECK(test::has(some.explanation.back(), "to 3 calls below it, and that took at least 10%"));
  CHECK_FALSE(planned_kft("filter mintime 500").keep);
}

TEST_CASE("which calls are brought along can be said in an option") {
  CHECK(KeepChildren::parse("")->text().empty());
  CHECK(KeepChildren::parse("3")->levels == 3);
  CHECK(KeepChildren::parse("10%")->percent == 10);
  CHECK(KeepChildren::parse("10%,1000")->text() == "1000,10%");
  for (const char* const bad : {"0", "0%", "101%", "1001", "3,4", "x", "-1", "%", "3 4", ","}) {
    INFO(bad);
    CHECK_FALSE(KeepChildren::parse(bad));
  }
}

TEST_CASE("what no instrument can do is refused") {
  CHECK(test::has(refused_kft("filter depth 3 untimed"), "conf:1:8: \"depth\" cannot be done"));
  CHECK(test::has(refused_kft("filter caller vfs_read untimed"), "\"caller\" cannot be done"));
  CHECK(test::has(refused_kft("filter cputime"), "conf:1:8: \"cputime\" says what mintime"));
  CHECK(test::has(refused_kft("filter keep children 10%"), "write which they are"));
  CHECK(
      test::has(refused_kft("filter keep children filter mintime 1 autorepeat trigger start entry "
                            "f\ntrigger stop exit f"),
                "\"keep\" children cannot be done"));
  CHECK(test::has(refused_kft("prime entry vfs_read trigger start time 5"),
                  "conf:1:1: \"prime\" by entry or exit needs a trigger start by entry or exit"));
  CHECK(test::has(refused_kft("autorepeat trigger stop time 5"),
                  "\"autorepeat\" needs a trigger start"));
  CHECK(test::has(refused_kft("filter funclist * !:mod:ext4"),
                  "conf:1:25: a module cannot be left out"));
}

TEST_CASE("a configuration says when it is primed") {
  const KftPlan by_hit = planned_kft(
      "prime exit vfs_fsync ret < 0\ntrigger start entry vfs_read\ntrigger stop time 5ms");
  CHECK(kft_lines(by_hit) == KftLines{"fn:vfs_read:entry do start",
                                      "call:vfs_fsync if ret < 0 do prime",
                                      "call:* if since_start <= 5ms"});
  CHECK(by_hit.explanation.front() ==
        "it is primed when vfs_fsync returns and ret < 0; triggers are not seen before");
  // What is primed and has no other begin, begins.
  const KftPlan alone = planned_kft("prime entry vfs_read");
  CHECK(kft_lines(alone) == KftLines{"fn:vfs_read:entry do start", "call:*"});
  CHECK(alone.waits_for_hit);
  CHECK(alone.explanation[1] == "the recording begins when it is primed");
  CHECK(kft_lines("prime entry a autorepeat trigger start entry b\ntrigger stop exit c") ==
        KftLines{"fn:b:entry do set kft_runs", "call:c do clear kft_runs", "fn:a:entry do start",
                 "call:* if kft_runs"});
  const KftPlan by_time = planned_kft("prime time 2s trigger start entry vfs_read");
  CHECK(by_time.begins_at == std::chrono::seconds(2));
  CHECK(kft_lines(by_time) == KftLines{"fn:vfs_read:entry do start", "call:*"});
  CHECK(planned_kft("prime time 2s trigger start time 1s").begins_at == std::chrono::seconds(2));
  CHECK(planned_kft("prime time 2s trigger start time 3s").begins_at == std::chrono::seconds(3));
  CHECK_FALSE(planned_kft("prime").begins_at);
  CHECK(test::has(refused_kft("prime entri x"),
                  "conf:1:7: \"entri\" where \"entry\", \"exit\" or \"time\" should stand"));
  CHECK(test::has(refused_kft("prime time soon"), "conf:1:12: \"soon\" where a time should stand"));
  CHECK(test::has(refused_kft("prime entry"), "conf:1:12: the end where a function should stand"));
  CHECK(test::has(refused_kft("prime prime"), "conf:1:7: \"prime\" is said a second time"));
  CHECK(test::has(refused_kft("prime exit f duration >"), "conf:1:14: "));
}

TEST_CASE("what KFT's parser says of a text") {
  const ParsedKft keep =
      parsed_kft("filter mintime 5 filter keep children 10%\nfilter depth 4\nlogentries 500");
  REQUIRE(keep.is_good);
  CHECK(keep.config->keep_percent == 10);
  CHECK(keep.config->keep_depth == 0);
  CHECK(keep.config->depth == 4);
  CHECK(keep.config->logentries == 500);
  CHECK(keep.config->said[FKT_KFT_LOGENTRIES].line == 3);
  CHECK(parsed_kft("filter keep children 3 filter mintime 5").config->keep_depth == 3);
  CHECK_FALSE(parsed_kft("filter keep children 101%").is_good);
  const ParsedKft both = parsed_kft("keep children 3 10% overwrite filter maxtime 5");
  REQUIRE(both.is_good);
  CHECK(both.config->keep_depth == 3);
  CHECK(both.config->keep_percent == 10);
  CHECK_FALSE(parsed_kft("keep children 3 4").is_good);
  CHECK_FALSE(parsed_kft("keep children 0").is_good);
  CHECK_FALSE(parsed_kft("keep 3").is_good);
  const ParsedKft watch = parsed_kft("watch worst-stack 500");
  REQUIRE(watch.is_good);
  CHECK(watch.config->is_worst_stack == 1);
  CHECK(watch.config->stack == 500);
  const ParsedKft prime = parsed_kft("prime time 2s");
  REQUIRE(prime.is_good);
  CHECK(prime.config->prime.moment == FKT_KFT_TIME);
  CHECK(prime.config->prime.time == 2'000'000'000);
  const ParsedKft late = parsed_kft("filter noints\n\ttrigger stop 5");
  CHECK_FALSE(late.is_good);
  CHECK(late.error.line == 2);
  CHECK(late.error.column == 15);
}
