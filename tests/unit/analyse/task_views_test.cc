// SPDX-License-Identifier: GPL-2.0-only
// Tests what each task called and each run of a task: fkt_print --calls and --sched.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "lib/analyse/find_processes.h"
#include "lib/analyse/task_calls.h"
#include "lib/analyse/task_runs.h"
#include "lib/read/event_merge.h"
#include "lib/report/calls_report.h"
#include "lib/report/runs_report.h"
#include "tests/unit/recording_builder.h"

using namespace fkt;
using namespace fkt::test;

namespace {

constexpr std::uint32_t returns(int value) {
  return static_cast<std::uint32_t>(value) & FKT_ARG_MASK;
}

std::string calls_csv(RecordingBuilder& builder, const Selection& selection = {},
                      std::size_t top = 100) {
  const Result<Recording> trace = Recording::from_bytes(builder.finish());
  REQUIRE(trace);
  Analysis analysis(trace->info(), selection);
  TaskCalls calls(analysis);
  analysis.watch(calls);
  for (const Event& event : trace->events()) calls.add(event, analysis.add(event));
  analysis.finish(true, recording_end(*trace));
  const TimeFormat time(TimeUnit::ns);
  TextWriter out;
  CallsReport{calls, analysis, time, top}.csv(out);
  return out.take();
}

// A line per run: "pid cpu from-to waited delay left waker", times since T in ticks.
std::vector<std::string> runs_of(RecordingBuilder& builder, const Selection& selection = {}) {
  const Result<Recording> trace = Recording::from_bytes(builder.finish());
  REQUIRE(trace);
  Analysis analysis(trace->info(), selection);
  std::vector<std::string> lines;
  const auto text = [](const std::optional<std::uint64_t>& ticks) {
    return ticks ? std::to_string(*ticks) : "-";
  };
  TaskRuns runs(analysis, [&](const TaskRuns::Run& run) {
    lines.push_back(std::to_string(analysis.tasks()[run.task].tid) + " " + std::to_string(run.cpu) +
                    " " + std::to_string(run.from - T) + "-" + std::to_string(run.to - T) + " " +
                    text(run.waited) + " " + text(run.delay) + " " +
                    std::string(run.left == 0 ? "-" : NumberNames::switch_state(run.left)) + " " +
                    run.waker);
  });
  analysis.watch(runs);
  for (const Event& event : trace->events()) runs.add(event, analysis.add(event));
  analysis.finish(true, recording_end(*trace));
  runs.finish(analysis.end());
  return lines;
}

// Two threads that call: read twice whole, once with an error, once without its end; getpid.
RecordingBuilder two_callers() {
  RecordingBuilder b;
  b.section(FKT_SEC_TASKS, "10\t10\t1\tfkt_record\n42\t42\t10\twork\n43\t42\t10\thelp, er\n");
  b.pid(0, 42).pid(1, 43);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.event(1, T + 150, FKT_E_SYS_ENTRY, 39);
  b.event(1, T + 170, FKT_E_SYS_EXIT, 42);
  b.event(0, T + 200, FKT_E_SYS_EXIT, 1);
  b.event(0, T + 300, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 700, FKT_E_SYS_EXIT, returns(-11));
  b.event(0, T + 800, FKT_E_SYS_ENTRY, 0);
  return b;
}

}  // namespace

TEST_CASE("calls of each task: whole ones with their times, cut ones, errors by name") {
  RecordingBuilder b = two_callers();
  CHECK(calls_csv(b) ==
        "task,pid,call,count,total,average,p50,p99,max,cut,errors\r\n"
        "work,42,sys_read,2,500,250,101,400,400,1,EAGAIN 1\r\n"
        "\"help, er\",43,sys_getpid,1,20,20,20,20,20,0,\r\n");
}

TEST_CASE(
    "calls of each task: errors of calls that seccomp refused, whose entries there are none of") {
  RecordingBuilder b = two_callers();
  b.event(1, T + 180, FKT_E_SYS_EXIT, returns(-77));
  b.event(1, T + 190, FKT_E_SYS_EXIT, returns(-77));
  CHECK(calls_csv(b, {.own = TaskChoice{43, {}}}) ==
        "task,pid,call,count,total,average,p50,p99,max,cut,errors\r\n"
        "\"help, er\",43,sys_getpid,1,20,20,20,20,20,0,\r\n"
        "\"help, er\",43,[refused before it began],0,,,,,,2,EBADFD 2\r\n");
}

