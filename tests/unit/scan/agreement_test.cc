// SPDX-License-Identifier: GPL-2.0-only
// Checks that all analyses of a recording agree: the statistics (Analysis), their fast scan, the
// states of tasks and the critical path (TaskActivity), and the page's data (Timeline). Uses random
// recordings.
#include <catch2/catch.hpp>

#include <array>
#include <map>
#include <set>
#include <utility>

#include "lib/analyse/critical_path.h"
#include "lib/analyse/task_calls.h"
#include "lib/analyse/task_runs.h"
#include "lib/scan/scan.h"
#include "lib/timeline/occurrence_search.h"
#include "lib/timeline/timeline.h"
#include "lib/timeline/window_stats.h"
#include "tests/unit/busy_recording.h"
#include "tests/unit/call_recording.h"
#include "tests/unit/everything_said.h"
#include "tests/unit/how_many.h"

using namespace fkt;
using namespace fkt::test;

namespace {

using Doing = TaskActivity::Doing;

unsigned recordings() {
  return test::recordings(100);
}

struct Sum {
  std::uint64_t count = 0, ticks = 0;
  bool operator==(const Sum&) const = default;
};

// An interval in which a task is in one state.
struct Stretch {
  std::uint64_t from = 0, to = 0;
  TaskState state = TaskState::unknown;
  bool operator==(const Stretch&) const = default;
};
using History = std::vector<Stretch>;

void append(History& history, const Stretch& next) {
  if (next.from >= next.to || next.state == TaskState::unknown) return;
  if (!history.empty() && history.back().to == next.from && history.back().state == next.state) {
    history.back().to = next.to;
  } else {
    history.push_back(next);
  }
}

TaskState state_of(Doing doing) {
  switch (doing) {
    case Doing::running:
      return TaskState::running;
    case Doing::ready:
      return TaskState::ready;
    case Doing::asleep:
    case Doing::disk:
      return TaskState::blocked;
    default:
      return TaskState::unknown;
  }
}

// Results of one engine, by names, so that two engines can be compared.
struct EngineResults {
  std::map<std::string, Sum> spans;     // complete ones, by name
  std::map<TaskIndex, History> states;  // of tasks that are not idle
  std::map<TaskIndex, std::uint64_t> running;
  // Each complete span: name, task, begin and end.
  std::multiset<std::tuple<std::string, std::uint32_t, std::uint64_t, std::uint64_t>> each;
};

std::string text(const std::map<std::string, Sum>& spans) {
  std::string text;
  for (const auto& [name, sum] : spans) {
    text += name + " " + std::to_string(sum.count) + " " + std::to_string(sum.ticks) + "\n";
  }
  return text;
}

std::string text(const std::map<TaskIndex, History>& states) {
  std::string text;
  for (const auto& [task, history] : states) {
    for (const Stretch& stretch : history) {
      text += "task " + std::to_string(task) + " " + std::to_string(stretch.from) + "-" +
              std::to_string(stretch.to) + " " +
              std::to_string(static_cast<unsigned>(stretch.state)) + "\n";
    }
  }
  return text;
}

// Fails with the text around the first difference.
void check_same(const std::string& what, const std::string& expected, const std::string& found) {
  if (expected == found) return;
  std::size_t at = 0;
  while (at < std::min(found.size(), expected.size()) && found[at] == expected[at]) at++;
  at -= std::min<std::size_t>(at, 100);
  FAIL(what << "\n--- expected\n"
            << expected.substr(at, 240) << "\n--- found\n"
            << found.substr(at, 240));
}

class Sink : public StateObserver {
 public:
  Sink(const Timeline& timeline, EngineResults& said) : timeline_(timeline), said_(said) {}
  void slice(const Slice& slice) override {
    if (slice.kind == SliceKind::state && !timeline_.tasks()[slice.task].idle) {
      append(said_.states[slice.task], {slice.from, slice.to, static_cast<TaskState>(slice.value)});
    }
    if (slice.kind != SliceKind::call && slice.kind != SliceKind::interrupt) return;
    if (!slice.begun || !slice.ended) return;
    const std::string& name = timeline_.types()[slice.value].name;
    Sum& sum = said_.spans[name];
    sum.count++;
    sum.ticks += slice.to - slice.from;
    // The functions of these recordings begin and end at random, so there is no correct result for
    // them.
    if (timeline_.types()[slice.value].kind.number() >= kOwnSpanKinds) return;
    said_.each.insert({name, timeline_.tasks()[slice.task].tid, slice.from, slice.to});
  }

