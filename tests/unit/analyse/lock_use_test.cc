// SPDX-License-Identifier: GPL-2.0-only
// Tests waits for locks and times of holding them, on recordings made here.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include <fkt/call_event.h>
#include <fkt/point_hit.h>

#include "lib/analyse/lock_use.h"
#include "lib/report/locks_report.h"
#include "tests/unit/analyzed.h"

using namespace fkt;
using namespace fkt::test;

// Other files that are compiled with this one have names like these.
namespace lock_use {
namespace {

constexpr std::uint64_t kLock = 0xffff8000, kOther = 0xffff9000, kMutex = 0x7000;
constexpr std::uint32_t kFutex = 202, kFsync = 74;
constexpr std::uint64_t kWait = 128, kWake = 129;  // private
enum Function { kTake, kFree, kUserTake, kUserFree };
enum Point { kBegin, kEnd };

constexpr const char* kLines =
    "name\tfunction\t0\tmutex_lock\n"
    "name\tfunction\t1\tmutex_unlock\n"
    "name\tfunction\t2\tlibc.so.6:pthread_mutex_lock\n"
    "name\tfunction\t3\tlibc.so.6:pthread_mutex_unlock\n"
    "name\ttracepoint\t0\tcontention_begin\n"
    "name\ttracepoint\t1\tcontention_end\n"
    "values\tfunction\t0\t3\tlock:x:1:0:64\n"
    "values\ttracepoint\t0\t0\tlock:x:1:0:64 flags:x:2:0:64\n"
    "values\ttracepoint\t1\t1\tlock:x:1:0:64 ret:s:2:0:64\n";

class LockRecording : public RecordingBuilder {
 public:
  LockRecording() {
    section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + kLines);
    section(FKT_SEC_SYSCALLS, "64\t74\tfsync\n64\t202\tfutex\n");
    section(FKT_SEC_TASKS, "1\t1\t0\tinit\n42\t42\t1\tapp\n43\t42\t1\tapp\n60\t60\t1\tother\n");
    pid(0, 42).pid(1, 60);
  }
  void at(std::uint32_t cpu, std::uint64_t clock, std::uint32_t id, std::uint32_t arg = 0,
          std::initializer_list<std::uint64_t> words = {}) {
    event(cpu, T + clock, id, arg, words);
  }
  void point(std::uint32_t cpu, std::uint64_t clock, Point point,
             std::initializer_list<std::uint64_t> values) {
    at(cpu, clock, FKT_E_POINT_VALUES,
       FKT_POINT_ARG(point, static_cast<std::uint32_t>(values.size())), values);
  }
  void call(std::uint32_t cpu, std::uint64_t end, std::uint64_t ticks, Function function,
            std::uint64_t lock) {
    const std::vector<std::uint64_t> values{fkt_call_values_word(function, ticks), T + end - ticks,
                                            lock};
    long_event(cpu, T + end, FKT_E_CALL_VALUES, static_cast<std::uint32_t>(values.size()), values);
  }
  void futex(std::uint32_t cpu, std::uint64_t clock, std::uint64_t operation, std::uint64_t value) {
    at(cpu, clock, FKT_E_SYS_ENTRY_ARGS, 7, {kFutex, kMutex, operation, value, 0, 0, 0});
  }
};

struct Use {
  explicit Use(LockRecording& builder, const Selection& selection = {})
      : recording(opened(builder.finish())), analysis(recording.info(), selection), use(analysis) {
    for (const Event& event : recording.events()) use.add(event, analysis.add(event));
    rows = use.rows();
  }
  TaskIndex task(std::uint32_t tid) const { return analysis.tasks().find(tid); }

  Recording recording;
  Analysis analysis;
  LockUse use;
  std::vector<LockUse::Row> rows;
};

}  // namespace

