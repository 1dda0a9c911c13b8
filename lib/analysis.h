// SPDX-License-Identifier: GPL-2.0-only
// Analysis: one pass over the events that feeds everything a command asked for.
//
//   fkt::Analysis analysis(trace.info(), view);
//   for (const fkt::Event& e : trace.events()) {
//     const fkt::Analysis::Place& place = analysis.add(e);
//     if (place.shown) dump.line(e, place);
//   }
//   analysis.finish(true, recording_end(trace));
//
// The order at each event matters and stands in add(): the time before it is given away first,
// then tasks change, then spans begin and end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/burst.h"
#include "lib/burst_taker.h"
#include "lib/profile.h"
#include "lib/select.h"
#include "lib/span_types.h"
#include "lib/spans.h"
#include "lib/states.h"
#include "lib/tasks.h"
#include "lib/trace.h"

namespace fkt {

struct Gap {
  std::uint32_t cpu = 0;
  std::uint64_t from = 0, to = 0;  // ticks
  std::uint64_t lost = 0;          // events; 0: a page that is missing or damaged
};

class Analysis {
 public:
  // What is known of an event once it was added.
  struct Place {
    bool shown = false;            // in the dump
    TaskIndex task = kNoTask;      // that ran
    bool first = true;             // of its CPU
    std::uint64_t since_last = 0;  // ticks since the event before on its CPU
    Step step;
  };

  Analysis(const TraceInfo& info, const View& view);
  Analysis(const Analysis&) = delete;  // its parts refer to each other
  Analysis& operator=(const Analysis&) = delete;

  // This is a first pass, which finds out what view.where selects (find_spans() in lib/find.h).
  void learn(Marks& marks);
  // Before the first event: every call goes to `sink` as well, which must outlive this.
  void watch(CallSink& sink) { spans_.watch(sink); }
  // Before the first event: durations are kept for percentiles.
  void keep_histograms() { profile_.keep_histograms(); }

  // What it returns is valid until the next add().
  const Place& add(const Event& event);
  // Does the view allow for the next two? Else every event has to be added.
  bool takes_bursts() const;
  // The same where nobody looks at the place. count: nobody else counts the event.
  void follow(const Event& event, bool count);
  // All events of a burst of `cpu` at once, but what the spans that ended in it add to the
  // profile; loose: its page's. False: it changed nothing, and each event has to be added by
  // itself.
  bool add(const Burst& burst, std::uint32_t cpu, std::span<const ChildRecord> loose);
  // whole: every event of the file was added. recording_end: its last moment, as far as known
  // (ticks).
  void finish(bool whole, std::uint64_t recording_end);

  // Nothing before `clock` is to come. In a slice of several stretches: goes on to the one that
  // has it, as add() does.
  void reach(std::uint64_t clock) {
    while (clock >= next_stretch_at_) [[unlikely]] next_stretch();
  }
  // The state between the events added and those to come, for a slice of [from, to) (ticks).
  Cut cut(std::uint64_t from, std::uint64_t to) const;

  const TraceInfo& info() const { return info_; }
  const View& view() const { return view_; }
  const Tasks& tasks() const { return tasks_; }
  const SpanTypes& types() const { return types_; }
  const Profile& profile() const { return profile_; }
  // For who adds bursts.
  Profile& mutable_profile() { return profile_; }
  const Window& window() const { return window_; }
  const Spans& spans() const { return spans_; }
  const States& states() const { return states_; }

  // Recording or slice (ticks); valid after finish().
  std::uint64_t begin() const;
  std::uint64_t end() const { return end_; }
  // The file's last moment, selected or not (ticks); valid after finish().
  std::uint64_t file_end() const { return file_end_; }
  // The zero of all times that are shown (recording_start() in lib/clock.h).
  std::uint64_t start() const { return start_; }

  // Gaps that touch the selection; kMaxGaps are kept, all are counted.
  static constexpr std::size_t kMaxGaps = 1 << 18;
  const std::vector<Gap>& gaps() const { return gaps_; }
  std::uint64_t gap_count() const { return gap_count_; }
  std::uint64_t lost() const { return lost_; }
  // Events of each CPU, selected or not; for the check against the file's totals.
  const std::vector<std::uint64_t>& decoded() const { return decoded_; }
  bool whole() const { return whole_; }
  // The processes of -s and -p appeared.
  bool stats_pid_seen() const { return !stats_alive_.watching() || stats_alive_.seen(); }
  bool dump_pid_seen() const { return !dump_alive_.watching() || dump_alive_.seen(); }

 private:
  bool in_slice(const Event& event) const {
    return event.clock >= window_.from && event.clock < window_.to &&
           (!window_.cpu || *window_.cpu == event.cpu) &&
           (window_.parts.empty() || window_.inside(event.clock, event.clock + 1) != 0);
  }
  bool shown(const Event& event, TaskIndex task, bool in_slice) const;
  void add_gap(const Event& event);
  void change(const Event& event, TaskIndex task, bool selected, Step& step);
  void restore(const Cut& cut, const CutPlaces& places);
  void next_stretch();
  std::uint64_t stretch_from(std::size_t stretch) const;
  Window stretch_window(std::size_t stretch) const;
  void end_stretch(std::uint64_t end, bool last);
  void life_before(const Event& event);
  void life_after(const Event& event);

  const TraceInfo& info_;
  const View view_;
  Window window_;
  std::uint64_t start_;
  std::uint64_t end_ = 0, file_end_ = 0;
  Tasks tasks_;
  SpanTypes types_;
  Profile profile_;
  Spans spans_;
  States states_;
  BurstTaker taker_;
  Alive stats_alive_, dump_alive_;
  std::optional<Picker> picker_;       // view.where's
  std::vector<std::int8_t> layers_;    // by event id
  std::vector<std::uint64_t> clocks_;  // of each CPU's last event; 0: none
  std::vector<std::uint64_t> decoded_;
  std::vector<Gap> gaps_;
  std::uint64_t gap_count_ = 0;
  std::uint64_t lost_ = 0;
  std::size_t stretch_ = 0;        // of a slice's, the one that is read
  std::uint64_t next_stretch_at_;  // where the next one begins (ticks); never: there is none
  bool whole_ = false;
  // Written where it stays: made anew and returned by value it is copied in larger words than it
  // was just written in, which the processor waits for.
  Place place_;
};

// The last moment that the file knows of (ticks): the stop, or an event that was being written then;
// of an unfinished file, the last page's end.
std::uint64_t recording_end(const Trace& trace);

}  // namespace fkt
