// SPDX-License-Identifier: GPL-2.0-only
// Tests slices of several intervals: their statistics are the sums of those of slices of one
// interval each.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/fkt_extract/extract.h"
#include "cli/fkt_kd/kd.h"
#include "cli/fkt_print/print.h"
#include "lib/analyse/task_activity.h"
#include "tests/golden/recordings.h"
#include "tests/unit/golden.h"
#include "tests/unit/random_recording.h"
#include "tests/unit/slices.h"

using namespace fkt;
using namespace fkt::test;

namespace {

using Stretches = std::vector<Interval>;

// All figures that can be added, by name.
class Figures {
 public:
  void add(const Summary& s) {
    sums_["events"] += s.events;
    sums_["cpu ticks"] += s.cpu_ticks;
    for (const auto& row : s.histogram) {
      add("histogram " + row.name, {row.count, row.ticks});
      if (row.each) add("each " + row.name, {row.each->count, row.each->sum});
    }
    for (const auto& row : s.calls) {
      add("call " + row.name, {row.entries, row.total.count, row.total.sum, row.self});
      add("outcomes " + row.name, row.outcomes);
      for (const auto& part : row.parts) {
        add("part " + row.name + ' ' + part.name, {part.count, part.ticks});
      }
    }
    add("exits", s.exits_alone);
    for (const auto& row : s.durations) add("took " + row.name, {row.total.count, row.total.sum});
    // Processes are summed up: in each slice they have different names, and a thread that execs
    // becomes one.
    for (const auto& row : s.processes) {
      const std::string name = row.idle ? row.name : "processes";
      add("times of " + name, row.times);
      add("runs of " + name, {row.runs});
    }
    for (const auto& row : s.cpus) add("cpu " + std::to_string(row.cpu), row.times);
    for (const auto& row : s.losses) {
      add("losses " + std::to_string(row.cpu), {row.gaps, row.lost, row.ticks});
    }
  }
  // Lines "name: this, other" for the figures that differ; empty if all are equal.
  std::string differences(const Figures& other) const {
    std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> both;
    for (const auto& [name, value] : sums_) both[name].first = value;
    for (const auto& [name, value] : other.sums_) both[name].second = value;
    std::string lines;
    for (const auto& [name, values] : both) {
      if (values.first == values.second) continue;
      lines +=
          name + ": " + std::to_string(values.first) + ", " + std::to_string(values.second) + '\n';
    }
    return lines;
  }

 private:
  template <class Values>
  void add(const std::string& name, const Values& values) {
    std::size_t i = 0;
    for (const std::uint64_t value : values) {
      if (value != 0) sums_[name + ' ' + std::to_string(i)] += value;
      i++;
    }
  }
  void add(const std::string& name, std::initializer_list<std::uint64_t> values) {
    add<std::initializer_list<std::uint64_t>>(name, values);
  }
  std::map<std::string, std::uint64_t> sums_;
};

void check_sum(const Bytes& file, const Stretches& stretches, const Selection& selection = {}) {
  Figures expected, got;
  std::string dump;
  for (const Interval& stretch : stretches) {
    INFO("stretch " << stretch.from - T << " to " << stretch.to - T);
    const Analyzed part(slice_of(file, stretch.from, stretch.to), selection);
    expected.add(part.summary());
    dump += part.json_dump();
  }
  const Analyzed all(slice_of(file, stretches), selection);
  const Summary summary = all.summary();
  got.add(summary);
  CHECK(got.differences(expected) == "");
  CHECK(all.json_dump() == dump);
  for (const std::string& line : summary.missing) {
    INFO(line);
    CHECK(line.find("events in the file") == std::string::npos);
    CHECK(line.find("missing") == std::string::npos);
  }
}

Stretches some(std::mt19937& choose, std::uint64_t end, std::size_t count) {
  std::uniform_int_distribution<std::uint64_t> moment(T, end);
  std::set<std::uint64_t> edges;
  while (edges.size() < 2 * count) edges.insert(moment(choose));
  Stretches stretches;
  for (auto edge = edges.begin(); edge != edges.end(); ++edge) {
    const std::uint64_t from = *edge;
    stretches.push_back({from, *++edge});
  }
  return stretches;
}

}  // namespace