TEST_CASE("locks: a mutex that was spun for before its sleeper was woken is one wait") {
  LockRecording r;
  r.at(0, 90, FKT_E_SYS_ENTRY, kFsync);
  r.point(0, 100, kBegin, {kLock, 32 | 1});
  // An interrupt's own wait meanwhile.
  r.point(0, 110, kBegin, {kOther, 1});
  r.point(0, 120, kEnd, {kOther, 0});
  r.point(0, 130, kBegin, {kLock, 32});
  r.at(0, 140, FKT_E_SWITCH_D, 0);
  r.at(1, 300, FKT_E_WAKING, 42);
  r.at(0, 310, FKT_E_SWITCH_R, 42);
  r.point(0, 320, kEnd, {kLock, 0});
  r.point(0, 330, kBegin, {kLock, 32});
  r.point(0, 340, kEnd, {kLock, static_cast<std::uint64_t>(-4)});
  r.at(0, 400, FKT_E_SYS_EXIT, 0);
  const Use found(r);
  REQUIRE(found.rows.size() == 2);
  const LockUse::Row& row = found.rows[0];
  CHECK(row.address == kLock);
  CHECK(row.kind == "mutex");
  CHECK(row.process == kNoTask);
  CHECK(row.waits.count == 2);
  CHECK(row.waits.sum == 230);
  CHECK(row.waits.max == 220);
  CHECK(row.failed == 1);
  CHECK(found.analysis.types()[row.longest.in].name == "sys_fsync");
  REQUIRE(row.wakers.size() == 1);
  CHECK(row.wakers.at(found.task(60)).count == 1);
  CHECK(found.rows[1].kind == "spinlock");
  CHECK(found.rows[1].waits.sum == 10);
}

TEST_CASE("locks: how long functions of the kernel held a lock, waited for or not") {
  LockRecording r;
  r.call(0, 110, 10, kTake, kLock);
  r.call(0, 160, 20, kFree, kLock);  // from 140 on
  r.point(0, 200, kBegin, {kLock, 32});
  r.point(0, 250, kEnd, {kLock, 0});
  r.call(0, 260, 70, kTake, kLock);
  r.call(0, 360, 10, kFree, kLock);
  r.call(1, 500, 10, kFree, kLock);  // taken before the recording
  const Use found(r);
  REQUIRE(found.rows.size() == 1);
  const LockUse::Row& row = found.rows[0];
  CHECK(row.holds.count == 2);
  CHECK(row.holds.sum == 30 + 100);
  CHECK(row.holds.max == 100);
  CHECK(row.holders.at(found.task(42)).count == 2);
  CHECK(row.waits.sum == 50);
}

TEST_CASE("locks: a futex is one of its process; who wakes a mutex's waiter has had it") {
  LockRecording r;
  r.pid(1, 43);
  r.futex(0, 0, kWait, 2);
  r.at(0, 50, FKT_E_SYS_EXIT, 0);  // 42 has the mutex
  r.futex(1, 60, kWait, 2);
  r.at(1, 70, FKT_E_SWITCH_S, 60);
  r.futex(0, 200, kWake, 1);
  r.at(0, 210, FKT_E_WAKING, 43);
  r.at(0, 220, FKT_E_SYS_EXIT, 1);
  r.at(1, 230, FKT_E_SWITCH_R, 43);
  r.at(1, 240, FKT_E_SYS_EXIT, 0);
  r.futex(1, 300, kWait, 2);  // the value was another one: no wait
  r.at(1, 310, FKT_E_SYS_EXIT, static_cast<std::uint32_t>(-11) & FKT_ARG_MASK);
  const Use found(r);
  REQUIRE(found.rows.size() == 1);
  const LockUse::Row& row = found.rows[0];
  CHECK(row.address == kMutex);
  CHECK(row.process == found.task(42));
  CHECK(row.kind == "futex mutex");
  CHECK(row.waits.count == 2);
  CHECK(row.waits.max == 180);
  CHECK(row.wakers.at(found.task(42)).count == 1);
  CHECK(row.holds.count == 1);
  CHECK(row.holds.sum == 160);
  const TimeFormat time(TimeUnit::ns, 1e9);
  TextWriter text, json;
  const ProgramCode code(found.analysis);
  const LocksReport report{found.use, found.analysis, code, time, 10};
  report.text(text);
  CHECK(text.view().find("futex mutex 0x7000") != text.view().npos);
  report.json(json);
  CHECK(json.view().find("\"woken_by\":[{\"task\":\"app\",\"pid\":42,\"count\":1,\"total\":180") !=
        json.view().npos);
}

TEST_CASE("locks: functions of a program hold a lock of its process") {
  LockRecording r;
  r.call(0, 110, 10, kUserTake, kMutex);
  r.call(0, 160, 20, kUserFree, kMutex);
  const Use found(r);
  REQUIRE(found.rows.size() == 1);
  CHECK(found.rows[0].process == found.task(42));
  CHECK(found.rows[0].holds.sum == 30);
}

TEST_CASE("locks: events that were lost end no wait") {
  LockRecording r;
  r.point(0, 100, kBegin, {kLock, 1});
  r.lost(0, T + 110, T + 150, 3);
  r.point(0, 200, kEnd, {kLock, 0});
  CHECK(Use(r).rows.empty());
}

}  // namespace lock_use
