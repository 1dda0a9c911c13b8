// SPDX-License-Identifier: GPL-2.0-only
// Tests that the contents of an interval do not depend on where following the recording began.
#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <thread>

#include "lib/timeline/lanes.h"
#include "lib/timeline/occurrence_search.h"
#include "lib/timeline/window_stats.h"
#include "tests/golden/recordings.h"
#include "tests/unit/random_recording.h"
#include "tests/unit/slices.h"

using namespace fkt;
using namespace fkt::test;

namespace {

struct Seen : StateObserver {
  std::vector<Slice> slices;
  std::vector<Wake> wakes;
  std::uint64_t events = 0;
  void slice(const Slice& slice) override { slices.push_back(slice); }
  void wake(const Wake& wake) override { wakes.push_back(wake); }
  void event(const Event&, TaskIndex, const SpanStep&) override { events++; }

  const Slice* find(SliceKind kind, std::uint32_t value, std::uint64_t from) const {
    for (const Slice& slice : slices) {
      if (slice.kind == kind && slice.value == value && slice.from == T + from) return &slice;
    }
    return nullptr;
  }
};

struct ReadLanes {
  Recording trace;
  Timeline timeline;
  explicit ReadLanes(const Bytes& file)
      : trace(std::move(*Recording::from_bytes(file))), timeline(trace) {
    PassControl control;
    timeline.read(control);
  }
  Seen whole() const { return part(timeline.begin(), timeline.end()); }
  Seen part(std::uint64_t from, std::uint64_t to) const {
    Seen seen;
    timeline.follow(from, to, seen);
    return seen;
  }
  NameMatch match(std::string_view name) const {
    return {name, timeline.types(), trace.info().catalogue};
  }
  TaskIndex task(std::uint32_t tid) const { return timeline.tasks().find(tid); }
};

constexpr auto state_value = [](TaskState state) { return static_cast<std::uint32_t>(state); };

// Has many more events than lie between two saved states.
Bytes long_recording() {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  std::uint64_t at = T;
  for (unsigned i = 0; i < 9000; i++) {
    at += 100;
    b.event(0, at, FKT_E_SYS_ENTRY, 0);
    b.event(0, at + 10, FKT_E_SWITCH_S, 0);
    b.event(1, at + 20, FKT_E_SYS_ENTRY, 39);
    b.event(1, at + 25, FKT_E_WAKING, 42);
    b.event(0, at + 30, FKT_E_SWITCH_R, 42);
    b.event(1, at + 35, FKT_E_SYS_EXIT, 43);
    b.event(0, at + 40 + i % 50, FKT_E_SYS_EXIT, 1);
  }
  return b.finish();
}

bool same_slice(const Slice& a, const Slice& b) {
  return a.kind == b.kind && a.depth == b.depth && a.begun == b.begun && a.ended == b.ended &&
         a.cpu == b.cpu && a.task == b.task && a.value == b.value && a.in == b.in &&
         a.from == b.from && a.to == b.to;
}

}  // namespace

TEST_CASE("a call that sleeps: states, the call, who woke it") {
  const ReadLanes read(find_recording());
  const Seen seen = read.whole();
  const TaskIndex find = read.task(730) != kNoTask ? read.task(730) : TaskIndex{0};
  const Slice* blocked = seen.find(SliceKind::state, state_value(TaskState::blocked), 24000);
  REQUIRE(blocked != nullptr);
  CHECK(blocked->to == T + 118234);
  CHECK(read.timeline.types()[blocked->in].name == "sys_lstat");
  const Slice* ready = seen.find(SliceKind::state, state_value(TaskState::ready), 118234);
  REQUIRE(ready != nullptr);
  CHECK(ready->to == T + 121387);
  CHECK(ready->task == blocked->task);
  const auto woke = std::ranges::find(seen.wakes, T + 118234, &Wake::woken);
  REQUIRE(woke != seen.wakes.end());
  CHECK(woke->task == blocked->task);
  CHECK(woke->runs == T + 121387);
  CHECK(woke->waker_cpu == 1);
  CHECK(read.timeline.tasks()[woke->waker].idle);
  const auto call = std::ranges::find_if(seen.slices, [&](const Slice& slice) {
    return slice.kind == SliceKind::call && slice.from == T + 3000;
  });
  REQUIRE(call != seen.slices.end());
  CHECK(call->to == T + 125365);
  CHECK(read.timeline.types()[call->value].name == "sys_lstat");
  CHECK(find < read.timeline.tasks().size());
}

