// SPDX-License-Identifier: GPL-2.0-only
// Tests triggers, using the code that the module runs (fkt/program_run.h), and expressions that
// cannot be checked there.
#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <stdexcept>

#include <fkt/program_run.h>

#include "lib/instrument/trigger_compiler.h"

using namespace fkt;

namespace {

constexpr std::uint64_t kAll = 1ULL << FKT_L_SYSTEM | 1ULL << FKT_L_PROCESS;
constexpr std::uint32_t kRead = FKT_P_SYSCALL + 0, kFsync = FKT_P_SYSCALL + 74;
constexpr std::uint32_t kFork32 = FKT_P_SYSCALL32 + 2;

Result<Trigger> triggered(const std::string& text, std::uint64_t mask = kAll) {
  const Result<Expression> expression = Expression::parse(text);
  if (!expression) return expression.error();
  return compile_trigger(*expression, {.mask = mask, .ticks_per_second = 2e9, .tids = 32768});
}

Trigger when(const std::string& text) {
  Result<Trigger> result = triggered(text);
  if (!result) throw std::runtime_error(text + ": " + result.error().message);
  return std::move(*result);
}

std::string trigger_refusal(const std::string& text, std::uint64_t mask = kAll) {
  const Result<Trigger> result = triggered(text, mask);
  return result ? "made" : result.error().message;
}

using TriggerWords = std::array<__u64, FKT_TRIGGER_WORDS>;

TriggerWords call(std::uint32_t id, std::uint64_t duration, std::int64_t ret = 0) {
  return {id, 1, 77, reinterpret_cast<std::uintptr_t>("writer"), duration, static_cast<__u64>(ret)};
}

TriggerWords event(std::uint32_t id) {
  return call(id, FKT_TRIGGER_UNKNOWN);
}

int read_memory(void* to, __u64 address, __u32 bytes) {
  std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
  return 0;
}

// Evaluates like the module: only for watched events.
bool trigger_fires(const std::string& text, const TriggerWords& hit) {
  const Trigger trigger = when(text);
  fkt_emitted nothing{};
  return fkt_trigger_watches(&trigger.head, static_cast<__u32>(hit[FKT_TRIGGER_ID])) &&
         fkt_program_run(&trigger.program.program(), hit.data(), &nothing, read_memory, nullptr) ==
             FKT_RUN_KEEP;
}

bool watches(const std::string& text, std::uint32_t id) {
  const Trigger trigger = when(text);
  return fkt_trigger_watches(&trigger.head, id);
}

}  // namespace

TEST_CASE("a slow call fires, whatever stands around it") {
  const std::string slow = R"(name == "sys_fsync" && duration > 50ms)";
  CHECK(trigger_fires(slow, call(kFsync, 100'000'001)));
  CHECK_FALSE(trigger_fires(slow, call(kFsync, 100'000'000)));
  CHECK_FALSE(trigger_fires(slow, call(kRead, 200'000'000)));
  CHECK_FALSE(trigger_fires(slow, call(kFsync, FKT_TRIGGER_UNKNOWN)));
  CHECK(trigger_fires("duration >= 12000cycles", call(kRead, 12000)));
  CHECK(trigger_fires(R"(name ~ "sys*_fork")", call(kFork32, 1)));
  CHECK(trigger_fires(R"(!(name == "sys_read") && duration > 1us)", call(kFsync, 3000)));
  CHECK_FALSE(trigger_fires(R"(!(name == "sys_read") && duration > 1us)", call(kRead, 3000)));
}

TEST_CASE("results, CPUs, threads and their names") {
  CHECK(trigger_fires("ret == -EIO", call(kFsync, 1, -5)));
  CHECK_FALSE(trigger_fires("ret == -EIO", call(kFsync, 1, 5)));
  CHECK(trigger_fires("ret < 0 && ret != -ENOENT", call(kRead, 1, -13)));
  CHECK(trigger_fires("cpu == 1 && pid > 76 && pid <= 77", call(kRead, 1)));
  CHECK_FALSE(trigger_fires("cpu != 1", call(kRead, 1)));
  CHECK(trigger_fires(R"(task == "writer")", call(kRead, 1)));
  CHECK(trigger_fires(R"(task ~ "w*e?" && ret >= 0)", call(kRead, 1)));
  CHECK(trigger_fires(R"(task !~ "x*" && task != "reader")", call(kRead, 1)));
  CHECK_FALSE(trigger_fires(R"(task !~ "w*")", call(kRead, 1)));
}

