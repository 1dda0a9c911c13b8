// SPDX-License-Identifier: GPL-2.0-only
// Analysis: one pass over the events that feeds all statistics and the dump.
//
//   fkt::Analysis analysis(recording.info(), selection);
//   for (const fkt::Event& e : recording.events()) {
//     const fkt::Analysis::Found& found = analysis.add(e);
//     if (found.shown) dump.line(e, found);
//   }
//   analysis.finish(true, recording_end(recording));
//
// add() handles each event in a fixed order: first the time since the event before is charged, then
// tasks change, then spans begin and end.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "lib/analyse/async_spans.h"
#include "lib/analyse/burst.h"
#include "lib/analyse/cpu_accounting.h"
#include "lib/analyse/last_events.h"
#include "lib/analyse/profile.h"
#include "lib/analyse/selection.h"
#include "lib/analyse/span_tracker.h"
#include "lib/analyse/span_types.h"
#include "lib/analyse/tasks.h"
#include "lib/read/recording.h"

namespace fkt {

struct Gap {
  std::uint32_t cpu = 0;
  std::uint64_t from = 0, to = 0;  // ticks
  std::uint64_t lost = 0;          // number of lost events; 0: a page is missing or damaged
};

// The gaps of one CPU, added up.
struct GapSums {
  std::uint64_t gaps = 0, lost = 0, ticks = 0;  // lost: of those whose number is known
};

class Analysis {
 public:
  // The state at an event, as add() returns it.
  struct Found {
    bool shown = false;            // true if the event belongs in the dump
    TaskIndex task = kNoTask;      // the task that ran when the event happened
    bool first = true;             // true for the first event of its CPU
    std::uint64_t since_last = 0;  // ticks since the previous event of the same CPU
    SpanStep step;
  };

  Analysis(const RecordingInfo& info, const Selection& selection);
  Analysis(const Analysis&) = delete;  // the members refer to each other
  Analysis& operator=(const Analysis&) = delete;

  // Makes this a first pass that collects in `marks` what selection.where selects (make_filter() in
  // lib/analyse/search_passes.h).
  void learn(SpanMarks& marks);
  // Reports every call to `observer` as well. Call before the first event; `observer` must outlive
  // this object.
  void watch(SpanObserver& observer) { spans_.watch(observer); }
  // Keeps the distribution of durations, for percentiles. Call before the first event.
  void keep_histograms() { profile_.keep_histograms(); }

  // Adds one event. What is returned is valid until the next add().
  const Found& add(const Event& event);
  // Returns true if follow() and apply() may be used with this selection; otherwise every event has
  // to go through add(event).
  bool takes_many() const;
  // As add(event), for callers that do not need what it found out. count: count the event in the
  // profile; false if its page's digest already counts it. Returns the task that ran when the event
  // happened; kNoTask at the begin of a gap.
  TaskIndex follow(const Event& event, bool count);
  // As follow() for all events of a burst of `cpu` (lib/analyse/burst.h), in one step. The
  // durations of spans that end in it are not added to the profile. running: its task must already
  // be known to run on the CPU. Returns false, and changes nothing, if the burst does not fit the
  // open spans and what is known of the task and the CPU.
  bool apply(BurstAt at, bool running);
  // Ends the pass. whole: true if every event of the file was added. recording_end: end of the
  // recording (ticks), from recording_end().
  void finish(bool whole, std::uint64_t recording_end);

  // Promises that no event before `clock` (ticks) will follow. In a slice of several stretches,
  // moves on to the stretch that contains `clock`; add() does this by itself.
  void reach(std::uint64_t clock) {
    while (clock >= next_stretch_at_) [[unlikely]] next_stretch();
  }
  // Returns the state after the events added so far, as the checkpoint at the beginning of a slice
  // [from, to) (ticks).
  Checkpoint checkpoint(std::uint64_t from, std::uint64_t to) const;

  const RecordingInfo& info() const { return info_; }
  const Selection& selection() const { return selection_; }
  const Tasks& tasks() const { return tasks_; }
  const SpanTypes& types() const { return types_; }
  const Profile& profile() const { return profile_; }
  // For what is counted elsewhere, page by page.
  Profile& profile() { return profile_; }
  // As Profile::take_times().
  Histogram take_times(TypeIndex type) { return profile_.take_times(type); }
  const Window& window() const { return window_; }
  const SpanTracker& spans() const { return spans_; }
  const CpuAccounting& cpu_accounting() const { return cpu_accounting_; }
  // The asynchronous spans that the last event has ended.
  const std::vector<AsyncSpans::Ended>& ended_asyncs() const { return ended_; }

