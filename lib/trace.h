// SPDX-License-Identifier: GPL-2.0-only
// A recording, opened for reading: what its sections say, its pages, its events in time order.
//
//   fkt::Result<fkt::Trace> trace = fkt::Trace::open(path);
//   if (!trace) return fail(trace.error());
//   for (const fkt::Event& e : trace->events()) stats.add(e);
//
// The file is mapped, never read whole; memory is bounded by the number of CPUs and the page index,
// not by the trace's length. Pages are checked when they are decoded: a damaged one is skipped and
// counted in integrity(), and the rest is shown.
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
  bool restricted = false;  // made without CAP_PERFMON: of the recorder's own processes alone
  std::string engine;       // "drain"; "fetch": the recorder fetched the pages
};

struct Clocks {
  std::string source;     // "tsc", "mono"
  std::uint64_t khz = 0;  // ticks per millisecond, as the kernel says
  ClockPair start;
  std::optional<ClockPair> end;
  int zone_seconds = 0;  // east of UTC
  // Ticks per second measured over the recording where the end is known, khz * 1000 otherwise.
  double ticks_per_second() const;
  // Wall clock of a stamp (ns since 1970), by the nearest pairs.
  std::uint64_t real_ns(std::uint64_t clock) const;
};

struct Task {  // before the recording
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
  std::uint64_t gap_from = 0, gap_lost = 0;  // a gap that never closed; 0: none
};

struct Totals {  // from the tail; absent when the recorder could not finish
  std::uint64_t start_clock = 0, stop_clock = 0;
  std::uint64_t recording_stop_clock = 0;  // of a slice: where its recording ended; 0: not known
  std::uint64_t events = 0, lost = 0, discarded = 0, overwritten = 0, pages = 0, bytes = 0;
  std::uint64_t missed = 0;      // calls of functions with a kprobe that no event tells of
  std::uint64_t clock_back = 0;  // events whose clock had stepped back
  std::uint64_t drain_ns = 0;
  std::string stop_reason;  // "asked", "limit", "full", "error", "ring", "rotated", "snapshot"
  std::string because;  // of a snapshot: what its condition came true of; empty: it was asked for
  std::string source;   // of a slice: what its recording lacked (lib/damage.h); empty: nothing
  int error = 0;
  std::optional<int> workload_status;
  std::vector<CpuTotals> per_cpu;
};

// The file is one of several that a recording rotated through, and not the first.
struct Part {
  unsigned number = 0;                          // from 1
  bool snapshot = false;                        // of a flight recorder that went on
  std::map<std::uint32_t, std::uint64_t> lost;  // per CPU, events lost before it
};

// What the file says about itself; sections that are missing leave their part empty.
struct TraceInfo {
  std::uint64_t recording = 0;
  std::uint32_t page_bytes = 0;
  Machine machine;
  Command command;
  Clocks clocks;
  std::vector<Task> tasks;
  // Who lived at the end of a flight recorder, or about the begin of a file that rotated.
  bool tasks_of_end = false;
  std::vector<InterruptSource> interrupts;  // at the start, completed by those of the end
  Symbols symbols;
  Catalogue catalogue;
  std::map<std::uint32_t, std::string> syscalls,
      syscalls32;  // number -> name, as the file has them
  std::optional<Totals> totals;
  // Before this moment nothing of the recording is in the file (ticks), because it is a part or a
  // flight recorder's, or because its clocks were read before it began; 0: recording_start().
  std::uint64_t oldest = 0;
  std::optional<Part> part;  // the file follows others of its recording
  // Events lost on a CPU before the file's first page of it, if the file says so.
  std::optional<std::uint64_t> lost_before(std::uint32_t cpu) const;

  std::optional<Cut> cut;    // the file is a slice of a recording
  std::vector<Cut> further;  // ... of several stretches: the others, ascending and apart

  // The slice's stretches; none: the whole recording is in the file.
  std::size_t stretches() const { return cut ? 1 + further.size() : 0; }
  const Cut& stretch(std::size_t i) const { return i == 0 ? *cut : further[i - 1]; }
  // Up to where they reach (ticks). Precondition: cut.
  std::uint64_t slice_end() const { return further.empty() ? cut->to : further.back().to; }
};

// A page that the scan or the index found.
struct PageRef {
  std::uint64_t offset = 0;  // in the file, in a compressed one: if it were not (bytes)
  std::uint64_t first_clock = 0, end_clock = 0;
  std::uint64_t seq = 0;
  std::uint32_t cpu = 0;
  std::uint32_t events = 0;
};

// What is wrong with the file, found at opening and, for pages, while decoding.
struct Integrity {
  bool finished = false;              // the recorder wrote the tail
  bool index_rebuilt = false;         // by scanning the pages
  bool checksums = true;              // pages have one of their events; older recordings do not
  std::uint64_t truncated_bytes = 0;  // after the last whole page of a file cut short
  std::uint64_t damaged_pages = 0;
  std::uint64_t missing_pages = 0;  // holes in the CPUs' running numbers
  std::uint64_t lost = 0;           // events in gaps, all CPUs
  std::uint64_t events = 0;         // handed on by the latest events() so far
  std::vector<std::string> notes;   // one line each: what, where
};

// Which part of a recording to hand on. Of a slice, never more than the slice.
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
  // path "-": standard input, which is first spooled to an unlinked temporary file.
  static Result<Trace> open(const std::string& path);
  // The same of a file that is open already.
  static Result<Trace> from_file(MappedFile file, const std::string& name);
  // A recording in memory, which is copied; `name` stands for it in messages.
  static Result<Trace> from_bytes(std::span<const std::byte> bytes,
                                  const std::string& name = "recording");
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  const TraceInfo& info() const;
  const std::vector<PageRef>& pages() const;  // in file order
  // Events of all CPUs in time order; equal stamps in the order of CPU numbers. Gaps are among
  // them (event.h). Iterating it updates integrity(), so only one thread at a time may do it. The
  // range must not outlive the trace.
  EventRange events(const Selection& selection = {}) const;
  // One of pages(), checked (Error: damaged), and how its words are read (PageDecoder). Neither
  // touches integrity(): any number of threads may decode pages at once.
  Result<Page> page(const PageRef& ref) const;
  // Counts a page that page() or a decoder found damaged in integrity(), as events() does with those
  // that it meets: so only one thread at a time may do it.
  void note_damage(const PageRef& ref, const Error& error) const;
  // Its bytes as they are, unchecked, for who copies them.
  Result<PageBytes> page_bytes(const PageRef& ref) const;
  const WordTable& words() const;
  const Integrity& integrity() const;
  // Where what was written after the pages stands (bytes); 0: there is none.
  std::uint64_t tail_offset() const;
  // The whole file as it is mapped, for who copies sections of it.
  std::span<const std::byte> file() const;

 private:
  friend class Scanner;  // reads it as EventRange does
  explicit Trace(std::unique_ptr<TraceData> data);
  std::unique_ptr<TraceData> data_;
};

}  // namespace fkt