TEST_CASE("calls of each task: the selection of events and of a process counts") {
  RecordingBuilder b = two_callers();
  CHECK(calls_csv(b, {.from = T + 250}) ==
        "task,pid,call,count,total,average,p50,p99,max,cut,errors\r\n"
        "work,42,sys_read,1,400,400,400,400,400,1,EAGAIN 1\r\n");
  RecordingBuilder c = two_callers();
  CHECK(calls_csv(c, {.dump_pid = 43, .dump_only = true}) ==
        "task,pid,call,count,total,average,p50,p99,max,cut,errors\r\n"
        "\"help, er\",43,sys_getpid,1,20,20,20,20,20,0,\r\n");
}

TEST_CASE("calls of each task: the first rows of the first tasks") {
  RecordingBuilder b = two_callers();
  const std::string csv = calls_csv(b, {}, 1);
  CHECK(csv.find("work") != csv.npos);
  CHECK(csv.find("help") == csv.npos);
}

TEST_CASE("runs: slept, was woken by a task, waited for the CPU; was preempted") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  b.event(0, T, FKT_E_SYS_ENTRY, 0);
  b.event(1, T, FKT_E_SYS_ENTRY, 1);
  b.event(0, T + 100, FKT_E_SWITCH_S, 0);
  b.event(1, T + 400, FKT_E_WAKING, 42);
  b.event(1, T + 410, FKT_E_WAKEUP, 42, {0});
  b.event(0, T + 450, FKT_E_SWITCH_R, 42);
  b.event(0, T + 600, FKT_E_SWITCH_PREEMPT, 43);
  b.event(0, T + 700, FKT_E_SWITCH_D, 42);
  b.event(0, T + 900, FKT_E_SYS_EXIT, 1);
  CHECK(runs_of(b) == std::vector<std::string>{
                          "42 0 0-100 - - S ",
                          "42 0 450-600 350 50 R+ ? (43)",
                          "43 0 600-700 - - D ",
                          "42 0 700-900 100 - - ",
                          "43 1 0-900 - - - ",
                      });
}

TEST_CASE("runs: woken by an interrupt; selected by CPU and time; idle ones are left out") {
  const auto recording = [] {
    RecordingBuilder b;
    b.pid(0, 42).pid(1, 0);
    b.event(0, T, FKT_E_SYS_ENTRY, 0);
    b.event(0, T + 100, FKT_E_SWITCH_D, 0);
    b.event(1, T + 120, FKT_E_SWITCH_R, 43);
    b.event(1, T + 130, FKT_E_SWITCH_S, 0);
    b.event(0, T + 500, FKT_E_IRQ_ENTRY, 14);
    b.event(0, T + 510, FKT_E_WAKING, 42);
    b.event(0, T + 520, FKT_E_IRQ_EXIT, 14 | 1 << 22);
    b.event(0, T + 550, FKT_E_SWITCH_R, 42);
    b.event(0, T + 600, FKT_E_SWITCH_X, 0);
    return b;
  };
  const std::string of_43 = "43 1 120-130 - - S ";
  const std::string first = "42 0 0-100 - - D ";
  const std::string second = "42 0 550-600 450 40 X irq 14 ata_piix";
  RecordingBuilder b = recording();
  CHECK(runs_of(b) == std::vector{first, of_43, second});
  b = recording();
  CHECK(runs_of(b, {.cpu = 0}) == std::vector{first, second});
  b = recording();
  CHECK(runs_of(b, {.from = T + 110}) == std::vector{of_43, second});
}

