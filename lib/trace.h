// SPDX-License-Identifier: GPL-2.0-only
// A recording opened for reading: the contents of its sections, its pages, its events in time
// order.
//
//   fkt::Result<fkt::Trace> trace = fkt::Trace::open(path);
//   if (!trace) return fail(trace.error());
//   for (const fkt::Event& e : trace->events()) stats.add(e);
//
// The file is mapped, never read as a whole; memory use is bounded by the number of CPUs and the
// page index, not by the recording's length. Pages are checked when they are decoded: a damaged one
// is skipped and counted in integrity(), and the others are shown.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "lib/catalogue.h"
#include "lib/cut.h"
#include "lib/event.h"
#include "lib/result.h"
#include "lib/symbols.h"

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
  int zone_seconds = 0;  // east of UTC
  // Returns ticks per second: measured over the recording when its end is known, else khz * 1000.
  double ticks_per_second() const;
  // Returns the wall clock time of `clock` (ns since 1970), by the nearest pairs.
  std::uint64_t real_ns(std::uint64_t clock) const;
};

struct Task {  // a task that existed before the recording
  std::uint32_t tid = 0, tgid = 0, ppid = 0;
  std::string comm;
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
};

struct Totals {  // from the tail; absent when the recorder could not finish
  std::uint64_t start_clock = 0, stop_clock = 0;
  std::uint64_t recording_stop_clock = 0;  // of a slice: end of the whole recording; 0: not known
  std::uint64_t events = 0, lost = 0, discarded = 0, overwritten = 0, pages = 0, bytes = 0;
  std::uint64_t missed = 0;      // calls that a kprobe missed: without events
  std::uint64_t clock_back = 0;  // events with their predecessor's time: the clock went back
  std::uint64_t drain_ns = 0;
  std::string stop_reason;  // "asked", "limit", "full", "error", "ring", "rotated", "snapshot"
  std::string because;      // of a snapshot: what made its condition true; empty: it was requested
  std::string source;       // of a slice: what its recording lacked (lib/damage.h); empty: nothing
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

// The contents of the file's sections; members of missing sections stay empty.
struct TraceInfo {
  std::uint64_t recording = 0;
  std::uint32_t page_bytes = 0;
  Machine machine;
  Command command;
  Clocks clocks;
  std::vector<Task> tasks;
  // `tasks` are those at the end of a flight recorder, or near the begin of a rotated file.
  bool tasks_of_end = false;
  std::vector<InterruptSource> interrupts;  // at the start, and those added until the end
  Symbols symbols;
  Catalogue catalogue;
  std::map<std::uint32_t, std::string> syscalls, syscalls32;  // names by number, from the file
  std::optional<Totals> totals;
  // The file has nothing of the recording before this time (ticks), because it is a part or from a
  // flight recorder, or because its clocks were read before recording began; 0: recording_start().
  std::uint64_t oldest = 0;
  std::optional<Part> part;  // the file follows others of its recording
  // Returns the number of the CPU's events lost before its first page in the file; nothing when the
  // file does not tell.
  std::optional<std::uint64_t> lost_before(std::uint32_t cpu) const;

  std::optional<Cut> cut;    // present when the file is a slice of a recording
  std::vector<Cut> further;  // the slice's further stretches, ascending and disjoint

  // Returns the number of the slice's stretches; 0 when the file is no slice.
  std::size_t stretches() const { return cut ? 1 + further.size() : 0; }
  const Cut& stretch(std::size_t i) const { return i == 0 ? *cut : further[i - 1]; }
  // Returns the end of the last stretch (ticks). The file must be a slice.
  std::uint64_t slice_end() const { return further.empty() ? cut->to : further.back().to; }
};

// A page found by the scan or listed in the index.
struct PageRef {
  std::uint64_t offset = 0;  // in the file; in a compressed one as if it were not (bytes)
  std::uint64_t first_clock = 0, end_clock = 0;
  std::uint64_t seq = 0;
  std::uint32_t cpu = 0;
  std::uint32_t events = 0;
};

// What is wrong with the file: found when it is opened and, in pages, when they are decoded.
struct Integrity {
  bool finished = false;       // the recorder wrote the tail
  bool index_rebuilt = false;  // made by scanning the pages
  // Pages have a checksum of their events; those of older recordings do not.
  bool checksums = true;
  std::uint64_t truncated_bytes = 0;  // of an incomplete page at the end of a file cut short
  std::uint64_t damaged_pages = 0;
  std::uint64_t missing_pages = 0;  // holes in the CPUs' sequence numbers
  std::uint64_t lost = 0;           // events lost in gaps, on all CPUs
  std::uint64_t events = 0;         // events that the latest events() has yielded so far
  std::vector<std::string> notes;   // one line each: what, where
};

// The part of a recording to read; in a slice never more than the slice.
struct Selection {
  std::optional<std::uint64_t> from, to;  // ticks, from <= clock < to
  std::optional<std::uint32_t> cpu;
};

class MappedFile;  // lib/mapped_file.h
struct TraceData;  // lib/trace_data.h
struct Page;       // lib/page.h
struct PageBytes;  // lib/page_source.h
class WordTable;
class EventRange;  // lib/merge.h: an input range of Event in time order

class Trace {
 public:
  // path "-" is standard input, which is first copied to an unlinked temporary file.
  static Result<Trace> open(const std::string& path);
  // Opens a file that is mapped already; `name` is used in messages.
  static Result<Trace> from_file(MappedFile file, const std::string& name);
  // Opens a copy of a recording in memory; `name` is used in messages.
  static Result<Trace> from_bytes(std::span<const std::byte> bytes,
                                  const std::string& name = "recording");
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  const TraceInfo& info() const;
  const std::vector<PageRef>& pages() const;  // in file order
  // Returns the events of all CPUs in time order, at equal times in the order of CPU numbers, with
  // gaps among them (event.h). Iterating updates integrity(), so only one thread at a time may do
  // it. The range must not outlive the trace.
  EventRange events(const Selection& selection = {}) const;
  // page() returns one of pages() after checking it (Error: damaged); words() tells how to decode
  // it (PageDecoder). Neither changes integrity(): any number of threads may decode pages at once.
  Result<Page> page(const PageRef& ref) const;
  // Counts a page that page() or a decoder found damaged in integrity(), as events() does with the
  // damaged pages that it reads. Only one thread at a time may call it or iterate events().
  void note_damage(const PageRef& ref, const Error& error) const;
  // Returns the page's stored bytes, unchecked, for copying.
  Result<PageBytes> page_bytes(const PageRef& ref) const;
  const WordTable& words() const;
  const Integrity& integrity() const;
  // Returns the offset of the tail behind the pages (bytes); 0: there is none.
  std::uint64_t tail_offset() const;
  // Returns the whole mapped file, for copying its sections.
  std::span<const std::byte> file() const;

 private:
  friend class Scanner;  // reads the pages as EventRange does
  explicit Trace(std::unique_ptr<TraceData> data);
  std::unique_ptr<TraceData> data_;
};

}  // namespace fkt
