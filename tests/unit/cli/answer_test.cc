// SPDX-License-Identifier: GPL-2.0-only
// Tests the report's first screen, and the sums of what tasks waited for off the CPU.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "cli/base/answer.h"
#include "lib/analyse/off_cpu.h"
#include "lib/format/clocks.h"
#include "lib/read/event_merge.h"
#include "lib/report/call_tree_text.h"
#include "lib/report/off_cpu_report.h"
#include "lib/report/summary_cut.h"
#include "lib/scan/scan.h"
#include "tests/unit/analyzed.h"
#include "tests/unit/busy_recording.h"
#include "tests/unit/call_recording.h"
#include "tests/unit/how_many.h"
#include "tests/unit/random_recording.h"
#include "tests/unit/slices.h"

using namespace fkt;
using namespace fkt::test;

namespace {

Answer answer_of(RecordingBuilder& builder, std::size_t rows = 100, std::size_t slowest = 10) {
  const Result<Recording> trace = Recording::from_bytes(builder.finish());
  REQUIRE(trace);
  return cli::read_answer(*trace, {}, rows, slowest);
}

// "100 running in sys_read" etc.
std::vector<std::string> lines_of(const std::vector<Answer::Row>& rows) {
  std::vector<std::string> lines;
  for (const Answer::Row& row : rows) {
    lines.push_back(std::to_string(row.ticks) + " " + row.what);
  }
  return lines;
}
std::vector<std::string> lines_of(const Answer& answer) {
  return lines_of(answer.rows);
}

// All that the answer says, with rows of equal time in the order of their text.
std::vector<std::string> told(const Answer& answer) {
  std::vector<std::string> lines = lines_of(answer);
  std::ranges::sort(lines);
  for (const Answer::Call& call : answer.slowest) {
    lines.push_back(
        fmt::format("{} at {} {} {} {}", call.ticks, call.at, call.call, call.task, call.pid));
  }
  lines.push_back(
      fmt::format("{} of {} tasks, {} events", answer.all, answer.tasks, answer.events));
  return lines;
}

// The answer from the scan, or from all events one by one.
Answer answer_by(bool scans, const Recording& trace, const RecordingInfo& info,
                 const Selection& selection) {
  Analysis analysis(info, selection);
  CommandUse use(analysis, 10);
  analysis.watch(use);
  if (scans) {
    scan(trace, analysis, {.activity = &use.activity(), .bursts = &use});
  } else {
    for (const Event& event : trace.events({.from = {}, .to = selection.to, .cpu = {}})) {
      use.activity().add(event, analysis.add(event));
    }
  }
  analysis.finish(!selection.to, recording_end(trace));
  use.finish(analysis.end());
  return make_answer(use, analysis, summarize(analysis, trace.integrity(), false), 1000);
}

// The task with most events.
std::uint32_t busiest(const Recording& trace) {
  std::map<std::uint32_t, std::size_t> events;
  for (const Event& event : trace.events()) events[event.pid] += !event.is_gap() && event.pid != 0;
  return std::ranges::max_element(events, {}, [](const auto& e) { return e.second; })->first;
}

// work (42) forks 43; 43 sleeps for the disk in read, which an interrupt ends; 42 waits for it in
// write. An interrupt comes while 42 runs. Thread 50 is of another process.
RecordingBuilder two_tasks() {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 0);
  b.event(0, T, FKT_E_SYS_ENTRY, 39);
  b.event(0, T + 100, FKT_E_FORK, 43, {43 | std::uint64_t{42} << 32});
  b.event(0, T + 110, FKT_E_WAKEUP_NEW, 43, {1});
  b.event(0, T + 200, FKT_E_SYS_EXIT, 43);
  b.event(0, T + 300, FKT_E_IRQ_ENTRY, 14);
  b.event(0, T + 350, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  b.event(0, T + 400, FKT_E_SYS_ENTRY, 1);
  b.event(0, T + 500, FKT_E_SWITCH_S, 50);
  b.event(1, T + 150, FKT_E_SWITCH_R, 43);
  b.event(1, T + 160, FKT_E_SYS_EXIT, 0);
  b.event(1, T + 200, FKT_E_SYS_ENTRY, 0);
  b.event(1, T + 250, FKT_E_SWITCH_D, 0);
  b.event(1, T + 750, FKT_E_IRQ_ENTRY, 14);
  b.event(1, T + 760, FKT_E_WAKING, 43);
  b.event(1, T + 770, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  b.event(1, T + 800, FKT_E_SWITCH_R, 43);
  b.event(1, T + 900, FKT_E_SYS_EXIT, 5);
  b.event(1, T + 950, FKT_E_WAKING, 42);
  b.event(1, T + 960, FKT_E_SWITCH_X, 0);
  b.event(0, T + 1000, FKT_E_SWITCH_S, 42);
  b.event(0, T + 1100, FKT_E_SYS_EXIT, 1);
  return b;
}

}  // namespace

TEST_CASE("sleeps have a kind") {
  RecordingBuilder b;
  b.section(
      FKT_SEC_SYSCALLS,
      "64\t0\tread\n64\t45\trecvfrom\n64\t72\tfcntl\n64\t202\tfutex\n64\t230\tclock_nanosleep\n");
  b.pid(0, 42).pid(1, 0);
  std::uint64_t clock = T;
  // Sleeps in a call for `ticks`, until another task, or a softirq, wakes it.
  const auto sleep = [&](std::uint64_t ticks, std::uint32_t call, std::uint16_t how, int softirq) {
    b.event(0, clock += 10, FKT_E_SYS_ENTRY, call);
    b.event(0, clock += 10, how, softirq < 0 ? 50 : 0);
    const std::uint64_t woken = clock + ticks;
    if (softirq >= 0) b.event(0, woken - 10, FKT_E_SOFTIRQ_ENTRY, softirq);
    b.event(0, woken, FKT_E_WAKING, 42);
    if (softirq >= 0) b.event(0, woken + 1, FKT_E_SOFTIRQ_EXIT, softirq);
    b.event(0, clock = woken + 10, FKT_E_SWITCH_S, 42);
    b.event(0, clock += 10, FKT_E_SYS_EXIT, 0);
  };
  sleep(1000, 202, FKT_E_SWITCH_S, -1);    // futex
  sleep(100, 72, FKT_E_SWITCH_S, -1);      // fcntl, for a lock of a file
  sleep(20000, 0, FKT_E_SWITCH_D, -1);     // read, for a lock that task 50 has
  sleep(300000, 230, FKT_E_SWITCH_S, 8);   // clock_nanosleep, until HRTIMER
  sleep(4000000, 232, FKT_E_SWITCH_S, 1);  // epoll_wait, until TIMER
  sleep(5000, 45, FKT_E_SWITCH_S, -1);     // recvfrom
  sleep(60000, 232, FKT_E_SWITCH_S, 3);    // epoll_wait, until NET_RX
  sleep(700000, 74, FKT_E_SWITCH_D, 4);    // fsync, until BLOCK
  sleep(8000000, 0, FKT_E_SWITCH_S, -1);   // read, of a pipe
  CHECK(lines_of(answer_of(b).kinds) ==
        std::vector<std::string>{"8000000 other waits", "4300000 timers and sleep", "700000 disk",
                                 "65000 network", "21100 locks", "260 on a CPU",
                                 "90 waiting for a CPU"});
}

TEST_CASE("the command's time: what its tasks ran, what they waited for, and interrupts") {
  RecordingBuilder b = two_tasks();
  const Answer answer = answer_of(b);
  CHECK(answer.command == "work");
  CHECK(answer.pid == 42);
  CHECK(answer.tasks == 2);
  CHECK(answer.cpus == 2);
  CHECK(lines_of(answer) == std::vector<std::string>{
                                "510 asleep in sys_read, woken by irq 14 ata_piix",
                                "450 asleep until another of its tasks woke it",
                                "260 running in no call (user mode)",
                                "200 running in sys_getpid",
                                "200 running in sys_write",
                                "150 running in sys_read",
                                "130 waiting for a CPU",
                                "50 interrupts",
                            });
  CHECK(lines_of(answer.kinds) == std::vector<std::string>{"860 on a CPU", "510 disk",
                                                           "450 waits for each other",
                                                           "130 waiting for a CPU"});
  std::uint64_t sum = 0;
  for (const Answer::Row& row : answer.rows) sum += row.ticks;
  CHECK(answer.all == sum);
  REQUIRE(answer.slowest.size() == 3);
  CHECK(answer.slowest[0].call == "sys_read");
  CHECK(answer.slowest[0].ticks == 700);
  CHECK(answer.slowest[0].at == 200);
  CHECK(answer.slowest[0].pid == 43);
  CHECK(answer.slowest[1].call == "sys_write");
  CHECK(answer.slowest[1].ticks == 700);
}

TEST_CASE("the command's time: rows with least time are one, of calls the slowest are kept") {
  RecordingBuilder b = two_tasks();
  const Answer answer = answer_of(b, 3, 1);
  CHECK(lines_of(answer) == std::vector<std::string>{
                                "510 asleep in sys_read, woken by irq 14 ata_piix",
                                "450 asleep until another of its tasks woke it",
                                "990 6 other things",
                            });
  REQUIRE(answer.slowest.size() == 1);
  CHECK(answer.slowest[0].ticks == 700);
}

TEST_CASE("a slice knows which tasks are the command's, though their forks lie before it") {
  RecordingBuilder b = two_tasks();
  const Bytes slice = slice_of(b.finish(), T + 240, T + 1050);
  const Result<Recording> trace = Recording::from_bytes(slice);
  REQUIRE(trace);
  const Answer answer = cli::read_answer(*trace, {}, 100, 10);
  CHECK(answer.tasks == 2);
  const std::vector<std::string> lines = lines_of(answer);
  REQUIRE_FALSE(lines.empty());
  CHECK(lines[0] == "510 asleep in sys_read, woken by irq 14 ata_piix");
}

TEST_CASE("without a command the processes' time on the CPUs is told") {
  RecordingBuilder b = two_tasks();
  b.section(FKT_SEC_COMMAND,
            R"({"recorder_pid":10,"workload_pid":0,"command":[],"mask":1025,"args":false,)"
            R"("filter":"none","filter_pid":0})");
  const Answer answer = answer_of(b);
  CHECK(answer.pid == 0);
  CHECK(answer.command.empty());
  const std::vector<std::string> lines = lines_of(answer);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == "550 work (42) running");
  CHECK(lines[2] == "500 ? (50) running");
  CHECK(lines[3] == "260 work (43) running");
  TextWriter out;
  write_answer(out, answer, {"a file", 31, false}, TimeFormat(TimeUnit::readable));
  CHECK(out.view().starts_with("The whole machine: 1.10 us, 21 \n"));
  CHECK(out.view().find("--critical-path") == std::string_view::npos);
}

