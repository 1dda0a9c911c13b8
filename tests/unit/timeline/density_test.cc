// SPDX-License-Identifier: GPL-2.0-only
// Compares densities with a count of all events one by one.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <numeric>

#include "lib/read/event_merge.h"
#include "lib/timeline/density.h"
#include "tests/golden/recordings.h"

using namespace fkt;
using namespace fkt::test;

namespace {

// Pages of several CPUs and layers, idle intervals, a gap and a missing page.
Bytes busy_recording() {
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 42).pid(5, 42);
  std::uint64_t random = 1;
  for (const std::uint32_t cpu : {0U, 1U, 5U}) {
    std::uint64_t at = T + cpu;
    for (unsigned i = 0; i < 3000; i++) {
      random = random * 6364136223846793005 + 1442695040888963407;
      at += random >> 60 == 0 ? 400'000 : random >> 56;
      if (i % 7 == 3) {
        b.event(cpu, at, FKT_E_WAKEUP, 42, {cpu});
      } else {
        b.event(cpu, at, i % 2 == 0 ? FKT_E_SYS_ENTRY : FKT_E_SYS_EXIT, 39);
      }
      if (cpu == 1 && i == 1000) {
        b.lost(1, at + 10, at + 90'000, 55);
        at += 90'000;
      }
      if (cpu == 5 && i == 2000) b.skip_pages(5, 1);
    }
  }
  return b.finish();
}

using Counted = std::map<std::tuple<std::uint32_t, unsigned, std::uint32_t>, std::uint64_t>;

Counted by_hand(const Recording& trace, const TimeScale& scale) {
  Counted counted;
  for (const Event& event : trace.events()) {
    if (event.is_gap() || event.clock < scale.from || event.clock >= scale.to) continue;
    const unsigned layer = trace.info().catalogue.find(event.id)->layer;
    counted[{event.cpu, layer, scale.cell(event.clock)}]++;
  }
  return counted;
}

Counted as_counted(const DensityCells& cells) {
  Counted counted;
  for (std::size_t cpu = 0; cpu < cells.cpus.size(); cpu++) {
    for (std::size_t layer = 0; layer < cells.width(); layer++) {
      for (std::uint32_t cell = 0; cell < cells.scale.cells; cell++) {
        const std::uint64_t events = cells.at(cpu, layer, cell);
        if (events == 0) continue;
        counted[{cells.cpus[cpu], cells.layers[layer], cell}] = events;
      }
    }
  }
  return counted;
}

// Returns how many gaps there are.
std::size_t compare_gaps(const Recording& trace, const std::vector<Gap>& gaps) {
  std::vector<Gap> wanted;
  for (const Event& event : trace.events()) {
    if (event.id != FKT_W_LOST) continue;
    wanted.push_back({event.cpu, event.words[1], event.clock, event.words[0]});
  }
  std::ranges::sort(wanted, {}, [](const Gap& gap) { return std::pair(gap.cpu, gap.from); });
  REQUIRE(gaps.size() == wanted.size());
  for (std::size_t i = 0; i < gaps.size(); i++) {
    CHECK(gaps[i].cpu == wanted[i].cpu);
    CHECK(gaps[i].from == wanted[i].from);
    CHECK(gaps[i].to == wanted[i].to);
    CHECK(gaps[i].lost == wanted[i].lost);
  }
  return gaps.size();
}

}  // namespace

TEST_CASE("a scale's cells begin where they say") {
  const TimeScale scale{1000, 1000 + 12345, 7};
  const CellTable table(scale);
  for (std::uint64_t clock = scale.from; clock < scale.to; clock++) {
    const std::uint32_t cell = scale.cell(clock);
    REQUIRE(cell < scale.cells);
    REQUIRE(scale.begin(cell) <= clock);
    REQUIRE(clock < scale.begin(cell + 1));
    REQUIRE(table.cell(clock) == cell);
  }
  const TimeScale large{~std::uint64_t{0} - 1000, ~std::uint64_t{0}, 1000};
  CHECK(large.cell(~std::uint64_t{0} - 1) == 999);
}

TEST_CASE("cells are found without dividing as with it") {
  const std::uint64_t end = ~std::uint64_t{0};
  for (const TimeScale& scale :
       {TimeScale{0, end, 8192}, TimeScale{end - 5, end, 8192}, TimeScale{7, end / 3, 1},
        TimeScale{T, T + 1, 1}, TimeScale{T, T + 1000, 1000}}) {
    const CellTable table(scale);
    CHECK(table.begin(scale.cells) == scale.to);
    const auto compare = [&](std::uint64_t clock) {
      if (clock < scale.from || clock >= scale.to) return;
      REQUIRE(table.cell(clock) == scale.cell(clock));
    };
    for (std::uint32_t cell = 0; cell <= scale.cells; cell++) {
      const std::uint64_t edge = scale.begin(cell);
      compare(edge - 1);
      compare(edge);
      compare(edge + 1);
    }
  }
}

