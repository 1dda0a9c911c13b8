// SPDX-License-Identifier: GPL-2.0-only
// Tests why a call was slow, on recordings made here: the request to a disk that a wait was for,
// what was ahead of it, who ran on the CPU, who held the lock, and the path across sockets of one
// machine.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include <fkt/call_event.h>
#include <fkt/point_hit.h>

#include "lib/analyse/slow_call.h"
#include "lib/report/why_report.h"
#include "tests/unit/recording_builder.h"

using namespace fkt;
using namespace fkt::test;

// Other files that are compiled with this one have names like these.
namespace slow_call {
namespace {

constexpr std::uint64_t kDisk = 8 << 20, kPartition = 8 << 20 | 1, kOther = 9 << 20;
constexpr std::uint32_t kFsync = 74, kRead = 0, kFutex = 202, kSendto = 44;  // system calls
constexpr std::uint64_t kNetReceive = 3;                                     // softirq
enum Function { kSync, kLockCall };
enum Point { kQueue, kIssue, kComplete, kLockBegin, kLockEnd };

constexpr const char* kLines =
    "name\tfunction\t0\tvfs_fsync_range\n"
    "name\tfunction\t1\tmutex_lock\n"
    "name\ttracepoint\t0\tblock_bio_queue\n"
    "name\ttracepoint\t1\tblock_rq_issue\n"
    "name\ttracepoint\t2\tblock_rq_complete\n"
    "name\ttracepoint\t3\tcontention_begin\n"
    "name\ttracepoint\t4\tcontention_end\n"
    "name\tdev\t8388608\tsda\n"
    "values\tfunction\t0\t0\tdev:dev:1:0:64 ino:u:2:0:64 ret:s:3:0:64\n"
    "values\tfunction\t1\t1\tlock:x:1:0:64\n"
    "values\ttracepoint\t0\t0\tdev:dev:1:0:64 part:dev:2:0:64 ino:u:3:0:64 sector:u:4:0:64 "
    "bytes:u:5:0:64 flags:x:6:0:64\n"
    "values\ttracepoint\t1\t1\trq:x:1:0:64 dev:dev:2:0:64 sector:u:3:0:64 bytes:u:4:0:64 "
    "flags:x:5:0:64\n"
    "values\ttracepoint\t2\t2\trq:x:1:0:64 bytes:u:2:0:64 error:u:3:0:64\n"
    "values\ttracepoint\t3\t3\tlock:x:1:0:64 flags:x:2:0:64\n"
    "values\ttracepoint\t4\t4\tlock:x:1:0:64 ret:s:2:0:64\n";

class SlowRecording : public RecordingBuilder {
 public:
  SlowRecording() {
    section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + kLines);
    section(FKT_SEC_SYSCALLS, "64\t0\tread\n64\t44\tsendto\n64\t74\tfsync\n64\t202\tfutex\n");
    section(FKT_SEC_TASKS,
            "1\t1\t0\tinit\n42\t42\t1\tapp\n43\t43\t2\tjbd2\n50\t50\t1\tdd\n60\t60\t1\tother\n");
  }
  // Requests are spans of their own.
  void define_requests() {
    section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + kLines +
                                   "async\ttracepoint\t1\t1\tbegin\trequest\trq\tdev\n"
                                   "async\ttracepoint\t2\t2\tend\trequest\trq\tdev\n");
  }
  void at(std::uint32_t cpu, std::uint64_t clock, std::uint32_t id, std::uint32_t arg = 0,
          std::initializer_list<std::uint64_t> words = {}) {
    event(cpu, T + clock, id, arg, words);
  }
  void point(std::uint32_t cpu, std::uint64_t clock, Point point,
             std::initializer_list<std::uint64_t> values) {
    event(cpu, T + clock, FKT_E_POINT_VALUES,
          FKT_POINT_ARG(point, static_cast<std::uint32_t>(values.size())), values);
  }
  // A call that ended at `end` and took `ticks`.
  void call(std::uint32_t cpu, std::uint64_t end, std::uint64_t ticks, Function function,
            std::vector<std::uint64_t> values) {
    values.insert(values.begin(), {fkt_call_values_word(function, ticks), T + end - ticks});
    long_event(cpu, T + end, FKT_E_CALL_VALUES, static_cast<std::uint32_t>(values.size()), values);
  }
  const Recording& recording() {
    if (!trace_) {
      Result<Recording> trace = Recording::from_bytes(finish());
      REQUIRE(trace);
      trace_ = std::make_unique<Recording>(std::move(*trace));
    }
    return *trace_;
  }
  FoundSpan slowest_of(std::string_view name) {
    const std::vector<FoundSpan> found = slowest(recording(), {}, name, 1, {});
    REQUIRE(found.size() == 1);
    return found[0];
  }