TEST_CASE("statistics and dump of several stretches are those of each, put together") {
  for (unsigned seed = 1; seed <= 12; seed++) {
    RandomRecording random(seed, 1 + seed % 4, 6000);
    const Bytes file = random.finish();
    std::mt19937 choose(seed);
    for (std::size_t count = 2; count <= 5; count++) {
      INFO("seed " << seed << ", " << count << " stretches");
      check_sum(file, some(choose, random.end(), count));
    }
  }
}

TEST_CASE("stretches of the small recording, also such without an event or in one page") {
  const Bytes file = find_recording();
  for (std::uint64_t at = 900; at < 3200; at += 130) {
    check_sum(file, {{T + at, T + at + 300}, {T + at + 400, T + at + 900}});
  }
  check_sum(file, {{T + 1000, T + 3000}, {T + 30'000, T + 40'000}, {T + 118'000, T + 129'000}});
  check_sum(file, {{T + 24'500, T + 30'000}, {T + 40'000, T + 100'000}});
}

TEST_CASE("a selection of several stretches is the sum too") {
  const Bytes file = find_recording();
  const Stretches stretches = {{T + 1000, T + 3050}, {T + 100'000, T + 126'450}};
  Selection selection;
  selection.cpu = 1;
  check_sum(file, stretches, selection);
  selection = {};
  selection.stats_pid = 730;
  check_sum(file, stretches, selection);
  selection = {};
  selection.dump_pid = 42;
  selection.dump_only = true;
  check_sum(file, stretches, selection);
}

TEST_CASE(
    "a process keeps its row from stretch to stretch, and a new one of its number has its own") {
  RecordingBuilder b;
  b.pid(0, 42);
  const auto life = [&](std::uint64_t at) {  // of task 77, from its fork to its exit
    b.event(0, T + at, FKT_E_FORK, 77, {pair(77, 42)});
    b.event(0, T + at + 100, FKT_E_SWITCH_S, 77).event(0, T + at + 110, FKT_E_SYS_EXIT, 0);
    b.event(0, T + at + 200, FKT_E_SYS_ENTRY, 39).event(0, T + at + 300, FKT_E_SYS_EXIT, 77);
    b.event(0, T + at + 400, FKT_E_EXIT, 0, {pair(77, 77)});
    b.event(0, T + at + 500, FKT_E_SWITCH_Z, 42).event(0, T + at + 510, FKT_E_PID_FREE, 77);
  };
  life(1000);
  life(2000);
  const Bytes file = b.finish();
  const auto rows = [&](const Stretches& stretches) {
    std::size_t rows = 0;
    for (const auto& row : Analyzed(slice_of(file, stretches)).summary().processes) {
      rows += row.pid == 77;
    }
    return rows;
  };
  CHECK(rows({{T + 1150, T + 1250}, {T + 1280, T + 1350}}) == 1);
  CHECK(rows({{T + 1050, T + 1250}, {T + 1280, T + 1350}}) == 1);
  CHECK(rows({{T + 1150, T + 1250}, {T + 2150, T + 2350}}) == 2);
}

TEST_CASE("a process is called in all stretches what it is called in the last one") {
  // The child of sh becomes find at 1900.
  const Stretches stretches = {{T + 1500, T + 1800}, {T + 1850, T + 2500}, {T + 3000, T + 4000}};
  const Bytes file = find_recording();
  std::uint64_t system = 0;
  for (const Interval& stretch : stretches) {
    const Summary part = Analyzed(slice_of(file, stretch.from, stretch.to)).summary();
    for (const auto& row : part.processes) {
      if (row.pid == 730) system += of(row.times, CpuState::system);
    }
  }
  const auto find = Analyzed(slice_of(file, stretches)).process(730, "find");
  CHECK(of(find.times, CpuState::system) == system);
  CHECK(system > 1000);
}

