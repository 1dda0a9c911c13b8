// SPDX-License-Identifier: GPL-2.0-only
// Summary: the contents of the report, computed once for text, JSON and CSV. All times are in
// ticks; rows are in the order in which they are shown.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/analyse/analysis.h"
#include "lib/read/recording.h"

namespace fkt {

struct Summary {
  // A row of the histogram. Its ticks are self time, so all rows together are the CPUs' whole time.
  struct EventRow {
    std::string name;
    std::optional<std::uint16_t> code;  // states have none
    std::uint64_t count = 0;
    std::uint64_t ticks = 0;
    std::optional<Spread> each;  // of the occurrences with begin and end
    bool timed = false;          // false: events without a duration
  };
  // Durations of the spans of one name, from entry to exit, of those with both.
  struct DurationRow {
    std::string name;
    std::uint16_t code = 0;
    Spread total;
    std::uint64_t p50 = 0, p90 = 0, p99 = 0;  // as SpanStats::percentile() returns them
  };
  struct Part {  // a part of a call's time
    std::string name;
    std::optional<std::uint16_t> code;
    std::uint64_t count = 0, ticks = 0;
  };
  struct CallRow {
    std::string name;
    std::uint16_t code = 0;
    std::uint64_t entries = 0;
    std::array<std::uint64_t, kOutcomes> outcomes{};
    Spread total;  // from entry to exit
    std::uint64_t self = 0;
    std::vector<Part> parts;  // their ticks and own add up to the total
  };
  struct ProcessRow {
    std::string name;
    std::uint32_t pid = 0;
    std::uint32_t threads = 1;
    CpuStateTimes times{};
    std::uint64_t runs = 0;
    bool idle = false, kernel = false, recorder = false;
  };
  struct CpuRow {
    std::uint32_t cpu = 0;
    CpuStateTimes times{};
  };
  struct CpuLoss {
    std::uint32_t cpu = 0;
    std::uint64_t gaps = 0, lost = 0, ticks = 0;  // lost is 0 when their number is not known
  };
  struct Count {
    std::uint64_t count = 0;
    std::string layer, name;
  };

  // An interval, counted from the recording's start. `ticks` is its length without the time between
  // stretches, if it consists of several.
  struct Extent {
    std::uint64_t from = 0, to = 0, ticks = 0;
  };

  std::uint64_t duration = 0;  // of the recording, from its start to its stop
  // False when the file does not tell whether the recording ended there: it is one of several
  // parts, or unfinished.
  bool ended = false;
  std::optional<Extent> file;  // what the file contains, when it is less than the recording
  Extent selected;             // what the figures describe
  bool selects = false;        // `selected` is less than what the file contains
  std::uint64_t events = 0, lost = 0;
  std::uint64_t cpu_ticks = 0;  // time of all CPUs together
  CpuStateTimes times{};
  std::vector<std::string> layers;   // recorded
  std::vector<std::string> notes;    // what is not known, and why
  std::vector<std::string> missing;  // what the file lacks; empty: complete
  std::vector<EventRow> histogram;
  std::vector<DurationRow> durations;  // only when the profile keeps histograms
  std::vector<CallRow> calls;
  std::array<std::uint64_t, kOutcomes> exits_alone{};
  std::vector<ProcessRow> processes;
  std::vector<CpuRow> cpus;
  std::vector<CpuLoss> losses;
  std::uint64_t recorder_ticks = 0, drain_ticks = 0;
  bool has_switches = false;  // the process layer was recorded
};

// Return the names of a CpuState and of an Outcome in JSON and CSV.
std::string_view state_key(std::size_t state);
std::string_view outcome_key(std::size_t outcome);

// Returns the figures of a finished analysis. integrity: of the recording that it has read.
// without_user: leave user-level time out of the histogram (-k).
Summary summarize(const Analysis& analysis, const Integrity& integrity, bool without_user);

// Returns how often each event of the selection occurred, each event counted once: system calls by
// their entries under the call's name, all others under the catalogue's name. Highest count first,
// equal counts by name.
std::vector<Summary::Count> count_events(const Analysis& analysis);

}  // namespace fkt