TEST_CASE("lines are cut to the terminal's width, not inside a character; headings are bold") {
  Answer answer;
  answer.command = "touch \xc3\xa4\xc3\xa4";
  const TimeFormat time(TimeUnit::readable);
  TextWriter out;
  write_answer(out, answer, {"trace_file", 7, true}, time);
  CHECK(out.view().starts_with("\033[1mtouch \xc3\xa4\n\033[0m"));
}

TEST_CASE("off the CPU: by task, call, what it waited for and who woke it; page faults by name") {
  RecordingBuilder b = two_tasks();
  b.event(0, T + 1200, FKT_E_FAULT_USER, 0x14, {0x401000, 0x401000});
  b.event(0, T + 1300, FKT_E_SWITCH_D, 0);
  b.event(0, T + 1500, FKT_E_IRQ_ENTRY, 14);
  b.event(0, T + 1510, FKT_E_WAKING, 42);
  b.event(0, T + 1520, FKT_E_IRQ_EXIT, 14 | 1 << 22);
  b.event(0, T + 1550, FKT_E_SWITCH_R, 42);
  const Result<Recording> trace = Recording::from_bytes(b.finish());
  REQUIRE(trace);
  Analysis analysis(trace->info(), {.own = TaskChoice{0, "work"}});
  TaskActivity states(analysis);
  OffCpu waits(analysis);
  states.tell([&](TaskIndex task, const TaskActivity::Period& period) { waits.add(task, period); });
  analysis.watch(states);
  for (const Event& event : trace->events()) states.add(event, analysis.add(event));
  analysis.finish(true, recording_end(*trace));
  states.finish(analysis.end());
  const std::vector<OffCpu::Row> rows = waits.rows();
  TextWriter out;
  OffCpuReport{rows, 100, TimeFormat(TimeUnit::ns)}.csv(out);
  CHECK(out.view() ==
        "time,percent,count,average,max,task,in,for,woken_by\r\n"
        "510,38.06,1,510,510,work (43),sys_read,disk,irq 14 ata_piix\r\n"
        "450,33.58,1,450,450,work (42),sys_write,asleep,work (43)\r\n"
        "210,15.67,1,210,210,work (42),page fault,disk,irq 14 ata_piix\r\n"
        "50,3.73,1,50,50,work (42),sys_write,cpu,\r\n"
        "40,2.99,1,40,40,work (42),no call,cpu,\r\n"
        "40,2.99,1,40,40,work (43),no call,cpu,\r\n"
        "40,2.99,1,40,40,work (43),sys_read,cpu,\r\n");
  CallTree tree([](TypeIndex) { return std::string_view(); },
                [](std::uint32_t) { return std::string(); });
  add_off_cpu(tree, rows);
  tree.finish();
  CHECK(tree.nodes()[0].total == 1340);
  TextWriter folded;
  write_folded(folded, tree, TimeFormat(TimeUnit::ns));
  CHECK(folded.view().find("work (42);page fault;[disk];irq 14 ata_piix 210\n") !=
        std::string_view::npos);
}