TEST_CASE("events are asked about where they are named, calls where they can be meant") {
  CHECK(trigger_fires(R"(name == "hung_task")", event(FKT_E_HUNG_TASK)));
  CHECK(trigger_fires(R"(name == "soft_lockup" || name == "exit")", event(FKT_E_EXIT)));
  CHECK(trigger_fires(R"(name == "exec" || duration > 1s)", event(FKT_E_EXEC)));
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
  CHECK_THAT(trigger_refusal(R"(state == "D")"), Contains("column 1: \"state\" cannot be checked"));
  CHECK_THAT(trigger_refusal("time > 1s"), Contains("\"time\" cannot be checked"));
  CHECK_THAT(trigger_refusal("cpu == 1 && address == 3"),
             Contains("column 13: \"address\" cannot"));
  CHECK_THAT(trigger_refusal(R"(name == "sysret")"), Contains("is no event that can be checked"));
  CHECK_THAT(trigger_refusal(R"(name == "irq 14 ide0")"),
             Contains("is no event that can be checked"));
  CHECK_THAT(trigger_refusal(R"(name == "sys_fsnyc")"), Contains("did you mean \"sys_fsync\""));
  CHECK_THAT(trigger_refusal(R"(ret == "ENOENT")"), Contains("ret takes a number"));
  CHECK_THAT(trigger_refusal(R"(name == "fork" && duration > 1s)"), Contains("can never be true"));
  CHECK_THAT(trigger_refusal(R"(name == "fork" && name == "exit")"), Contains("can never be true"));
  CHECK_THAT(trigger_refusal(R"(name == "fork")", 1), Contains("in no layer that is recorded"));
  CHECK_THAT(trigger_refusal(R"(duration > 1s)", 1ULL << FKT_L_PROCESS), Contains("in no layer"));
  CHECK_THAT(trigger_refusal(R"(task == "a_name_that_no_task_can_have_here")"),
             Contains("so long"));
  CHECK_THAT(trigger_refusal(R"(task == "w*")"), Contains("only ~ and !~"));
  std::string many = "cpu == 0", tasks = R"(task == "0")";
  for (unsigned i = 1; i < FKT_PROGRAM_INSNS; i++) many += " || cpu == " + std::to_string(i);
  CHECK(trigger_refusal(many) == "made");
  CHECK_THAT(trigger_refusal(many + " || cpu == 1000"),
             Contains("too long for the kernel: at most 128"));
  for (unsigned i = 1; i <= FKT_PROGRAM_TEXTS; i++)
    tasks += " || task == \"" + std::to_string(i) + "\"";
  CHECK_THAT(trigger_refusal(tasks), Contains("too long for the kernel: at most 8 texts"));
}

TEST_CASE("a test that cannot be made of an event is false, whatever stands around it") {
  CHECK(
      trigger_fires(R"(!(duration > 1s) && name == "sys_read")", call(kRead, FKT_TRIGGER_UNKNOWN)));
  CHECK_FALSE(
      trigger_fires(R"(duration != 1s && name == "sys_read")", call(kRead, FKT_TRIGGER_UNKNOWN)));
  CHECK_FALSE(trigger_fires(R"(name == "exit" || ret != 1)", event(FKT_E_FORK)));
  CHECK(trigger_fires(R"(name == "exit" && !(ret == 0))", event(FKT_E_EXIT)));
  CHECK_FALSE(trigger_fires("cpu == -1 || duration < 0", call(kRead, 0)));
  CHECK(trigger_fires("cpu >= -1 && duration >= 0", call(kRead, 0)));
}

TEST_CASE("names are runs of ids, with holes for those that do not fit") {
  const std::string reads = R"(name ~ "sys_*read*" && name != "sys_readlink")";
  CHECK(trigger_fires(reads, call(kRead, 1)));
  CHECK_FALSE(trigger_fires(reads, call(FKT_P_SYSCALL + 89, 1)));
  CHECK_FALSE(trigger_fires(reads, call(kFsync, 1)));
  CHECK(trigger_fires(R"(name ~ "sys_*")", call(kFsync, 1)));
  CHECK(trigger_fires(R"(!(name ~ "sys_r*") || duration > 1us)", call(kFsync, 1)));
  CHECK_FALSE(trigger_fires(R"(!(name ~ "sys_r*") || duration > 1us)", call(kRead, 1)));
  CHECK(when("cpu == 1").head.tids == 0);
  CHECK(when("duration > 1us").head.tids == 32768);
}

TEST_CASE("what fired is told in one line") {
  fkt_fired fired{};
  fired.id = kFsync;
  fired.duration = 122'480'000;
  fired.cpu = 1;
  fired.pid = 77;
  std::strcpy(fired.task, "writer");
  CHECK(fired_text(fired, 2e9) == "sys_fsync of 61.240 ms by writer (77) on CPU 1, ret=0");
  fired.duration = FKT_TRIGGER_UNKNOWN;
  fired.ret = -5;
  CHECK(fired_text(fired, 2e9) == "sys_fsync by writer (77) on CPU 1, ret=-5");
  fired.id = FKT_E_HUNG_TASK;
  CHECK(fired_text(fired, 2e9) == "hung_task by writer (77) on CPU 1");
  fired.id = 0;
  CHECK(fired_text(fired, 2e9, "tp:a:b do snapshot") ==
        "a hit of tp:a:b do snapshot by writer (77) on CPU 1");
}