 private:
  std::unique_ptr<Recording> trace_;
};

// app calls fsync, which waits for jbd2, which waits for its write behind dd's, and then for the
// CPU that dd has.
void record_fsync(SlowRecording& r) {
  r.pid(0, 42).pid(1, 50);
  r.at(0, 0, FKT_E_SYS_ENTRY, kFsync);
  r.point(1, 10, kQueue, {kDisk, kPartition, 0, 5000, 65536, 1});
  r.point(1, 20, kIssue, {0xd, kDisk, 5000, 65536, 1});
  r.point(1, 30, kQueue, {kOther, kOther, 0, 5000, 65536, 1});
  r.point(1, 40, kIssue, {0xe, kOther, 5000, 65536, 1});
  r.at(0, 100, FKT_E_SWITCH_S, 0);
  r.at(1, 150, FKT_E_SWITCH_R, 43);
  r.point(1, 160, kQueue, {kDisk, kPartition, 77, 9000, 4096, 1});
  r.point(1, 200, kIssue, {0xa, kDisk, 9000, 4096, 1});
  r.at(1, 210, FKT_E_SWITCH_D, 50);
  r.at(0, 300, FKT_E_IRQ_ENTRY, 14);
  r.point(0, 310, kComplete, {0xd, 65536, 0});
  r.at(0, 320, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  r.at(0, 390, FKT_E_IRQ_ENTRY, 14);
  r.point(0, 395, kComplete, {0xa, 4096, 0});
  r.at(0, 400, FKT_E_WAKING, 43);
  r.at(0, 410, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  r.at(1, 480, FKT_E_SWITCH_R, 43);
  r.at(1, 500, FKT_E_WAKING, 42);
  r.at(0, 520, FKT_E_SWITCH_R, 42);
  r.at(0, 580, FKT_E_NAME, 3, {kPartition, 77, 0x62612f});  // "/ab"
  r.call(0, 590, 580, kSync, {kPartition, 77, 0});
  r.at(0, 600, FKT_E_SYS_EXIT, 0);
}

std::uint32_t tid(const SlowCall& call, TaskIndex task) {
  return call.analysis().tasks()[task].tid;
}

// The steps as "tid:from-to"; times since T in ticks.
std::vector<std::string> steps_of(const SlowCall& call) {
  std::vector<std::string> all;
  for (const PathStep& step : call.path().steps) {
    all.push_back(std::to_string(tid(call, step.task)) + ':' + std::to_string(step.from - T) + '-' +
                  std::to_string(step.to - T));
  }
  return all;
}

std::string text_of(const SlowCall& call, std::size_t lines = 100) {
  const TimeFormat time(TimeUnit::ns, 1e9);
  TextWriter out;
  WhyReport{call, time, lines}.text(out);
  return out.take();
}

}  // namespace

TEST_CASE("a wait for a disk names its request, and what was ahead of it") {
  SlowRecording r;
  record_fsync(r);
  const SlowCall call(r.recording(), r.slowest_of("sys_fsync"), {});
  CHECK(steps_of(call) == std::vector<std::string>{"42:0-10", "42:10-100", "43:100-150",
                                                   "43:150-210", "43:210-400", "43:400-480",
                                                   "43:480-500", "42:500-520", "42:520-590",
                                                   "42:590-600"});
  const TaskIndex jbd2 = call.analysis().tasks().find(43);
  const DiskRequest* const request = call.request(jbd2, T + 400);
  REQUIRE(request != nullptr);
  CHECK(request->sector == 9000);
  CHECK(request->task == jbd2);
  CHECK(request->queued == T + 160);
  CHECK(request->issued == T + 200);
  CHECK(request->completed == T + 395);
  const auto ahead = call.ahead_of(*request);
  REQUIRE(ahead.size() == 1);
  CHECK(tid(call, ahead[0]->task) == 50);
  CHECK(ahead[0]->device == kDisk);
  // The other wake-up is no consequence of a request.
  CHECK(call.request(call.analysis().tasks().find(42), T + 500) == nullptr);
}

TEST_CASE("a wait for a CPU names who ran there") {
  SlowRecording r;
  record_fsync(r);
  const SlowCall call(r.recording(), r.slowest_of("sys_fsync"), {});
  const auto& steps = call.path().steps;
  const auto ready = std::ranges::find_if(steps, [](const PathStep& step) {
    return step.doing == TaskActivity::Doing::ready && step.from == T + 400;
  });
  REQUIRE(ready != steps.end());
  const auto ran = call.ran_meanwhile(*ready);
  REQUIRE(ran.size() == 1);
  CHECK(ran[0].cpu == 1);
  CHECK(tid(call, ran[0].task) == 50);
  CHECK(ran[0].ticks == 80);
}

TEST_CASE("the screen of a call: its file, the path as a tree, the functions") {
  SlowRecording r;
  record_fsync(r);
  const SlowCall call(r.recording(), r.slowest_of("sys_fsync"), {});
  CHECK(text_of(call) ==
        "app (42): sys_fsync(/ab) = 0 took 600 ns\n"
        "    Time  Share  From 0 to 600\n"
        "  400 ns  66.7%  asleep in vfs_fsync_range until jbd2 (43) woke it:\n"
        "  190 ns  31.7%    asleep, woken by irq 14 ata_piix\n"
        "                     write of 4.1 kB, sda at 9000 for /ab, by jbd2 (43)\n"
        "                     queued 40 ns, served 195 ns, behind 1 write of dd (50)\n"
        "   80 ns  13.3%    running\n"
        "   80 ns  13.3%    waiting for a CPU\n"
        "                     CPU 1: dd (50) 80 ns\n"
        "   50 ns   8.3%    not known\n"
        "  160 ns  26.7%  running in vfs_fsync_range\n"
        "   20 ns   3.3%  running in sys_fsync\n"
        "   20 ns   3.3%  waiting for a CPU\n"
        "Inside: vfs_fsync_range 580 ns\n");
  // What there is no room for is one line, so that the parts still add up.
  const std::string few = text_of(call, 8);
  CHECK(std::ranges::count(few, '\n') <= 8);
  CHECK(few.find("other parts") != few.npos);
}

TEST_CASE("a request can be asked for itself") {
  SlowRecording r;
  r.define_requests();
  record_fsync(r);
  const FoundSpan span = r.slowest_of("request sda");
  CHECK(span.async);
  CHECK(span.begin == T + 20);
  CHECK(span.duration == 290);
  const SlowCall call(r.recording(), span, {});
  REQUIRE(call.own_request() != nullptr);
  CHECK(call.own_request()->sector == 5000);
  CHECK(text_of(call) ==
        "dd (50): request sda took 290 ns\n"
        "    Time  Share  From 20 to 310\n"
        "  write of 65.5 kB, sda at 5000, by dd (50)\n"
        "  queued 10 ns, served 290 ns, nothing ahead\n");
}

TEST_CASE("a futex: the mutex, who held it and since when") {
  SlowRecording r;
  constexpr std::uint64_t kMutex = 0x7000, kWait = 128, kWake = 129;
  r.pid(0, 42).pid(1, 60);
  const auto futex = [&](std::uint32_t cpu, std::uint64_t at, std::uint64_t operation,
                         std::uint64_t value) {
    r.at(cpu, at, FKT_E_SYS_ENTRY_ARGS, 7, {kFutex, kMutex, operation, value, 0, 0, 0});
  };
  // 60 has waited for the mutex before: it has it since then.
  futex(1, 0, kWait, 2);
  r.at(1, 50, FKT_E_SYS_EXIT, 0);
  futex(0, 100, kWait, 2);
  r.at(0, 110, FKT_E_SWITCH_S, 0);
  r.at(1, 120, FKT_E_SYS_ENTRY, kFsync);
  r.at(1, 400, FKT_E_SYS_EXIT, 0);
  futex(1, 410, kWake, 1);
  r.at(1, 420, FKT_E_WAKING, 42);
  r.at(1, 430, FKT_E_SYS_EXIT, 1);
  r.at(0, 440, FKT_E_SWITCH_R, 42);
  r.at(0, 450, FKT_E_SYS_EXIT, 0);
  const SlowCall call(r.recording(), r.slowest_of("sys_futex"), {});
  CHECK(call.span().pid == 42);
  REQUIRE(call.path().waits.size() == 1);
  const auto lock = call.lock(call.path().waits[0]);
  REQUIRE(lock);
  CHECK(lock->address == kMutex);
  CHECK(lock->mutex);
  CHECK(lock->since == T + 50);
  CHECK(call.analysis().types()[lock->call].name == "sys_futex");
  const std::string text = text_of(call);
  CHECK(text.find("mutex 0x7000 was held by other (60) since 50 (370 ns)\n") != text.npos);
  CHECK(text.find("  280 ns  80.0%    running in sys_fsync\n") != text.npos);
}

TEST_CASE("a lock of the kernel: since when its holder has it, if it was seen to take it") {
  for (const bool seen : {true, false}) {
    SlowRecording r;
    constexpr std::uint64_t kLock = 0x8000;
    r.pid(0, 42).pid(1, 60);
    r.at(1, 0, FKT_E_SYS_ENTRY, kRead);
    if (seen) r.call(1, 50, 10, kLockCall, {kLock});
    r.at(0, 100, FKT_E_SYS_ENTRY, kFsync);
    r.point(0, 110, kLockBegin, {kLock, 32});
    r.at(0, 120, FKT_E_SWITCH_D, 0);
    r.at(1, 300, FKT_E_WAKING, 42);
    r.at(0, 310, FKT_E_SWITCH_R, 42);
    r.point(0, 320, kLockEnd, {kLock, 0});
    r.at(1, 330, FKT_E_SYS_EXIT, 0);
    r.at(0, 400, FKT_E_SYS_EXIT, 0);
    const SlowCall call(r.recording(), r.slowest_of("sys_fsync"), {});
    REQUIRE(call.path().waits.size() == 1);
    const auto lock = call.lock(call.path().waits[0]);
    REQUIRE(lock);
    CHECK(lock->address == kLock);
    CHECK_FALSE(lock->futex);
    CHECK(lock->since == (seen ? std::optional(T + 50) : std::nullopt));
    CHECK(call.analysis().types()[lock->call].name == "sys_read");
  }
}

TEST_CASE("what is sent to a socket of the same machine is on the receiver's path") {
  for (const bool by_interrupt : {false, true}) {
    SlowRecording r;
    r.pid(0, 42).pid(1, 60);
    r.at(0, 0, FKT_E_SYS_ENTRY, kRead);
    r.at(1, 0, FKT_E_SYS_ENTRY, kFsync);
    r.at(0, 100, FKT_E_SWITCH_S, 0);
    r.at(1, 300, FKT_E_SYS_EXIT, 0);
    r.at(1, 310, FKT_E_SYS_ENTRY, kSendto);
    if (by_interrupt) r.at(1, 312, FKT_E_IRQ_ENTRY, 11);
    r.at(1, 315, FKT_E_SOFTIRQ_RAISE, kNetReceive);
    if (by_interrupt) r.at(1, 318, FKT_E_IRQ_EXIT, 11 | 1 << 22);
    r.at(1, 320, FKT_E_SOFTIRQ_ENTRY, kNetReceive);
    r.at(1, 340, FKT_E_WAKING, 42);
    r.at(1, 350, FKT_E_SOFTIRQ_EXIT, kNetReceive);
    r.at(1, 360, FKT_E_SYS_EXIT, 0);
    r.at(0, 380, FKT_E_SWITCH_R, 42);
    r.at(0, 400, FKT_E_SYS_EXIT, 0);
    const SlowCall call(r.recording(), r.slowest_of("sys_read"), {});
    if (by_interrupt) {
      CHECK(call.path().waits.empty());
      continue;
    }
    REQUIRE(call.path().waits.size() == 1);
    CHECK(tid(call, call.path().waits[0].waker) == 60);
    CHECK(steps_of(call) == std::vector<std::string>{"42:0-100", "60:100-300", "60:300-310",
                                                     "60:310-340", "42:340-380", "42:380-400"});
  }
}

TEST_CASE("a flush is asked for by the last who wanted it, before its write and behind it") {
  SlowRecording r;
  constexpr std::uint64_t kNoSector = ~std::uint64_t{0}, kFlush = 2 | 1 << 18;
  r.pid(0, 42).pid(1, 60);
  r.at(0, 0, FKT_E_SYS_ENTRY, kFsync);
  r.point(0, 10, kQueue, {kDisk, kDisk, 0, 800, 512, 1 | 1 << 17 | 1 << 18});
  r.at(0, 20, FKT_E_SWITCH_D, 0);
  r.point(1, 30, kIssue, {0xf, kDisk, kNoSector, 0, kFlush});
  r.at(1, 100, FKT_E_IRQ_ENTRY, 14);
  r.point(1, 110, kComplete, {0xf, 0, 0});
  r.at(1, 120, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  r.point(1, 130, kIssue, {0xa, kDisk, 800, 512, 1});
  r.at(1, 200, FKT_E_IRQ_ENTRY, 14);
  r.point(1, 210, kComplete, {0xa, 512, 0});
  r.at(1, 220, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  r.point(1, 230, kIssue, {0xf, kDisk, kNoSector, 0, kFlush});
  r.at(1, 300, FKT_E_IRQ_ENTRY, 14);
  r.point(1, 310, kComplete, {0xf, 0, 0});
  r.at(1, 320, FKT_E_WAKING, 42);
  r.at(1, 330, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  r.at(0, 340, FKT_E_SWITCH_R, 42);
  r.at(0, 400, FKT_E_SYS_EXIT, 0);
  const SlowCall call(r.recording(), r.slowest_of("sys_fsync"), {});
  const DiskRequest* const flush = call.request(call.span().index, T + 320);
  REQUIRE(flush != nullptr);
  CHECK(IoUse::operation(flush->flags) == IoUse::What::flush);
  CHECK(tid(call, flush->task) == 42);
  CHECK(flush->queued == T + 10);
  CHECK(flush->issued == T + 230);
  // The write that it belongs to is not ahead of it.
  CHECK(call.ahead_of(*flush).empty());
}

TEST_CASE("threads that wait for each other in turn are one part") {
  SlowRecording r;
  r.section(FKT_SEC_TASKS, "1\t1\t0\tinit\n42\t42\t1\tapp\n43\t42\t1\tapp\n44\t42\t1\tapp\n");
  constexpr std::uint64_t kMutex = 0x7000, kWait = 128, kWake = 129;
  r.pid(0, 42).pid(1, 43).pid(2, 44);
  const auto futex = [&](std::uint32_t cpu, std::uint64_t at, std::uint64_t operation) {
    r.at(cpu, at, FKT_E_SYS_ENTRY_ARGS, 7, {kFutex, kMutex, operation, 2, 0, 0, 0});
  };
  futex(0, 0, kWait);
  r.at(0, 10, FKT_E_SWITCH_S, 0);
  futex(1, 20, kWait);
  r.at(1, 30, FKT_E_SWITCH_S, 0);
  r.at(2, 40, FKT_E_SYS_ENTRY, kFsync);
  r.at(2, 200, FKT_E_SYS_EXIT, 0);
  futex(2, 210, kWake);
  r.at(2, 220, FKT_E_WAKING, 43);
  r.at(2, 225, FKT_E_SYS_EXIT, 1);
  r.at(1, 230, FKT_E_SWITCH_R, 43);
  r.at(1, 240, FKT_E_SYS_EXIT, 0);
  r.at(1, 250, FKT_E_SYS_ENTRY, kFsync);
  r.at(1, 350, FKT_E_SYS_EXIT, 0);
  futex(1, 360, kWake);
  r.at(1, 370, FKT_E_WAKING, 42);
  r.at(1, 375, FKT_E_SYS_EXIT, 1);
  r.at(0, 380, FKT_E_SWITCH_R, 42);
  r.at(0, 400, FKT_E_SYS_EXIT, 0);
  const SlowCall call(r.recording(), r.slowest_of("sys_futex"), {});
  CHECK(call.span().pid == 42);
  CHECK(call.path().waits.size() == 2);
  const std::string text = text_of(call);
  CHECK(
      text.find(
          "  360 ns  90.0%  asleep in sys_futex until threads of app (42) woke it:\n"
          "                   longest of 2: mutex 0x7000 was held by app (43) since 240 (130 ns)\n"
          "  260 ns  65.0%    running in sys_fsync\n") != text.npos);
}

}  // namespace slow_call
