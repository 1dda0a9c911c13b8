// SPDX-License-Identifier: GPL-2.0-only
// Tests that the dump of a part is the same whether each event before it is read, or it is reached
// by the scan, or from a state that was kept.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include "cli/fkt_print/jump.h"
#include "lib/format/clocks.h"
#include "lib/read/event_merge.h"
#include "lib/report/event_dump.h"
#include "lib/slice/checkpoints.h"
#include "tests/unit/busy_recording.h"
#include "tests/unit/call_recording.h"
#include "tests/unit/folder.h"
#include "tests/unit/how_many.h"
#include "tests/unit/random_recording.h"

using namespace fkt;
using namespace fkt::test;

namespace {

cli::PrintRequest from(std::uint64_t clock) {
  cli::PrintRequest request;
  request.dump = true;
  request.statistics = false;
  request.selection.from = clock;
  return request;
}

// The dump, which begins with the states at the part's begin.
std::string dump_of(const Recording& trace, const RecordingInfo& info,
                    const cli::PrintRequest& request, const cli::Jump* jump) {
  Analysis analysis(info, request.selection);
  const EventDump dump(analysis, TimeFormat(TimeUnit::cycles));
  TextWriter out;
  const std::uint64_t cut = *request.selection.from;
  std::optional<std::uint64_t> begin;
  if (jump != nullptr) {
    begin = jump->run(analysis);
    CHECK(begin == cut);
  }
  bool told = false;
  for (const Event& event : trace.events({.from = begin, .to = {}, .cpu = {}})) {
    if (!told && event.clock >= cut) {
      dump.states(out, cut);
      told = true;
    }
    const Analysis::Found& place = analysis.add(event);
    if (place.shown) dump.line(out, event, place);
  }
  return out.take();
}

}  // namespace

TEST_CASE("a dump of a part is the same however its begin is reached") {
  std::size_t kept = 0, lines = 0;
  for (unsigned seed = 0; seed < recordings(36); seed++) {
    const Bytes file = seed % 3 == 0   ? CallRecording(seed, 1 + seed % 4, 1200).finish()
                       : seed % 3 == 1 ? RandomRecording(seed, 1 + seed % 5, 2000).finish()
                                       : BusyRecording(seed, 1 + seed % 4, 3000).finish();
    const Recording trace = std::move(*Recording::from_bytes(file));
    const Folder folder;
    const std::uint64_t apart = trace.info().page_bytes;
    CheckpointCache cache(trace, folder.file("cache"), apart);
    if (!cache.moments().empty()) {
      const std::uint64_t last = cache.moments().back();
      REQUIRE(read_checkpoints(trace, {&last, 1}, &cache, {}).size() == 1);
      REQUIRE(cache.keep());
    }
    const std::uint64_t begin = recording_start(trace.info());
    const std::uint64_t length = recording_end(trace) - begin;
    for (const unsigned share : {0U, 13U, 50U, 77U, 99U}) {
      INFO("seed " << seed << ", from " << share << " %");
      const cli::PrintRequest request = from(begin + length * share / 100);
      const std::string all = dump_of(trace, trace.info(), request, nullptr);
      const cli::Jump scans(trace, request, "", apart);
      CHECK_FALSE(scans.info().checkpoint);
      CHECK(dump_of(trace, scans.info(), request, &scans) == all);
      const cli::Jump jumps(trace, request, folder.file("cache"), apart);
      kept += jumps.info().checkpoint.has_value();
      CHECK(dump_of(trace, jumps.info(), request, &jumps) == all);
      lines += static_cast<std::size_t>(std::ranges::count(all, '\n'));
    }
  }
  CHECK(kept > 20);
  CHECK(lines > 20'000);
}

TEST_CASE("where single events are chosen, every event before them is read") {
  const Recording trace = std::move(*Recording::from_bytes(RandomRecording(1, 2, 500).finish()));
  cli::PrintRequest request = from(recording_start(trace.info()) + 100);
  request.selection.own = TaskChoice{42, {}};
  Analysis analysis(trace.info(), request.selection);
  CHECK_FALSE(cli::Jump(trace, request).run(analysis));
  request.selection.own.reset();
  request.statistics = true;
  Analysis other(trace.info(), request.selection);
  CHECK_FALSE(cli::Jump(trace, request).run(other));
}