  // Beginning and end (ticks) of what the statistics cover; valid after finish().
  std::uint64_t begin() const;
  std::uint64_t end() const { return end_; }
  // Returns how many ticks of [from, to) are in the file; with in_selection, only of the
  // selection's parts.
  std::uint64_t ticks_in(std::uint64_t from, std::uint64_t to, bool in_selection) const;
  // End of the recording in the file (ticks), regardless of the selection; valid after finish().
  std::uint64_t file_end() const { return file_end_; }
  // Zero of all times shown (ticks; recording_start() in lib/format/clocks.h).
  std::uint64_t start() const { return start_; }

  // Gaps that overlap the selection. At most kMaxGaps are kept; gap_count() counts all.
  static constexpr std::size_t kMaxGaps = 1 << 18;
  const std::vector<Gap>& gaps() const { return gaps_; }
  std::uint64_t gap_count() const { return gap_count_; }
  // Sums of all of them, by CPU; a CPU without gaps is not in it.
  const std::map<std::uint32_t, GapSums>& gap_sums() const { return gap_sums_; }
  std::uint64_t lost() const { return lost_; }
  // Number of events read of the CPU, selected or not; compared with the totals in the file.
  std::uint64_t decoded(std::uint32_t cpu) const { return last_.count(cpu); }
  // The CPUs of which it is unknown at the end what they did; valid after finish(), and from the
  // end of a slice's stretch on for that stretch.
  const UnknownEnds& unknown_ends() const { return unknown_ends_; }
  bool whole() const { return whole_; }
  // Return false when the process of -s or -p never appeared in the recording.
  bool stats_pid_seen() const { return !stats_alive_.watching() || stats_alive_.seen(); }
  bool dump_pid_seen() const { return !dump_alive_.watching() || dump_alive_.seen(); }
  // Returns false when no event was of the selection's own tasks.
  bool own_seen() const { return !selection_.own || own_seen_; }
  // Returns whether the event lies in the selection's time and on its CPU.
  bool in_window(const Event& event) const { return in_slice(event); }
  // Returns whether the selection has the event, its time and its CPU aside, if `task` ran then.
  // Only for an event that is no begin and no end; call it after add(event).
  bool selects(const Event& event, TaskIndex task);
  // Returns whether the task is one of the selection's own; true if it names none.
  bool is_own(TaskIndex task) const;

 private:
  bool in_slice(const Event& event) const {
    return event.clock >= window_.from && event.clock < window_.to &&
           (!window_.cpu || *window_.cpu == event.cpu) &&
           (window_.parts.empty() || window_.inside(event.clock, event.clock + 1) != 0);
  }
  // Returns whether the selection has the event's layer.
  bool has_layer(const Event& event) const {
    if (!selection_.layer) [[likely]]
      return true;
    const EventType* const type = info_.catalogue.find(event.id);
    return type != nullptr && type->layer_of(event) == *selection_.layer;
  }
  bool shown(const Event& event, TaskIndex task, bool in_slice) const;
  void add_gap(const Event& event);
  void change(const Event& event, TaskIndex task, bool selected, SpanStep& step);
  void change_async(const Event& event, TaskIndex task, SpanStep& step);
  void restore(const Checkpoint& checkpoint, const CheckpointMapping& places);
  void next_stretch();
  std::uint64_t stretch_from(std::size_t stretch) const;
  Window stretch_window(std::size_t stretch) const;
  void end_stretch(std::uint64_t end, bool last);
  void life_before(const Event& event);
  void life_after(const Event& event);

  const RecordingInfo& info_;
  const Selection selection_;
  Window window_;
  std::uint64_t start_;
  std::uint64_t end_ = 0, file_end_ = 0;
  Tasks tasks_;
  SpanTypes types_;
  Profile profile_;
  SpanTracker spans_;
  CpuAccounting cpu_accounting_;
  AsyncSpans asyncs_;
  std::vector<AsyncSpans::Ended> ended_;  // of the last event
  Alive stats_alive_, dump_alive_;
  std::optional<FilterPass> filter_;  // evaluates selection.where
  LastEvents last_;
  UnknownEnds unknown_ends_;
  std::vector<Gap> gaps_;
  std::map<std::uint32_t, GapSums> gap_sums_;
  std::uint64_t gap_count_ = 0;
  std::uint64_t lost_ = 0;
  std::size_t stretch_ = 0;        // of a slice: number of the stretch being read
  std::uint64_t next_stretch_at_;  // where the next stretch begins (ticks); kForever: there is none
  bool whole_ = false;
  bool own_seen_ = false;
  // A member that add() fills in place: a local returned by value would be copied with wider loads
  // than the stores just before, which stalls on store forwarding.
  Found found_;
};

// Returns the last moment that the file knows of (ticks): the stop, or an event that was being
// written at the stop; in an unfinished file the end of the last page.
std::uint64_t recording_end(const Recording& recording);

}  // namespace fkt