 private:
  const Timeline& timeline_;
  EngineResults& said_;
};

std::map<std::string, Sum> complete_spans(const Analysis& analysis) {
  std::map<std::string, Sum> spans;
  for (TypeIndex type = 0; type < analysis.types().size(); type++) {
    const Spread& total = analysis.profile().stats(type).total;
    if (total.count == 0) continue;
    Sum& sum = spans[analysis.types()[type].name];
    sum.count += total.count;
    sum.ticks += total.sum;
  }
  return spans;
}

// Time on a CPU according to the statistics, in ticks.
std::uint64_t ran(const CpuStateTimes& times) {
  return of(times, CpuState::user) + of(times, CpuState::system) + of(times, CpuState::running) +
         of(times, CpuState::irq) + of(times, CpuState::softirq);
}

// Checks that the critical path of each task covers what is known of it without gaps, and that in
// each step the task is in the state its history says.
void check_paths(const TaskActivity& states, const Analysis& analysis, const EngineResults& said) {
  for (const auto& [task, history] : said.states) {
    const std::vector<PathStep> path =
        critical_path(states, analysis.tasks(), task, analysis.begin(), analysis.end()).steps;
    if (path.empty()) {
      CHECK(history.empty());
      continue;
    }
    CHECK((history.empty() || path[0].from <= history[0].from));
    std::uint64_t last = path[0].from, known = 0, expected = 0;
    for (const PathStep& step : path) {
      REQUIRE(step.from == last);
      last = step.to;
      if (state_of(step.doing) == TaskState::unknown) continue;
      known += step.to - step.from;
      const auto found = said.states.find(step.task);
      if (found == said.states.end()) {
        expected += step.to - step.from;  // an idle task, whose history is not kept here
        continue;
      }
      for (const Stretch& stretch : found->second) {
        if (stretch.state != state_of(step.doing)) continue;
        const std::uint64_t from = std::max(stretch.from, step.from);
        const std::uint64_t to = std::min(stretch.to, step.to);
        if (from < to) expected += to - from;
      }
    }
    CHECK((history.empty() || last >= history.back().to));
    CHECK(known == expected);
  }
}

// at_once: a thread may run on two CPUs at the same time; then its time is counted once here and
// twice in the CPUs' sum.
EngineResults by_statistics(const Recording& trace, bool at_once, std::string& everything) {
  Analysis analysis(trace.info(), {});
  analysis.keep_histograms();
  TaskActivity states(analysis);
  states.keep_history();
  analysis.watch(states);
  for (const Event& event : trace.events()) states.add(event, analysis.add(event));
  analysis.finish(true, recording_end(trace));
  states.finish(analysis.end());
  everything = everything_said(trace, analysis);
  EngineResults said;
  said.spans = complete_spans(analysis);
  for (TaskIndex task = 0; task < states.stats().size(); task++) {
    if (analysis.tasks()[task].idle) continue;
    for (const TaskActivity::Period& stretch : states.history(task)) {
      append(said.states[task], {stretch.from, stretch.to, state_of(stretch.doing)});
    }
    if (said.states[task].empty()) said.states.erase(task);
    const TaskStat& stat = states.stats()[task];
    std::map<TaskState, std::uint64_t> sums;
    for (const Stretch& stretch : said.states[task]) {
      sums[stretch.state] += stretch.to - stretch.from;
    }
    if (said.states[task].empty()) said.states.erase(task);
    CHECK(stat.running == sums[TaskState::running]);
    CHECK(stat.ready == sums[TaskState::ready]);
    CHECK(stat.asleep + stat.disk == sums[TaskState::blocked]);
    if (!at_once) CHECK(stat.running == ran(analysis.cpu_accounting().task(task)));
  }
  check_paths(states, analysis, said);
  return said;
}

void check_scan(const Bytes& file, const std::string& everything) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    const Recording trace = opened(file);
    Analysis analysis(trace.info(), {});
    analysis.keep_histograms();
    scan(trace, analysis, {.threads = threads});
    analysis.finish(true, recording_end(trace));
    check_same("scan, " + std::to_string(threads) + " threads", everything,
               everything_said(trace, analysis));
  }
}

