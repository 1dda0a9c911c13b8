// SPDX-License-Identifier: GPL-2.0-only
// Extracts the selected part of a recording: makes the fkt_extract command, and runs it for the
// page's button.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/result.h"

namespace fkt::cli {

// What is extracted.
struct ExtractPart {
  std::int64_t from = 0, to = 0;  // ticks since the start of the recording
  std::string task{};             // narrowed to this task, by name or number; empty: to none
};

class ExtractCommand {
 public:
  // program: path of fkt_extract; empty if it is not installed. ticks_per_second: of the
  // recording's clock.
  ExtractCommand(std::string file, std::string program, double ticks_per_second)
      : file_(std::move(file)), program_(std::move(program)), ticks_per_second_(ticks_per_second) {}
  // Uses the fkt_extract in the directory of this executable.
  static ExtractCommand beside_this(std::string file, double ticks_per_second);

  bool available() const { return !program_.empty(); }
  // Path of the file for a part: next to the recording, named after the recording, the task and the
  // times.
  std::string slice(const ExtractPart& part) const;
  // The command as typed into a shell. It has the times in the unit that suits each, with up to a
  // nanosecond more on either side.
  std::string command(const ExtractPart& part) const;
  // Runs the command and waits for it. The error is the last line that fkt_extract printed.
  Status run(const ExtractPart& part) const;

 private:
  std::vector<std::string> words(const ExtractPart& part) const;
  std::string file_, program_;
  double ticks_per_second_;
};

}  // namespace fkt::cli