TEST_CASE("what a slice of two stretches shows does not depend on where following began") {
  std::size_t awake_at_cut = 0;
  for (unsigned seed = 1; seed <= 12; seed++) {
    INFO("seed " << seed);
    RandomRecording random(seed, 1 + seed % 4, 3000, RandomRecording::Kind::lossless);
    const Bytes file = random.finish();
    const std::uint64_t part = (random.end() - T) / 10;
    const Recording trace = std::move(*Recording::from_bytes(
        slice_of(file, {{T + part, T + 4 * part}, {T + 6 * part, T + 9 * part}})));
    Timeline timeline(trace);
    PassControl control;
    Seen passed, followed;
    timeline.read(control, &passed);
    timeline.follow(timeline.begin(), timeline.end(), followed);
    CHECK(std::ranges::equal(passed.slices, followed.slices, same_slice));
    // A task that ran after the first cut without a wake-up was ready from that cut on.
    awake_at_cut +=
        static_cast<std::size_t>(std::ranges::count_if(followed.slices, [&](const Slice& slice) {
          return slice.kind == SliceKind::state && !slice.begun && slice.ended &&
                 slice.value == state_value(TaskState::ready) && slice.from == T + part;
        }));
  }
  CHECK(awake_at_cut > 0);
}

TEST_CASE("interrupts nest on their CPU") {
  const ReadLanes read(find_recording());
  const Seen seen = read.whole();
  const auto named = [&](std::string_view name) {
    return std::ranges::find_if(seen.slices, [&](const Slice& slice) {
      return slice.kind == SliceKind::interrupt && read.timeline.types()[slice.value].name == name;
    });
  };
  REQUIRE(named("irq 14 ide0") != seen.slices.end());
  CHECK(named("irq 14 ide0")->from == T + 112845);
  CHECK(named("irq 14 ide0")->to == T + 120874);
  CHECK(named("irq 14 ide0")->depth == 1);
}

TEST_CASE("what nests in a call is a slice in it") {
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() +
                                   "event\t6f0\tenter\t0\tbegin:function\t0\tid:u:0:0:24\n"
                                   "event\t6f1\tleave\t0\tend:function\t0\tid:u:0:0:24\n");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  b.event(0, T + 110, 0x6f0, 1);
  b.event(0, T + 120, 0x6f0, 2);
  b.event(0, T + 130, 0x6f1, 2);
  b.event(0, T + 150, 0x6f1, 1);
  b.event(0, T + 160, FKT_E_SWITCH_S, 0);
  b.event(0, T + 170, FKT_E_SWITCH_R, 42);
  b.event(0, T + 180, FKT_E_SYS_EXIT, 0);
  const ReadLanes read(b.finish());
  std::map<std::uint64_t, std::pair<unsigned, std::uint64_t>> calls;  // begin: depth, end
  for (const Slice& slice : read.whole().slices) {
    if (slice.kind == SliceKind::call) calls[slice.from - T] = {slice.depth, slice.to - T};
  }
  CHECK(calls == decltype(calls){{100, {1, 180}}, {110, {2, 150}}, {120, {3, 130}}});
}

TEST_CASE("a stretch is followed alike from any copy of the state") {
  const ReadLanes read(long_recording());
  const Seen whole = read.whole();
  REQUIRE(whole.events == 63000);
  for (const std::uint64_t from : {T + 150, T + 450'027, T + 899'000}) {
    const std::uint64_t to = from + 700;
    const Seen part = read.part(from, to);
    std::size_t compared = 0;
    for (const Slice& slice : part.slices) {
      if (!slice.ended) continue;
      compared++;
      CHECK(
          std::ranges::any_of(whole.slices, [&](const Slice& s) { return same_slice(s, slice); }));
    }
    CHECK(compared > 20);
    const auto wanted = std::ranges::count_if(whole.slices, [&](const Slice& slice) {
      return slice.ended && slice.to >= from && slice.to < to;
    });
    CHECK(compared == static_cast<std::size_t>(wanted));
  }
}

TEST_CASE("a gap hides what may have happened") {
  const ReadLanes read(broken_recording());
  const Seen seen = read.whole();
  const TaskIndex task = read.task(42);
  REQUIRE(task != kNoTask);
  // The state of the task is known up to the gap, but does not end there. There is nothing in the
  // gap, and the call that may have ended in it is not drawn.
  const auto before = std::ranges::find_if(seen.slices, [&](const Slice& slice) {
    return slice.kind == SliceKind::state && slice.task == task && slice.to == T + 2100;
  });
  REQUIRE(before != seen.slices.end());
  CHECK(before->value == state_value(TaskState::running));
  CHECK_FALSE(before->ended);
  std::size_t calls = 0;
  for (const Slice& slice : seen.slices) {
    calls += slice.kind == SliceKind::call;
    if (slice.kind == SliceKind::call) CHECK(slice.from != T + 2000);
    if (slice.cpu == 0) CHECK_FALSE((slice.from < T + 9000 && slice.to > T + 2100));
  }
  CHECK(calls == 3);
  const auto after = std::ranges::find_if(seen.slices, [](const Slice& slice) {
    return slice.kind == SliceKind::call && slice.from == T + 9200;
  });
  REQUIRE(after != seen.slices.end());
  CHECK(after->ended);
}