namespace {

// What all tasks with one tid did, added up.
struct Did {
  std::uint64_t running = 0, ready = 0, away = 0, runs = 0, preempted = 0, wakeups = 0;
};

void add_tasks(const Bytes& file, const Selection& selection, std::map<std::uint32_t, Did>& into) {
  const Recording trace = std::move(*Recording::from_bytes(file));
  Analysis analysis(trace.info(), selection);
  TaskActivity states(analysis);
  analysis.watch(states);
  for (const Event& event : trace.events({.from = {}, .to = selection.to, .cpu = {}})) {
    states.add(event, analysis.add(event));
  }
  analysis.finish(!selection.to, recording_end(trace));
  states.finish(analysis.end());
  for (TaskIndex task = 0; task < states.stats().size(); task++) {
    if (analysis.tasks()[task].idle) continue;
    const TaskStat& stat = states.stats()[task];
    Did& did = into[analysis.tasks()[task].tid];
    did.running += stat.running;
    did.ready += stat.ready;
    did.away += stat.ready + stat.asleep + stat.disk;
    did.runs += stat.runs;
    did.preempted += stat.preempted;
    did.wakeups += stat.wakeups;
  }
}

}  // namespace

TEST_CASE("what tasks did in several stretches is what they did in these, as --from and --to say") {
  std::uint64_t ready = 0, ready_by_time = 0;
  for (unsigned seed = 1; seed <= 12; seed++) {
    RandomRecording random(seed, 1 + seed % 4, 6000, RandomRecording::Kind::lossless);
    const Bytes file = random.finish();
    std::mt19937 choose(seed);
    const Stretches stretches = some(choose, random.end(), 1 + seed % 4);
    std::map<std::uint32_t, Did> wanted, got;
    for (const Interval& stretch : stretches) {
      Selection selection;
      selection.from = stretch.from;
      selection.to = stretch.to;
      add_tasks(file, selection, wanted);
    }
    add_tasks(slice_of(file, stretches), {}, got);
    for (const auto& [tid, did] : wanted) {
      INFO("seed " << seed << ", thread " << tid);
      CHECK(got[tid].running == did.running);
      CHECK(got[tid].away == did.away);
      CHECK(got[tid].runs == did.runs);
      CHECK(got[tid].preempted == did.preempted);
      CHECK(got[tid].wakeups == did.wakeups);
      // If a task was woken before the cut and does not run after it, the cut has it as sleeping.
      CHECK(got[tid].ready <= did.ready);
      ready += got[tid].ready;
      ready_by_time += did.ready;
    }
  }
  CHECK(ready > ready_by_time / 100 * 95);
}

TEST_CASE("a slice of a slice of several stretches") {
  RandomRecording random(77, 3, 8000);
  const Bytes file = random.finish();
  const std::uint64_t part = (random.end() - T) / 10;
  const Bytes outer =
      slice_of(file, Stretches{{T + part, T + 3 * part}, {T + 4 * part, T + 8 * part}});
  for (const auto& [from, to] : {std::pair{2, 3}, {4, 5}, {5, 7}}) {
    const Stretches inner = {{T + from * part, T + to * part}};
    CHECK(of_time(Analyzed(slice_of(outer, inner)).report()) ==
          of_time(Analyzed(slice_of(file, inner)).report()));
  }
  const Recording trace = std::move(*Recording::from_bytes(outer));
  const Stretches across = stretches_in(trace, {{T + 2 * part, T + 6 * part}});
  REQUIRE(across.size() == 2);
  CHECK(across[0].to == T + 3 * part);
  CHECK(across[1].from == T + 4 * part);
  CHECK(of_time(Analyzed(slice_of(outer, across)).report()) ==
        of_time(Analyzed(slice_of(file, across)).report()));
}

