// SPDX-License-Identifier: GPL-2.0-only
// What each task was doing (lib/analyse/task_activity.h) as text, JSON and CSV.
#pragma once

#include <vector>

#include "lib/analyse/task_activity.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"

namespace fkt {

// Writes a table as text; times in the unit of `time`. long_form: with the calls in which each task
// slept, and what woke it.
void write_tasks(TextWriter& out, const std::vector<TaskRow>& rows, bool long_form,
                 const TimeFormat& time);
// Writes {"unit": ..., "tasks": [...]}.
void write_tasks_json(TextWriter& out, const std::vector<TaskRow>& rows, const TimeFormat& time);
// Writes a line of keys, and a line for each row.
void write_tasks_csv(TextWriter& out, const std::vector<TaskRow>& rows, const TimeFormat& time);

}  // namespace fkt
