// SPDX-License-Identifier: GPL-2.0-only
// Extracts the selected part of a recording: makes the fkt_extract command, and runs it for the
// page's button.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/result.h"

namespace fkt::cli {

class ExtractCommand {
 public:
  // program: path of fkt_extract; empty if it is not installed. ticks_per_second: of the
  // recording's clock.
  ExtractCommand(std::string file, std::string program, double ticks_per_second)
      : file_(std::move(file)), program_(std::move(program)), ticks_per_second_(ticks_per_second) {}
  // Uses the fkt_extract in the directory of this executable.
  static ExtractCommand beside_this(std::string file, double ticks_per_second);

  bool available() const { return !program_.empty(); }
  // Path of the file for a selection: next to the recording, named after the recording and the
  // times.
  std::string slice(std::int64_t from, std::int64_t to) const;
  // The command as typed into a shell. from, to: ticks since the start of the recording; the
  // command has them in seconds, with up to a nanosecond more on either side.
  std::string command(std::int64_t from, std::int64_t to) const;
  // Runs the command and waits for it. The error is the last line that fkt_extract printed.
  Status run(std::int64_t from, std::int64_t to) const;

 private:
  std::vector<std::string> words(std::int64_t from, std::int64_t to) const;
  std::string file_, program_;
  double ticks_per_second_;
};

}  // namespace fkt::cli