TEST_CASE("fkt_extract: several stretches, in any order, are put together") {
  const std::string out = std::filesystem::temp_directory_path() / "fkt-stretches.fkt";
  const std::string file = golden() / "find.fkt";
  const auto cut = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"-f", "-o", out, file});
    const Ran ran = run_tool(cli::extract_slice, "fkt_extract", words);
    INFO(ran.text);
    CHECK(ran.status == 0);
    Stretches found;
    const Recording trace = std::move(*Recording::open(out));
    for (std::size_t i = 0; i < trace.info().stretches(); i++) {
      found.push_back({trace.info().stretch(i).from - T, trace.info().stretch(i).to - T});
    }
    return found;
  };
  const auto same = [](const Stretches& a, const Stretches& b) {
    return std::ranges::equal(a, b, [](const Interval& x, const Interval& y) {
      return x.from == y.from && x.to == y.to;
    });
  };
  CHECK(same(cut({"--from", "1us", "--to", "2us", "--from", "100us", "--to", "110us"}),
             {{1000, 2000}, {100'000, 110'000}}));
  CHECK(same(cut({"--from", "100us", "--from", "1us", "--to", "110us", "--to", "2us"}),
             {{1000, 2000}, {100'000, 110'000}}));
  CHECK(
      same(cut({"--from", "1us", "--to", "3us", "--from", "2us", "--to", "5us"}), {{1000, 5000}}));
  CHECK(
      same(cut({"--from", "1us", "--to", "3us", "--from", "3us", "--to", "5us"}), {{1000, 5000}}));
  CHECK(same(
      cut({"--from", "1us", "--to", "2us", "--from", "4us", "--to", "5us", "--context", "1us"}),
      {{0, 6000}}));
  CHECK(same(cut({"--from", "1us", "--to", "3us", "--from", "100us", "--to", "120us", "--where",
                  "name ~ \"switch*\""}),
             {{1600, 1901}}));
  CHECK(cut({"--pages", "0,1"}).size() == 1);
  const auto refused = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"-f", "-o", out, file});
    const Ran ran = run_tool(cli::extract_slice, "fkt_extract", words);
    CHECK(ran.status == 2);
    CHECK(std::ranges::count(ran.text, '\n') == 1);
    return ran.text;
  };
  CHECK(refused({"--from", "1us", "--to", "2us", "--from", "3us"}) ==
        "fkt_extract: --from, --to: several stretches need as many of the one as of the other\n");
  CHECK(refused({"--from", "1us", "--to", "2us", "--from", "5us", "--to", "4us"})
            .starts_with("fkt_extract: --from, --to (5us, 4us): nothing"));
  refused({"--pages", "0,"});
  refused({"--pages", "0,9"});
  refused({"--pages", "1-0"});
  cut({"--from", "1us", "--to", "2us", "--from", "100us", "--to", "110us"});
  CHECK(run_tool(cli::kd, "fkt_kd", {"--tasks", out}).text.find("find ") != std::string::npos);
  const Ran path =
      run_tool(cli::kd, "fkt_kd", {"--critical-path", "730", "--steps", "--time", "us", out});
  CHECK(path.status == 0);
  CHECK(path.text.find("       2.000       98.000      730 find, not known\n") !=
        std::string::npos);
  CHECK(run_tool(cli::kd, "fkt_kd", {out}).status == 0);
  CHECK(run_tool(cli::print_recording, "fkt_print", {"--stats", out})
            .text.find("a slice of 2 stretches") != std::string::npos);
  std::filesystem::remove(out);
}

TEST_CASE("stretches that overlap in a damaged file are refused with a line") {
  const Bytes slice =
      slice_of(find_recording(), Stretches{{T + 1000, T + 2000}, {T + 3000, T + 4000}});
  const Recording whole = std::move(*Recording::from_bytes(slice));
  RecordingBuilder b;
  b.section(FKT_SEC_CUT, whole.info().stretch(1).to_lines());
  b.section(FKT_SEC_CUT_MORE, whole.info().stretch(0).to_lines());
  b.event(0, T + 3100, FKT_E_NMI);
  const Recording turned = std::move(*Recording::from_bytes(b.finish()));
  CHECK(turned.info().stretches() == 1);
  const auto& notes = turned.integrity().notes;
  CHECK(std::ranges::any_of(notes, [](const std::string& note) {
    return note.find("behind the stretch before it") != std::string::npos;
  }));
}
