// SPDX-License-Identifier: GPL-2.0-only
// Tests conditions that the module checks, using the code that the module runs (fkt/condition.h),
// and conditions that cannot be checked there.
#include <catch2/catch.hpp>

#include <cstring>
#include <random>

#include "lib/record/condition_compiler.h"

using namespace fkt;

namespace {

constexpr std::uint64_t kAll = 1ULL << FKT_L_SYSTEM | 1ULL << FKT_L_PROCESS;
constexpr std::uint32_t kRead = FKT_P_SYSCALL + 0, kFsync = FKT_P_SYSCALL + 74;
constexpr std::uint32_t kFork32 = FKT_P_SYSCALL32 + 2;

Result<fkt_condition> made(const std::string& text, std::uint64_t mask = kAll) {
  const Result<Expression> expression = Expression::parse(text);
  if (!expression) return expression.error();
  return compile_condition(*expression, {.mask = mask, .ticks_per_second = 2e9, .tids = 32768});
}

fkt_condition when(const std::string& text) {
  const Result<fkt_condition> result = made(text);
  if (!result) throw std::runtime_error(text + ": " + result.error().message);
  REQUIRE(fkt_condition_valid(&*result));
  return *result;
}

std::string refusal(const std::string& text, std::uint64_t mask = kAll) {
  const Result<fkt_condition> result = made(text, mask);
  return result ? "made" : result.error().message;
}

fkt_condition_facts call(std::uint32_t id, std::uint64_t duration, std::int64_t ret = 0) {
  return {id, 1, 77, 1, duration, ret, "writer"};
}

fkt_condition_facts event(std::uint32_t id) {
  return {id, 1, 77, 0, FKT_CONDITION_UNKNOWN, 0, "writer"};
}

// Evaluates like the module: only for watched events.
bool fires(const std::string& text, const fkt_condition_facts& facts) {
  const fkt_condition condition = when(text);
  return fkt_condition_has(&condition.watched, facts.id) && fkt_condition_true(&condition, &facts);
}

bool watches(const std::string& text, std::uint32_t id) {
  const fkt_condition condition = when(text);
  return fkt_condition_has(&condition.watched, id);
}

}  // namespace

TEST_CASE("a slow call fires, whatever stands around it") {
  const std::string slow = R"(name == "sys_fsync" && duration > 50ms)";
  CHECK(fires(slow, call(kFsync, 100'000'001)));
  CHECK_FALSE(fires(slow, call(kFsync, 100'000'000)));
  CHECK_FALSE(fires(slow, call(kRead, 200'000'000)));
  CHECK_FALSE(fires(slow, call(kFsync, FKT_CONDITION_UNKNOWN)));
  CHECK(fires("duration >= 12000cycles", call(kRead, 12000)));
  CHECK(fires(R"(name ~ "sys*_fork")", call(kFork32, 1)));
  CHECK(fires(R"(!(name == "sys_read") && duration > 1us)", call(kFsync, 3000)));
  CHECK_FALSE(fires(R"(!(name == "sys_read") && duration > 1us)", call(kRead, 3000)));
}

TEST_CASE("results, CPUs, threads and their names") {
  CHECK(fires("ret == -EIO", call(kFsync, 1, -5)));
  CHECK_FALSE(fires("ret == -EIO", call(kFsync, 1, 5)));
  CHECK(fires("ret < 0 && ret != -ENOENT", call(kRead, 1, -13)));
  CHECK(fires("cpu == 1 && pid > 76 && pid <= 77", call(kRead, 1)));
  CHECK_FALSE(fires("cpu != 1", call(kRead, 1)));
  CHECK(fires(R"(task == "writer")", call(kRead, 1)));
  CHECK(fires(R"(task ~ "w*e?" && ret >= 0)", call(kRead, 1)));
  CHECK(fires(R"(task !~ "x*" && task != "reader")", call(kRead, 1)));
  CHECK_FALSE(fires(R"(task !~ "w*")", call(kRead, 1)));
}

TEST_CASE("events are asked about where they are named, calls where they can be meant") {
  CHECK(fires(R"(name == "hung_task")", event(FKT_E_HUNG_TASK)));
  CHECK(fires(R"(name == "soft_lockup" || name == "exit")", event(FKT_E_EXIT)));
  CHECK(fires(R"(name == "exec" || duration > 1s)", event(FKT_E_EXEC)));
  CHECK(watches(R"(name == "exec" || duration > 1s)", kRead));
  CHECK_FALSE(watches(R"(name == "exec" && cpu == 1)", kRead));
  CHECK_FALSE(watches("cpu == 1", FKT_E_EXEC));
  CHECK_FALSE(watches(R"(name == "sys_fsync" && duration > 1s)", kRead));
  CHECK_FALSE(watches(R"(name != "exec")", FKT_E_FORK));
  // Several ids of one event.
  CHECK(watches(R"(name == "switch")", FKT_E_SWITCH_D));
  CHECK(watches(R"(name == "switch")", FKT_E_SWITCH_PREEMPT));
  // An id without a name is not an event.
  CHECK_FALSE(watches("cpu == 1", 0x3ff));
}

