// SPDX-License-Identifier: GPL-2.0-only
// Each run of a task on a CPU, as a table that is written while the recording is read (fkt_print
// --sched).
#pragma once

#include <cstdint>
#include <vector>

#include "lib/analyse/task_runs.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"

namespace fkt {

class RunsReport {
 public:
  enum class Form : std::uint8_t { text, json, csv };  // json: an object a line

  // Writes to `out`; times in the unit of `time`. All references must outlive this object.
  RunsReport(TextWriter& out, Form form, const Analysis& analysis, const TimeFormat& time)
      : out_(out), form_(form), analysis_(analysis), time_(time) {}

  // Adds a row; rows are written in groups of kAtOnce.
  void add(const TaskRuns::Run& run) {
    runs_.push_back(run);
    if (runs_.size() == kAtOnce) flush();
  }
  // Writes the runs that are not written yet. Call it after the last one as well.
  void flush();

 private:
  static constexpr std::size_t kAtOnce = 1024;

  TextWriter& out_;
  const Form form_;
  const Analysis& analysis_;
  const TimeFormat& time_;
  std::vector<TaskRuns::Run> runs_;
  bool begun_ = false;  // the titles are written
};

}  // namespace fkt
