// SPDX-License-Identifier: GPL-2.0-only
// Summary: what the report says, worked out once, for the text and for JSON alike. All times are
// ticks; rows stand in the order in which they are shown.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/analysis.h"
#include "lib/trace.h"

namespace fkt {

struct Summary {
  // A line of the histogram. Its ticks are own time: all rows together are all time.
  struct EventRow {
    std::string name;
    std::optional<std::uint16_t> code;  // states have none
    std::uint64_t count = 0;
    std::uint64_t ticks = 0;
    std::optional<Spread> each;  // one by one, of those that were seen whole
    bool timed = false;          // false: events without a duration
  };
  // How long the spans of one name took, from entry to exit, of those that were seen whole.
  struct DurationRow {
    std::string name;
    std::uint16_t code = 0;
    Spread total;
    std::uint64_t p50 = 0, p90 = 0, p99 = 0;  // as SpanStats::percentile() has them
  };
  struct Part {  // of a call's time
    std::string name;
    std::optional<std::uint16_t> code;
    std::uint64_t count = 0, ticks = 0;
  };
  struct CallRow {
    std::string name;
    std::uint16_t code = 0;
    std::uint64_t entries = 0;
    std::array<std::uint64_t, kOutcomes> outcomes{};
    Spread total;  // entry to exit
    std::uint64_t own = 0;
    std::vector<Part> parts;  // with own they make the total
  };
  struct ProcessRow {
    std::string name;
    std::uint32_t pid = 0;
    std::uint32_t threads = 1;
    StateTimes times{};
    std::uint64_t runs = 0;
    bool idle = false, kernel = false, recorder = false;
  };
  struct CpuRow {
    std::uint32_t cpu = 0;
    StateTimes times{};
  };
  struct CpuLoss {
    std::uint32_t cpu = 0;
    std::uint64_t gaps = 0, lost = 0, ticks = 0;  // lost 0: how many is not known
  };
  struct Count {
    std::uint64_t count = 0;
    std::string layer, name;
  };

  // A part of the recording, since its time zero. ticks: what of it counts, which is less where it
  // has several stretches.
  struct Extent {
    std::uint64_t from = 0, to = 0, ticks = 0;
  };

  std::uint64_t duration = 0;  // of the recording, from its start to its stop
  // It ends there for certain; false: the file knows no more of it (a part of several, unfinished).
  bool ended = false;
  std::optional<Extent> file;  // what the file holds, where that is less than the recording
  Extent selected;             // what the numbers are of
  bool selects = false;        // it is less than what the file holds
  std::uint64_t events = 0, lost = 0;
  std::uint64_t cpu_ticks = 0;  // of all CPUs together
  StateTimes times{};
  std::vector<std::string> layers;   // recorded
  std::vector<std::string> notes;    // what is not known, and why
  std::vector<std::string> missing;  // what the file lacks; empty: complete
  std::vector<EventRow> histogram;
  std::vector<DurationRow> durations;  // where the profile keeps histograms
  std::vector<CallRow> calls;
  std::array<std::uint64_t, kOutcomes> exits_alone{};
  std::vector<ProcessRow> processes;
  std::vector<CpuRow> cpus;
  std::vector<CpuLoss> losses;
  std::uint64_t recorder_ticks = 0, drain_ticks = 0;
  bool has_switches = false;  // the process layer was recorded
};

// Names of states and outcomes, as JSON and CSV have them.
std::string_view state_key(std::size_t state);
std::string_view outcome_key(std::size_t outcome);

// without_user: leave user-level time out of the histogram (-k).
Summary summarize(const Analysis& analysis, const Integrity& integrity, bool without_user);

// Every event of the selection exactly once: system calls by their entries, everything else by the
// catalogue's name. Most first, equal ones by name.
std::vector<Summary::Count> count_events(const Analysis& analysis);

}  // namespace fkt