// Checks that what each task called adds up to the statistics, and that each task's runs add up to
// the time that it ran. at_once: as for by_statistics().
void check_views(const Recording& trace, bool at_once) {
  Analysis first(trace.info(), {}), second(trace.info(), {}), third(trace.info(), {});
  first.keep_histograms();
  TaskCalls calls(first);
  first.watch(calls);
  std::map<TaskIndex, std::uint64_t> ran_by_runs, begun;
  TaskRuns runs(second, [&](const TaskRuns::Run& run) {
    ran_by_runs[run.task] += run.to - run.from;
    begun[run.task] += run.begun;
  });
  second.watch(runs);
  TaskActivity states(third);
  states.keep_times();
  std::map<TaskIndex, std::uint64_t> off;
  states.tell([&](TaskIndex task, const TaskActivity::Period& stretch) {
    if (stretch.doing != Doing::running) off[task] += stretch.to - stretch.from;
  });
  third.watch(states);
  for (const Event& event : trace.events()) {
    calls.add(event, first.add(event));
    runs.add(event, second.add(event));
    states.add(event, third.add(event));
  }
  for (Analysis* analysis : {&first, &second, &third}) analysis->finish(true, recording_end(trace));
  runs.finish(second.end());
  states.finish(third.end());
  std::map<TypeIndex, SpanStats> sums;
  for (const TaskCalls::Task& task : calls.tasks()) {
    for (const TaskCalls::Row& row : task.rows) sums[row.type].add(row.stats);
  }
  CHECK_FALSE(sums.empty());
  const auto refused = static_cast<std::size_t>(Outcome::refused);
  CHECK(sums[kNoType].entries == first.profile().exits_alone()[refused]);
  sums.erase(kNoType);
  for (const auto& [type, sum] : sums) {
    const SpanStats& all = first.profile().stats(type);
    if (is_called(first.types()[type].kind)) continue;  // some of them nest in interrupts
    INFO(first.types()[type].name);
    CHECK(sum.entries + all.outcomes[static_cast<std::size_t>(Outcome::no_entry)] >= all.entries);
    CHECK(sum.entries <= all.entries);
    CHECK(sum.total.count == all.total.count);
    CHECK(sum.total.sum == all.total.sum);
    CHECK(sum.percentile(99) == all.percentile(99));
  }
  for (TaskIndex task = 0; !at_once && task < states.stats().size(); task++) {
    if (third.tasks()[task].idle) continue;
    CHECK(ran_by_runs[task] == states.stats()[task].running);
    CHECK(begun[task] <= states.stats()[task].runs);
    const TaskStat& stat = states.stats()[task];
    CHECK(off[task] == stat.ready + stat.asleep + stat.disk);
    std::uint64_t ran_in = stat.interrupts;
    for (const Child& ran : stat.ran_in) ran_in += ran.ticks;
    CHECK(ran_in == stat.running);
  }
}

// Checks that all engines agree, and returns the common result.
EngineResults check_all(const Bytes& file, bool at_once = false) {
  const Recording trace = opened(file);
  std::string everything;
  EngineResults said = by_statistics(trace, at_once, everything);
  check_scan(file, everything);
  check_views(trace, at_once);
  Timeline timeline(trace);
  PassControl control;
  EngineResults whole, again;
  Sink sink(timeline, whole), second(timeline, again);
  timeline.read(control, &sink);
  timeline.follow(timeline.begin(), timeline.end(), second);
  // Two engines that find nothing agree too.
  REQUIRE_FALSE(said.spans.empty());
  REQUIRE_FALSE(said.states.empty());
  check_same("spans of the page", text(said.spans), text(whole.spans));
  check_same("spans of the page's whole stretch", text(said.spans), text(again.spans));
  check_same("states of the page", text(said.states), text(whole.states));
  check_same("states of the page's whole stretch", text(said.states), text(again.states));
  said.each = std::move(whole.each);
  return said;
}

}  // namespace

