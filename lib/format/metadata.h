// SPDX-License-Identifier: GPL-2.0-only
// The contents of a recording's sections: machine, command, clocks, tasks, names, totals, and the
// checkpoints of a slice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/format/catalogue.h"
#include "lib/format/checkpoint.h"
#include "lib/format/definitions.h"
#include "lib/format/hit_results.h"
#include "lib/format/symbols.h"

namespace fkt {

struct ClockPair {          // one moment on all clocks
  std::uint64_t clock = 0;  // ticks
  std::uint64_t mono_raw_ns = 0;
  std::uint64_t mono_ns = 0;
  std::uint64_t real_ns = 0;
};

struct Machine {
  std::string sysname, nodename, release, version, machine, cpu_model, tool_version;
  unsigned cpus = 0;  // possible CPUs: highest number + 1
};

struct Command {
  std::uint32_t recorder_pid = 0;
  std::uint32_t workload_pid = 0;  // 0: none (-n)
  std::vector<std::string> command;
  std::uint64_t mask = 0;
  std::string filter;  // "none", "process", "only"
  std::uint32_t filter_pid = 0;
  bool args = false;
  bool restricted = false;  // without CAP_PERFMON: only the recorder's own processes
  std::string engine;       // "drain", or "fetch": the recorder fetched the pages
};

struct Clocks {
  std::string source;     // "tsc", "mono"
  std::uint64_t khz = 0;  // ticks per millisecond, according to the kernel
  ClockPair start;
  std::optional<ClockPair> end;
  std::vector<ClockPair> between;  // ascending; see lib/read/clock_events.h
  int zone_seconds = 0;            // east of UTC
  // Returns ticks per second: measured over the recording when its end is known, else khz * 1000.
  double ticks_per_second() const;
  // Returns the wall clock time of `clock` (ns since 1970), by the pairs before and after it.
  std::uint64_t real_ns(std::uint64_t clock) const;
};

struct Task {  // a task that existed before the recording
  std::uint32_t tid = 0, tgid = 0, ppid = 0;
  std::string comm;
};

struct MappedCode {  // by a process that existed before the recording
  std::uint32_t tgid = 0;
  std::uint64_t begin = 0, end = 0, offset = 0;  // offset: in the file (bytes)
  std::uint64_t device = 0, inode = 0;           // device: major << 20 | minor
  std::string path;
};

struct InterruptSource {
  std::string number;  // "14", or "NMI"
  std::string devices;
  std::uint64_t count = 0;
};

struct CpuTotals {
  std::uint32_t cpu = 0;
  std::uint64_t events = 0, lost = 0, discarded = 0, overwritten = 0, pages = 0;
  std::uint64_t gap_from = 0, gap_lost = 0;  // a gap still open at the end; 0: none
  // Calls that ended on this CPU with their event written on another one, minus the reverse
  // (lib/read/split_pages.h).
  std::int64_t ends_more = 0;

  // Returns how many events a reader finds of this CPU, if the file has all that were kept.
  // Overwritten events are no loss: a flight recorder overwrites them on purpose.
  std::uint64_t events_to_find() const {
    return events - std::min(overwritten, events) + static_cast<std::uint64_t>(ends_more);
  }
};

struct Totals {  // from the tail; absent when the recorder could not finish
  std::uint64_t start_clock = 0, stop_clock = 0;
  std::uint64_t recording_stop_clock = 0;  // of a slice: end of the whole recording; 0: not known
  std::uint64_t events = 0, lost = 0, discarded = 0, overwritten = 0, pages = 0, bytes = 0;
  std::uint64_t missed = 0;      // calls that a kprobe missed: without events
  std::uint64_t clock_back = 0;  // events with their predecessor's time: the clock went back
  std::uint64_t drain_ns = 0;
  // "asked", "limit", "full", "error", "ring", "instrument", "rotated", "snapshot"
  std::string stop_reason;
  std::string because;  // of a snapshot: what made its condition true; empty: it was requested
  std::string source;   // of a slice: what its recording lacked (lib/read/damage.h); empty: nothing
  std::vector<std::string> lacks;  // what the kernel did not let the module record, a line each
  int error = 0;
  std::optional<int> workload_status;
  std::vector<CpuTotals> per_cpu;
};

// The file is a later one of several files of a recording, or a snapshot.
struct Part {
  unsigned number = 0;                          // from 1
  bool snapshot = false;                        // of a flight recorder that continued
  std::map<std::uint32_t, std::uint64_t> lost;  // by CPU: events lost before this file
};

// A call whose event (lib/format/call_events.h) is in a page behind a slice, but which began or
// ended in the slice.
struct LaterCall {
  std::uint32_t cpu = 0;             // on which it began, or ended
  std::uint64_t begin = 0, end = 0;  // ticks
  std::uint16_t event = 0;           // id of the event of the call
  std::uint32_t arg = 0;             // of the begin and the end that are made of the event
  std::vector<std::uint64_t> words;
};

struct LaterCalls {
  std::vector<LaterCall> begun, ended;  // in the slice
};

// The contents of the file's sections; members of missing sections stay empty.
struct RecordingInfo {
  std::uint64_t recording = 0;
  std::uint32_t page_bytes = 0;
  Machine machine;
  Command command;
  Clocks clocks;
  std::vector<Task> tasks;
  // `tasks` are those at the end of a flight recorder, or near the begin of a rotated file.
  bool tasks_of_end = false;
  std::vector<MappedCode> mapped;           // at the start, where stacks of programs are recorded
  std::vector<InterruptSource> interrupts;  // at the start, and those added until the end
  Symbols symbols;
  Catalogue catalogue;      // with the definitions, once a Recording is open
  Definitions definitions;  // added to the catalogue while it recorded
  std::map<std::uint32_t, std::string> syscalls, syscalls32;  // names by number, from the file
  std::optional<Totals> totals;
  // Of the whole recording, also in a slice; absent when it had no instruments.
  std::optional<HitResults> hits;
  // The file has nothing of the recording before this time (ticks), because it is a part or from a
  // flight recorder, or because its clocks were read before recording began; 0: recording_start().
  std::uint64_t oldest = 0;
  std::optional<Part> part;  // the file follows others of its recording
  // Returns the number of the CPU's events lost before its first page in the file; nothing when the
  // file does not tell.
  std::optional<std::uint64_t> lost_before(std::uint32_t cpu) const;

  std::optional<Checkpoint> checkpoint;  // present when the file is a slice of a recording
  LaterCalls later;                      // of a slice
  std::vector<Checkpoint> further;       // the slice's further stretches, ascending and disjoint

  // Returns the number of the slice's stretches; 0 when the file is no slice.
  std::size_t stretches() const { return checkpoint ? 1 + further.size() : 0; }
  const Checkpoint& stretch(std::size_t i) const { return i == 0 ? *checkpoint : further[i - 1]; }
  // Returns the end of the last stretch (ticks). The file must be a slice.
  std::uint64_t slice_end() const { return further.empty() ? checkpoint->to : further.back().to; }
};

}  // namespace fkt