TEST_CASE("lanes keep to the picture's resolution, and lose no slice and no time") {
  const ReadLanes read(long_recording());
  const TimeScale scale{read.timeline.begin(), read.timeline.end(), 200};
  Lanes lanes(scale, read.timeline.tasks());
  Seen seen;
  read.timeline.follow(scale.from, scale.to, lanes);
  read.timeline.follow(scale.from, scale.to, seen);
  std::uint64_t cells = 0, slices = 0, busy = 0;
  for (const Lane& lane : lanes.take().lanes) {
    for (const LaneCell& cell : lane.cells) {
      slices += cell.count;
      busy += cell.busy;
    }
    std::map<unsigned, std::uint64_t> per_depth;
    for (const LaneCell& cell : lane.cells) per_depth[cell.depth]++;
    for (const auto& [depth, count] : per_depth) CHECK(count <= 2 * scale.cells);
    cells += lane.cells.size();
  }
  std::uint64_t wanted = 0, ticks = 0;
  for (const Slice& slice : seen.slices) {
    const bool idle_state =
        slice.kind == SliceKind::state && read.timeline.tasks()[slice.task].idle;
    if (idle_state || slice.to <= scale.from) continue;
    wanted++;
    ticks += std::min(slice.to, scale.to) - std::max(slice.from, scale.from);
  }
  CHECK(slices == wanted);
  CHECK(busy == ticks);
  CHECK(cells < slices / 10);
}

namespace {

// Describes a slice by names, because each recording numbers tasks and types differently.
std::string named(const ReadLanes& read, const Slice& slice) {
  const bool type = slice.kind == SliceKind::call || slice.kind == SliceKind::interrupt;
  const Tasks& tasks = read.timeline.tasks();
  const auto of = [&](TaskIndex task) {
    return task == kNoTask ? std::string("-")
                           : std::string(tasks.name(task)) + std::to_string(tasks[task].tid);
  };
  std::string text = of(slice.task) + '/' + std::to_string(static_cast<int>(slice.kind)) + '/' +
                     std::to_string(slice.depth) + '/' + std::to_string(slice.cpu) + '/';
  if (type) text += read.timeline.types()[slice.value].name;
  if (slice.kind == SliceKind::run) text += of(slice.value);
  if (slice.kind == SliceKind::state) text += std::to_string(slice.value);
  if (slice.in != kNoType) text += " in " + read.timeline.types()[slice.in].name;
  return text + (slice.ended ? "" : " ...");
}

}  // namespace

TEST_CASE("each stretch of a slice is followed as if it were the only one") {
  const Bytes file = long_recording();
  const std::vector<Interval> stretches = {{T + 100'005, T + 110'000},
                                           {T + 110'012, T + 110'017},  // contains no event
                                           {T + 450'022, T + 460'000},
                                           {T + 899'000, T + 899'937}};
  const ReadLanes all(slice_of(file, stretches));
  CHECK(all.timeline.begin() == stretches.front().from);
  CHECK(all.timeline.end() == stretches.back().to);
  std::vector<std::string> wanted, got;
  const auto collect = [](const ReadLanes& read, const Seen& seen, std::vector<std::string>& into) {
    for (const Slice& slice : seen.slices) {
      into.push_back(named(read, slice) + ' ' + std::to_string(slice.from) + ' ' +
                     std::to_string(slice.to) + (slice.begun ? "" : " begun before"));
    }
  };
  for (const Interval& stretch : stretches) {
    const ReadLanes one(slice_of(file, stretch.from, stretch.to));
    std::vector<std::string> of_one, of_all;
    collect(one, one.part(stretch.from, stretch.to), of_one);
    collect(all, all.part(stretch.from, stretch.to), of_all);
    CHECK(of_one.size() > 1);
    CHECK(of_all == of_one);
    wanted.insert(wanted.end(), of_one.begin(), of_one.end());
  }
  collect(all, all.whole(), got);
  CHECK(got == wanted);
  CHECK(all.part(T + 200'000, T + 300'000).slices.empty());
}

TEST_CASE("a slice is followed from the state at its cut") {
  const Bytes file = long_recording();
  const ReadLanes whole(file);
  const std::uint64_t to = T + 460'000;
  for (const std::uint64_t phase : {0, 5, 12, 22, 27, 32, 37, 42, 60}) {
    const std::uint64_t from = T + 450'000 + phase;
    const ReadLanes part(slice_of(file, from, to));
    REQUIRE(part.timeline.begin() == from);
    std::multiset<std::tuple<std::string, std::uint64_t, std::uint64_t>> wanted, got;
    const auto collect = [&](const ReadLanes& read, auto& into) {
      for (const Slice& slice : read.part(from, to).slices) {
        // A task woken before the cut is waiting for a CPU after it, but the cut does not know
        // since when.
        const bool since_cut = slice.kind == SliceKind::state && slice.from <= from &&
                               slice.value == static_cast<std::uint32_t>(TaskState::ready);
        into.insert({named(read, slice), since_cut ? from : slice.from, slice.to});
      }
    };
    collect(whole, wanted);
    collect(part, got);
    INFO("cut at " << phase);
    CHECK(got.size() > 400);
    CHECK(got == wanted);
  }
}