TEST_CASE("runs: a gap ends what is known of the CPU and of those that slept") {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 0);
  b.event(0, T, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 100, FKT_E_SWITCH_S, 43);
  b.event(0, T + 200, FKT_E_SYS_EXIT, 0);
  b.lost(0, T + 250, T + 800, 5);
  b.event(0, T + 810, FKT_E_SWITCH_R, 42);
  b.event(0, T + 900, FKT_E_SWITCH_S, 0);
  const std::vector<std::string> runs = runs_of(b);
  REQUIRE(runs.size() == 4);
  CHECK(runs[0] == "42 0 0-100 - - S ");
  CHECK(runs[1].starts_with("43 0 100-2"));
  // How long it waited is not known: it may have run in the gap.
  CHECK(runs[3] == "42 0 810-900 - - S ");
}

TEST_CASE("runs as a table that is written in pieces has one line of titles") {
  RecordingBuilder b;
  b.pid(0, 42);
  for (unsigned i = 0; i < 3000; i++) b.event(0, T + 10 * i, FKT_E_SWITCH_R, 42 + i % 2);
  const Result<Recording> trace = Recording::from_bytes(b.finish());
  REQUIRE(trace);
  Analysis analysis(trace->info(), {});
  const TimeFormat time(TimeUnit::readable);
  TextWriter out;
  RunsReport report(out, RunsReport::Form::text, analysis, time);
  TaskRuns runs(analysis, [&](const TaskRuns::Run& run) { report.add(run); });
  analysis.watch(runs);
  for (const Event& event : trace->events()) runs.add(event, analysis.add(event));
  analysis.finish(true, recording_end(*trace));
  runs.finish(analysis.end());
  report.flush();
  const std::string text = out.take();
  CHECK(std::count(text.begin(), text.end(), '\n') == 3000);
  CHECK(text.find("Until") == text.rfind("Until"));
}

TEST_CASE("a name is that of the process which has it at last; else of those that ever had it") {
  RecordingBuilder b;
  b.section(FKT_SEC_TASKS, "42\t42\t1\tsh\n50\t50\t1\twork\n51\t50\t1\twork\n52\t50\t1\thelper\n");
  b.pid(0, 42);
  b.event(0, T, FKT_E_FORK, 730, {730 | std::uint64_t{42} << 32});
  b.event(0, T + 10, FKT_E_SWITCH_R, 730);
  b.event(0, T + 20, FKT_E_RENAME, 730, {0x7761'6bU, 0});  // "kaw"
  b.event(0, T + 30, FKT_E_RENAME, 730, {0x646e'6966U, 0});
  b.event(0, T + 40, FKT_E_SWITCH_S, 50);
  const Result<Recording> trace = Recording::from_bytes(b.finish());
  REQUIRE(trace);
  using Pids = std::vector<std::uint32_t>;
  CHECK(find_processes(*trace, "sh", {}).pids == Pids{42});
  CHECK(find_processes(*trace, "find", {}).pids == Pids{730});
  CHECK(find_processes(*trace, "kaw", {}).pids == Pids{730});
  CHECK(find_processes(*trace, "work", {}).pids == Pids{50});
  CHECK(find_processes(*trace, "helper", {}).pids == Pids{52});
  CHECK(find_processes(*trace, "fnd", {}).pids.empty());
  CHECK(find_processes(*trace, "fnd", {}).names ==
        std::vector<std::string>{"find", "helper", "sh", "work"});
}

TEST_CASE("readable times have three digits that count, and the unit") {
  const TimeFormat ns(TimeUnit::readable, 1e9);
  const std::vector<std::pair<std::uint64_t, std::string>> kTimes = {
      {0, "0 ns"},
      {999, "999 ns"},
      {1000, "1.00 us"},
      {9994, "9.99 us"},
      {9995, "10.0 us"},
      {99949, "99.9 us"},
      {99950, "100 us"},
      {999499, "999 us"},
      {999500, "1.00 ms"},
      {1234567, "1.23 ms"},
      {12'345'678'901, "12.3 s"},
      {1'234'500'000'000, "1235 s"},
      {123'456'000'000'000, "123456 s"},
  };
  for (const auto& [ticks, text] : kTimes) CHECK(ns.text(ticks) == text);
  CHECK(ns.of_moments().text(1'500'000'001) == "1.500000001");
  CHECK(TimeFormat(TimeUnit::ms, 1e9).text(1'500'001) == "1.500001");
  CHECK(TimeFormat(TimeUnit::us, 1e9).of_moments().text(1500) == "1.500");
}