TEST_CASE("densities are exact at every zoom, by any number of threads") {
  std::size_t gaps = 0;
  for (const Bytes& file : {busy_recording(), find_recording(), broken_recording()}) {
    const Result<Recording> trace = Recording::from_bytes(file);
    REQUIRE(trace);
    for (const unsigned threads : {1U, 3U}) {
      PassControl control;
      const Density density(*trace, threads, control);
      CHECK(control.done == trace->pages().size());
      const std::uint64_t end = recording_end(*trace) + 1;
      for (const TimeScale& scale :
           {TimeScale{T, end, 1}, TimeScale{T, end, 977}, TimeScale{T + 5000, T + 90'000, 100},
            TimeScale{T + 9100, T + 9110, 50}, TimeScale{end, end + 100, 3}}) {
        INFO(scale.from - T << " to " << scale.to - T << " in " << scale.cells);
        const Counted wanted = by_hand(*trace, scale);
        CHECK(as_counted(density.cells(scale)) == wanted);
      }
      gaps += compare_gaps(*trace, density.gaps());
    }
  }
  CHECK(gaps > 2);
}

TEST_CASE("where decoding would take too long no event is lost, and none moves far") {
  const Result<Recording> trace = Recording::from_bytes(busy_recording());
  PassControl control;
  const Density density(*trace, 1, control);
  const std::uint64_t end = recording_end(*trace) + 1;
  const TimeScale scale{T, end, 40};
  const DensityCells exact = density.cells(scale), spread = density.cells(scale, 0);
  CHECK(as_counted(exact) != as_counted(spread));
  for (std::size_t row = 0; row < exact.cpus.size() * exact.width(); row++) {
    std::int64_t ahead = 0;  // events by which `spread` leads so far
    for (std::size_t cell = 0; cell < scale.cells; cell++) {
      ahead += static_cast<std::int64_t>(spread.events[row * scale.cells + cell]) -
               static_cast<std::int64_t>(exact.events[row * scale.cells + cell]);
      CHECK(std::abs(ahead) <= 4096 / 64);
    }
    CHECK(ahead == 0);
  }
}

TEST_CASE("a gap that never closed is one too") {
  RecordingBuilder b;
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 39);
  b.section(FKT_SEC_TOTALS,
            R"({"start_clock":1000000,"stop_clock":1009000,"events":1,"lost":7,"discarded":0,)"
            R"("pages":1,"bytes":4096,"stop_reason":"full","error":0,"drain_ns":0,"per_cpu":)"
            R"([{"cpu":0,"events":1,"lost":7,"discarded":0,"pages":1,"gap_from":1000200,)"
            R"("gap_lost":7}]})");
  const Result<Recording> trace = Recording::from_bytes(b.finish());
  PassControl control;
  const Density density(*trace, 1, control);
  REQUIRE(density.gaps().size() == 1);
  CHECK(density.gaps()[0].from == T + 200);
  CHECK(density.gaps()[0].to == T + 9000);
  CHECK(density.gaps()[0].lost == 7);
}

TEST_CASE("behind a CPU's last page that is damaged is a gap") {
  Bytes file = busy_recording();
  const Result<Recording> whole = Recording::from_bytes(file);
  REQUIRE(whole);
  for (const PageRef& page : whole->pages()) {
    const bool is_last = std::ranges::none_of(whole->pages(), [&](const PageRef& other) {
      return other.cpu == page.cpu && other.seq > page.seq;
    });
    if (is_last && page.cpu != 5) file[page.offset + 100] ^= std::byte{1};
  }
  const Result<Recording> trace = Recording::from_bytes(file);
  PassControl control;
  const Density density(*trace, 1, control);
  std::map<std::uint32_t, std::uint64_t> last;  // by CPU: clock of the last event (ticks)
  for (const Event& event : trace->events()) {
    if (!event.is_gap()) last[event.cpu] = event.clock;
  }
  std::map<std::uint32_t, std::uint64_t> open;  // by CPU: begin of the gap up to the end (ticks)
  for (const Gap& gap : density.gaps()) {
    if (gap.to == recording_end(*trace)) open[gap.cpu] = gap.from;
  }
  last.erase(5);
  CHECK(open == last);
}

TEST_CASE("more ends of calls go into a page than a page has words") {
  constexpr std::uint32_t kCalls = 70'000;
  RecordingBuilder b;
  b.section(FKT_SEC_CATALOGUE, Catalogue::builtin().to_lines() + "name\tfunction\t3\tf\n");
  b.pid(0, 42);
  b.event(0, T + 100, FKT_E_SYS_ENTRY, 0);
  for (std::uint32_t i = 0; i < kCalls; i++) {
    b.event(0, T + 1'000'000 + i, FKT_E_CALL, 3, {fkt_call_word(T + 200 + 3 * i, 2)});
  }
  b.event(0, T + 2'000'000, FKT_E_SYS_EXIT, 0);
  const Result<Recording> trace = Recording::from_bytes(b.finish());
  REQUIRE(trace);
  PassControl control;
  const Density density(*trace, 1, control);
  for (const std::uint32_t cells : {1U, 7U}) {
    const DensityCells picture = density.cells({T, recording_end(*trace) + 1, cells});
    CHECK(std::accumulate(picture.events.begin(), picture.events.end(), std::uint64_t{0}) ==
          kCalls + 2);
  }
}

TEST_CASE("gaps that share a column are one piece") {
  const std::vector<Gap> gaps = {
      {0, 100, 110, 1}, {0, 115, 118, 2}, {0, 500, 600, 3}, {1, 118, 119, 4}, {1, 2000, 3000, 5}};
  const std::vector<Gap> pieces = gaps_in(gaps, {100, 1100, 10});
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[0].to == 118);
  CHECK(pieces[0].lost == 3);
  CHECK(pieces[1].from == 500);
  CHECK(pieces[2].cpu == 1);
}

TEST_CASE("from the index alone the sum is about right") {
  const Result<Recording> trace = Recording::from_bytes(busy_recording());
  const TimeScale scale{T, recording_end(*trace) + 1, 300};
  const DensityCells cells = density_from_index(trace->pages(), scale);
  std::uint64_t events = 0, wanted = 0;
  for (const std::uint64_t number : cells.events) events += number;
  for (const PageRef& page : trace->pages()) wanted += page.events;
  CHECK(cells.layers.empty());
  CHECK(events <= wanted);
  CHECK(events > wanted * 3 / 4);  // the share of a cell is rounded down
}