TEST_CASE("a long question is given up when nobody wants its answer") {
  const ReadLanes read(long_recording());
  Seen seen;
  unsigned asked = 0;
  read.timeline.follow(read.timeline.begin(), read.timeline.end(), seen,
                       [&] { return ++asked == 2; });
  CHECK(asked == 2);
  CHECK(seen.events > 0);
  CHECK(seen.events < 63'000 / 2);
}

TEST_CASE("questions from several threads have the answers that they have alone") {
  const ReadLanes read(long_recording());
  const std::uint64_t from = T + 100'000, to = T + 700'000;
  const std::vector<Slice> wanted = read.part(from, to).slices;
  REQUIRE(wanted.size() > 6000);
  std::vector<std::vector<Slice>> got(4);
  {
    std::vector<std::jthread> threads;
    for (std::vector<Slice>& slices : got) {
      threads.emplace_back([&] { slices = read.part(from, to).slices; });
    }
  }
  for (const std::vector<Slice>& slices : got) {
    CHECK(std::ranges::equal(slices, wanted, same_slice));
  }
}

TEST_CASE("next and slowest occurrences are those that a look at all finds") {
  const ReadLanes read(long_recording());
  const Seen seen = read.whole();
  const NameMatch match = read.match("sys_read");
  REQUIRE(match.any());
  CHECK_FALSE(read.match("sys_nothing").any());
  std::vector<Slice> calls;
  for (const Slice& slice : seen.slices) {
    if (slice.kind == SliceKind::call && match.type(slice.value)) calls.push_back(slice);
  }
  REQUIRE(calls.size() == 9000);
  const auto next = next_occurrence(read.timeline, match, T + 450'001);
  REQUIRE(next);
  CHECK(next->slice.from == T + 450'100);
  CHECK(next->slice.to == std::ranges::find(calls, T + 450'100, &Slice::from)->to);
  CHECK_FALSE(next_occurrence(read.timeline, match, read.timeline.end() - 1));
  const auto slowest =
      slowest_occurrences(read.timeline, match, read.timeline.begin(), read.timeline.end(), 3);
  REQUIRE(slowest.size() == 3);
  std::uint64_t longest = 0;
  for (const Slice& slice : calls) longest = std::max(longest, slice.to - slice.from);
  CHECK(slowest[0].length() == longest);
  const auto tail = slowest_occurrences(read.timeline, match, read.timeline.begin(),
                                        read.timeline.end(), 10'000, longest - 5, longest);
  CHECK(tail.size() ==
        static_cast<std::size_t>(std::ranges::count_if(calls, [&](const Slice& slice) {
          const std::uint64_t length = slice.to - slice.from;
          return length >= longest - 5 && length < longest;
        })));
  CHECK_FALSE(tail.empty());
  CHECK(next_occurrence(read.timeline, read.match("waking"), T)->slice.from == T + 125);
}

TEST_CASE("statistics of a stretch add up") {
  const ReadLanes read(long_recording());
  const std::uint64_t from = T + 200'000, to = T + 300'000;
  WindowStats stats(from, to, read.timeline.tasks());
  read.timeline.follow(from, to, stats);
  std::uint64_t events = 0;
  for (const Event& event : read.trace.events({.from = from, .to = to, .cpu = {}})) {
    events += !event.is_gap();
  }
  CHECK(stats.events() == events);
  REQUIRE(stats.cpus().size() == 2);
  for (const WindowStats::OfCpu& cpu : stats.cpus()) CHECK(cpu.busy + cpu.idle == to - from);
  const NameMatch match = read.match("sys_getpid");
  REQUIRE(match.any());
  unsigned found = 0;
  for (TypeIndex type = 0; type < stats.types().size(); type++) {
    if (!match.type(type)) continue;
    found++;
    CHECK(stats.types()[type].total.count == 1000);
    CHECK(stats.types()[type].total.min == 15);
    CHECK(stats.types()[type].percentile(50) == 15);
  }
  CHECK(found == 1);
  const WindowStats::OfTask& task = stats.tasks()[read.task(42)];
  CHECK(task.states[1] + task.states[2] + task.states[3] == to - from);
  CHECK(task.waits == 1000);
  CHECK(task.longest_wait == 5);
}