TEST_CASE("tables of the statistics that are cut keep their sum") {
  RecordingBuilder b = two_tasks();
  const Analyzed whole(b);
  Summary summary = whole.summary();
  std::uint64_t before = 0, after = 0, count = 0, count_after = 0;
  for (const auto& row : summary.histogram)
    (row.timed ? before : count) += row.timed ? row.ticks : row.count;
  REQUIRE(summary.histogram.size() > 4);
  cut(summary, 2);
  for (const auto& row : summary.histogram) {
    (row.timed ? after : count_after) += row.timed ? row.ticks : row.count;
  }
  CHECK(before == after);
  CHECK(count == count_after);
  CHECK(summary.histogram.size() <= 6);
  CHECK(summary.calls.size() <= 2);
  CHECK(summary.processes.size() == 2);
}

TEST_CASE("the answer from the scan is that from all events one by one") {
  std::size_t rows = 0, calls = 0;
  for (unsigned seed = 0; seed < recordings(45); seed++) {
    INFO("seed " << seed);
    const Bytes file = seed % 3 == 0   ? CallRecording(seed, 1 + seed % 4, 1500).finish()
                       : seed % 3 == 1 ? RandomRecording(seed, 1 + seed % 5, 2000).finish()
                                       : BusyRecording(seed, 1 + seed % 4, 4000).finish();
    const Recording trace = std::move(*Recording::from_bytes(file));
    RecordingInfo info = trace.info();
    info.command.workload_pid = busiest(trace);
    const std::uint64_t begin = recording_start(info), length = recording_end(trace) - begin;
    Selection part;
    part.from = begin + length / 5;
    part.to = begin + length / 2;
    for (const Selection& selection : {Selection{}, part}) {
      const Answer slow = answer_by(false, trace, info, selection);
      CHECK(told(answer_by(true, trace, info, selection)) == told(slow));
      rows += slow.rows.size();
      calls += slow.slowest.size();
    }
  }
  CHECK(rows > 300);
  CHECK(calls > 300);
}