namespace {

// Compares the page's figures of CPUs and tasks in a part of `ticks` ticks with the statistics.
// Returns how many CPUs and tasks were compared that have time in that part.
std::pair<std::size_t, std::size_t> check_states(const Analysis& analysis,
                                                 const TaskActivity& states,
                                                 const Timeline& timeline,
                                                 const WindowStats& window, std::uint64_t ticks) {
  std::size_t known_cpus = 0, known_tasks = 0;
  const std::vector<WindowStats::OfCpu> cpus = window.cpus();
  for (std::uint32_t cpu = 0; cpu < cpus.size(); cpu++) {
    INFO("cpu " << cpu);
    const CpuStateTimes& times = analysis.cpu_accounting().cpu(cpu);
    CHECK(cpus[cpu].idle == of(times, CpuState::idle));
    CHECK(cpus[cpu].interrupts == of(times, CpuState::irq) + of(times, CpuState::softirq));
    CHECK(cpus[cpu].busy ==
          of(times, CpuState::user) + of(times, CpuState::system) + of(times, CpuState::running));
    CHECK(cpus[cpu].unknown == ticks - cpus[cpu].idle - cpus[cpu].interrupts - cpus[cpu].busy);
    CHECK(cpus[cpu].unknown == of(times, CpuState::unknown));
    known_cpus += cpus[cpu].unknown < ticks;
  }
  for (TaskIndex task = 0; task < window.tasks().size(); task++) {
    if (timeline.tasks()[task].idle || task >= states.stats().size()) continue;
    INFO("task " << task);
    const auto& [running, ready, blocked] =
        std::tie(window.tasks()[task].states[1], window.tasks()[task].states[2],
                 window.tasks()[task].states[3]);
    CHECK(running == states.stats()[task].running);
    CHECK(ready == states.stats()[task].ready);
    CHECK(blocked == states.stats()[task].asleep + states.stats()[task].disk);
    known_tasks += running + ready + blocked > 0;
  }
  return {known_cpus, known_tasks};
}

// Compares the page's figures for a part of the recording with the statistics of that part. Returns
// how many types of spans, CPUs and tasks were compared that have time in that part.
std::array<std::size_t, 3> check_window(const Recording& trace, const Timeline& timeline,
                                        std::uint64_t from, std::uint64_t to) {
  INFO("from " << from << " to " << to);
  Analysis analysis(trace.info(), {.from = from, .to = to});
  analysis.keep_histograms();
  TaskActivity states(analysis);
  analysis.watch(states);
  for (const Event& event : trace.events({.from = {}, .to = to, .cpu = {}})) {
    states.add(event, analysis.add(event));
  }
  analysis.finish(false, recording_end(trace));
  states.finish(analysis.end());
  WindowStats window(from, to, timeline.tasks());
  timeline.follow(from, to, window);
  CHECK(window.events() == analysis.profile().events());
  std::map<std::string, std::vector<std::uint64_t>> here, there;
  const auto put = [](auto& types, const std::string& name, const SpanStats& stats) {
    if (stats.total.count == 0) return;
    types[name] = {stats.total.count, stats.total.sum,      stats.total.min,
                   stats.total.max,   stats.percentile(50), stats.percentile(99)};
  };
  for (TypeIndex type = 0; type < analysis.types().size(); type++) {
    put(here, analysis.types()[type].name, analysis.profile().stats(type));
  }
  for (TypeIndex type = 0; type < window.types().size(); type++) {
    put(there, timeline.types()[type].name, window.types()[type]);
  }
  CHECK(here == there);
  const auto [cpus, tasks] = check_states(analysis, states, timeline, window, to - from);
  return {here.size(), cpus, tasks};
}

}  // namespace

TEST_CASE("the page's figures of a part are those of the statistics: calls, CPUs, tasks") {
  std::array<std::size_t, 3> compared = {};
  for (unsigned seed = 0; seed < recordings(); seed++) {
    INFO("seed " << seed);
    const auto kind = seed % 2 == 0 ? RandomRecording::Kind::plain : RandomRecording::Kind::few;
    RandomRecording recording(seed, 1 + seed % 4, 1500, kind);
    const std::uint64_t start = RecordingBuilder::kStart, third = (recording.end() - start) / 3;
    const Recording trace = opened(recording.finish());
    Timeline timeline(trace);
    PassControl control;
    timeline.read(control);
    const std::uint64_t end = recording_end(trace);
    for (const auto& [from, to] : {std::pair(start, start + third),
                                   {start + third, start + 2 * third},
                                   {start + third, end}}) {
      const auto found = check_window(trace, timeline, from, to);
      for (std::size_t i = 0; i < compared.size(); i++) compared[i] += found[i];
    }
  }
  for (const std::size_t count : compared) CHECK(count > 3 * recordings());
}

