// SPDX-License-Identifier: GPL-2.0-only
// What each task called: how often, how long it took, and which errors came back (fkt_print
// --calls).
//
//   TaskCalls calls(analysis);
//   analysis.watch(calls);
//   for (const Event& event : recording.events()) calls.add(event, analysis.add(event));
//   analysis.finish(true, recording_end(recording));
//   for (const TaskCalls::Task& task : calls.tasks()) ...
//
// Counts what lib/analyse/profile.h counts, by its rules, but each task apart: the rows of one call
// add up to its row in the statistics.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/analyse/analysis.h"
#include "lib/analyse/call_subjects.h"
#include "lib/analyse/span_observer.h"

namespace fkt {

class TaskCalls : public SpanObserver {
 public:
  // One call of one task. Of `stats` only entries, outcomes, total and times are filled in.
  struct Row {
    TaskIndex task = kNoTask;
    TypeIndex type = kNoType;  // kNoType: calls that were refused before they began
    SpanStats stats;
    std::map<std::int64_t, std::uint64_t> errors;  // how often each came back, by its negative
    // Of system calls: what they took by file or socket, where that is known.
    std::map<std::string, Spread> files;
    std::uint64_t cut() const { return stats.entries - stats.total.count; }
  };
  struct Task {
    TaskIndex task = kNoTask;
    std::uint64_t ticks = 0;  // the sum of its rows' totals
    std::vector<Row> rows;    // most time first
  };

  // analysis: the one that tells this observer of the calls; it outlives this object.
  explicit TaskCalls(const Analysis& analysis) : analysis_(analysis), subjects_(analysis) {}

  // Adds an event; call it for every event in order, after the analysis has applied it.
  void add(const Event& event, const Analysis::Found& place);
  // Those that called anything, most time in calls first.
  std::vector<Task> tasks() const;

  void begin(OpenSpan& call, const SpanPosition& place) override;
  void end(const OpenSpan& call, Outcome outcome, const SpanPosition& place) override;
  void charge(const OpenSpan*, std::uint32_t, CpuState, std::uint64_t) override {}

 private:
  Row& row(TaskIndex task, TypeIndex type);
  void count_error(Row& row, const Event& event) const;

  const Analysis& analysis_;
  CallSubjects subjects_;
  std::vector<Row> rows_;
  std::unordered_map<std::uint64_t, std::size_t> by_key_;  // place in rows_, by task and type
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t ended_ = kNone;  // the row of the call that the current event has ended
};

}  // namespace fkt
