// SPDX-License-Identifier: GPL-2.0-only
// The report's first screen: what was recorded, where the time of the command went, its slowest
// calls, what was lost, and which command shows more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/analyse/command_use.h"
#include "lib/base/text_writer.h"
#include "lib/base/time_format.h"
#include "lib/report/summary.h"

namespace fkt {

struct Answer {
  struct Row {
    std::uint64_t ticks = 0;
    std::string what;  // "asleep in sys_read, woken by irq 27 virtio0"
  };
  struct Call {
    std::uint64_t ticks = 0, at = 0;  // at: its begin since the recording's start
    std::string call, task;
    std::uint32_t pid = 0;
  };
  std::string command;  // as a shell takes it; empty: none
  std::uint32_t pid = 0;
  std::uint64_t duration = 0;  // of what was read (ticks)
  std::uint64_t events = 0, lost = 0, cpus = 0, tasks = 0;
  bool user_only = false;  // made without the kernel module: its CPUs are the rings of programs
  bool whole = false;      // nothing is missing in the file
  // The times of the command's tasks, or without a command that of all processes on the CPUs; most
  // time first. `all` is what they add up to.
  std::uint64_t all = 0;
  std::vector<Row> rows;
  // The time of the command's tasks by kind ("disk"); empty: switches were not recorded.
  std::vector<Row> kinds;
  std::vector<Call> slowest;  // longest first
};

// most: number of rows of where the time went; those with the least time are combined into one.
Answer make_answer(const CommandUse& use, const Analysis& analysis, const Summary& summary,
                   std::size_t most);

// file: its name in the commands that show more. width: of the terminal, to which lines are cut; 0:
// none. bold: headings are printed bold, by escape sequences.
struct AnswerShape {
  std::string file;
  std::size_t width = 0;
  bool bold = false;
};
void write_answer(TextWriter& out, const Answer& answer, const AnswerShape& shape,
                  const TimeFormat& time);
// Writes one object: unit, command, pid, duration, events, lost, tasks, time, kinds and
// where (arrays of time, percent, what), slowest (array of time, call, task, pid, at).
void write_answer_json(TextWriter& out, const Answer& answer, const TimeFormat& time);
// Writes the tables "kinds", "where" and "slowest", as write_path_csv() does.
void write_answer_csv(TextWriter& out, const Answer& answer, const TimeFormat& time);

}  // namespace fkt