TEST_CASE("the page's figures of a part are those of the statistics: calls of functions") {
  std::array<std::size_t, 3> compared = {};
  for (unsigned seed = 0; seed < recordings(); seed++) {
    INFO("seed " << seed);
    CallRecording recording(seed, 1 + seed % 4, 1500);
    const std::uint64_t start = RecordingBuilder::kStart, third = (recording.end() - start) / 3;
    const Recording trace = opened(recording.finish());
    Timeline timeline(trace);
    PassControl control;
    timeline.read(control);
    for (const std::uint64_t from : {start, start + third}) {
      const auto found = check_window(trace, timeline, from, from + third);
      for (std::size_t i = 0; i < compared.size(); i++) compared[i] += found[i];
    }
  }
  for (const std::size_t count : compared) CHECK(count > 2 * recordings());
}

TEST_CASE("where the recorder did not come to its end, it is unknown how the CPUs went on") {
  std::uint64_t unknown = 0;
  for (unsigned seed = 0; seed < recordings(); seed++) {
    INFO("seed " << seed);
    RandomRecording recording(seed, 2 + seed % 4, 1500, RandomRecording::Kind::plain);
    const Bytes file = recording.finish(RecordingBuilder::Tail::none);
    check_all(file);
    const Recording trace = opened(file);
    Timeline timeline(trace);
    PassControl control;
    timeline.read(control);
    const std::uint64_t end = recording_end(trace);
    for (const std::uint64_t part : {std::uint64_t{1}, std::uint64_t{100}}) {
      const std::uint64_t from = end - (end - RecordingBuilder::kStart) / part;
      INFO("from " << from);
      Analysis analysis(trace.info(), {.from = from});
      TaskActivity states(analysis);
      analysis.watch(states);
      for (const Event& event : trace.events()) states.add(event, analysis.add(event));
      analysis.finish(true, end);
      states.finish(end);
      WindowStats window(from, end, timeline.tasks());
      timeline.follow(from, end, window);
      check_states(analysis, states, timeline, window, end - from);
      for (const WindowStats::OfCpu& cpu : window.cpus()) unknown += cpu.unknown;
    }
  }
  CHECK(unknown > 100 * recordings());
}

TEST_CASE("all engines agree: calls of functions that are written at their ends") {
  using Kind = CallRecording::Kind;
  for (const Kind kind : {Kind::whole, Kind::switches, Kind::gaps}) {
    for (unsigned seed = 0; seed < recordings(); seed++) {
      INFO("seed " << seed << " kind " << static_cast<int>(kind));
      // Without switches, threads seem to run on two CPUs at once.
      check_all(CallRecording(seed, 1 + seed % 5, 1500, kind).finish(), kind == Kind::switches);
    }
  }
}

TEST_CASE("all engines agree: nothing is lost") {
  for (unsigned seed = 0; seed < recordings(); seed++) {
    INFO("seed " << seed);
    check_all(RandomRecording(seed, 1 + seed % 5, 1500, RandomRecording::Kind::lossless).finish());
  }
}

TEST_CASE("all engines agree: whole CPUs stand still in gaps") {
  for (unsigned seed = 0; seed < recordings(); seed++) {
    INFO("seed " << seed);
    check_all(RandomRecording(seed, 1 + seed % 5, 1500).finish());
  }
}

TEST_CASE("all engines agree: busy CPUs, gaps, changes of the mask, one thread on two CPUs") {
  for (unsigned seed = 0; seed < recordings(); seed++) {
    INFO("seed " << seed);
    check_all(BusyRecording(seed, 1 + seed % 5, 300).finish(), true);
  }
}

TEST_CASE(
    "all engines agree where events are lost on a CPU while others go on, and invent nothing") {
  std::size_t complete = 0, of_all = 0;
  for (unsigned seed = 0; seed < recordings(); seed++) {
    INFO("seed " << seed);
    const unsigned cpus = 1 + seed % 5;
    const EngineResults truth =
        check_all(RandomRecording(seed, cpus, 1500, RandomRecording::Kind::lossless).finish());
    const EngineResults told =
        check_all(RandomRecording(seed, cpus, 1500, RandomRecording::Kind::gaps).finish());
    complete += told.each.size();
    of_all += truth.each.size();
    for (const auto& span : told.each) {
      INFO(std::get<0>(span) << " of " << std::get<1>(span) << ", " << std::get<2>(span) << "-"
                             << std::get<3>(span));
      REQUIRE(truth.each.contains(span));
    }
  }
  CHECK(complete > of_all / 4);  // the result is unknown only for a minority
  CHECK(complete < of_all);
}