TEST_CASE("what the module cannot check is refused by its name") {
  using Catch::Matchers::Contains;
  CHECK_THAT(refusal(R"(state == "D")"), Contains("column 1: \"state\" cannot be checked"));
  CHECK_THAT(refusal("time > 1s"), Contains("\"time\" cannot be checked"));
  CHECK_THAT(refusal("cpu == 1 && address == 3"), Contains("column 13: \"address\" cannot"));
  CHECK_THAT(refusal(R"(name == "sysret")"), Contains("is no event that can be checked"));
  CHECK_THAT(refusal(R"(name == "irq 14 ide0")"), Contains("is no event that can be checked"));
  CHECK_THAT(refusal(R"(name == "sys_fsnyc")"), Contains("did you mean \"sys_fsync\""));
  CHECK_THAT(refusal(R"(ret == "ENOENT")"), Contains("ret takes a number"));
  CHECK_THAT(refusal(R"(name == "fork" && duration > 1s)"), Contains("can never be true"));
  CHECK_THAT(refusal(R"(name == "fork" && name == "exit")"), Contains("can never be true"));
  CHECK_THAT(refusal(R"(name == "fork")", 1), Contains("in no layer that is recorded"));
  CHECK_THAT(refusal(R"(duration > 1s)", 1ULL << FKT_L_PROCESS), Contains("in no layer"));
  CHECK_THAT(refusal(R"(task == "a_name_that_no_task_can_have_here")"), Contains("so long"));
  CHECK_THAT(refusal(R"(task == "w*")"), Contains("only ~ and !~"));
  std::string many = "cpu == 0";
  for (int i = 1; i < 32; i++) many += " || cpu == " + std::to_string(i);
  CHECK(refusal(many) == "made");
  CHECK_THAT(refusal(many + " || cpu == 32"), Contains("too long to be checked"));
}

TEST_CASE("whatever the bytes of a condition are, it is refused or can be asked") {
  std::mt19937_64 random(1);
  const fkt_condition good = when(R"((name == "sys_read" || task ~ "w*") && !(duration > 1us))");
  int valid = 0;
  for (int i = 0; i < 200'000; i++) {
    fkt_condition bad = good;
    auto* const bytes = reinterpret_cast<unsigned char*>(&bad);
    const std::size_t head = offsetof(fkt_condition, watched);
    for (unsigned n = random() % 3 + 1; n > 0; n--) {
      bytes[random() % head] = static_cast<unsigned char>(random() % 12);
    }
    if (!fkt_condition_valid(&bad)) continue;
    valid++;
    const fkt_condition_facts facts = call(kRead, 5);
    CHECK((fkt_condition_true(&bad, &facts) & ~1) == 0);
  }
  CHECK(valid > 1000);
  fkt_condition open = good;
  std::memset(open.text[0], 'x', sizeof open.text[0]);
  CHECK_FALSE(fkt_condition_valid(&open));
}

TEST_CASE("a condition compares the thread's name so often as it has names, and no more") {
  fkt_condition many = when(R"(task ~ "*aaaaaaaaaaaaab")");
  for (unsigned i = 1; i < FKT_CONDITION_TEXTS; i++) {
    many.op[many.ops++] = many.op[0];
    many.op[many.ops++].what = FKT_CONDITION_OR;
  }
  CHECK(fkt_condition_valid(&many));
  many.op[many.ops++] = many.op[0];
  many.op[many.ops++].what = FKT_CONDITION_OR;
  CHECK_FALSE(fkt_condition_valid(&many));
}

TEST_CASE("what fired is told in one line") {
  fkt_fired fired{};
  fired.id = kFsync;
  fired.duration = 122'480'000;
  fired.cpu = 1;
  fired.pid = 77;
  std::strcpy(fired.task, "writer");
  CHECK(fired_text(fired, 2e9) == "sys_fsync of 61.240 ms by writer (77) on CPU 1, ret=0");
  fired.duration = FKT_CONDITION_UNKNOWN;
  fired.ret = -5;
  CHECK(fired_text(fired, 2e9) == "sys_fsync by writer (77) on CPU 1, ret=-5");
  fired.id = FKT_E_HUNG_TASK;
  CHECK(fired_text(fired, 2e9) == "hung_task by writer (77) on CPU 1");
  fired.id = 0;
  CHECK(fired_text(fired, 2e9, "tp:a:b do snapshot") ==
        "a hit of tp:a:b do snapshot by writer (77) on CPU 1");
}
