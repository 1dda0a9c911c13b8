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
  // program: path of fkt_extract; empty if it is not installed.
  ExtractCommand(std::string file, std::string program)
      : file_(std::move(file)), program_(std::move(program)) {}
  // Uses the fkt_extract in the directory of this executable.
  static ExtractCommand beside_this(std::string file);

  bool available() const { return !program_.empty(); }
  // Path of the file for a selection: next to the recording, named after the recording and the
  // times.
  std::string slice(std::int64_t from, std::int64_t to) const;
  // The command as typed into a shell. Times in ticks since the start of the recording.
  std::string command(std::int64_t from, std::int64_t to) const;
  // Runs the command and waits for it. The error is the last line that fkt_extract printed.
  Status run(std::int64_t from, std::int64_t to) const;

 private:
  std::vector<std::string> words(std::int64_t from, std::int64_t to) const;
  std::string file_, program_;
};

}  // namespace fkt::cli
