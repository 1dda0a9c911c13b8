// SPDX-License-Identifier: GPL-2.0-only
// Cutting the selection out: the command that does it, and fkt_extract run for the page's button.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/result.h"

namespace fkt::cli {

class Extractor {
 public:
  // program: of fkt_extract; empty where it is not installed.
  Extractor(std::string file, std::string program)
      : file_(std::move(file)), program_(std::move(program)) {}
  // The program beside this one.
  static Extractor beside_this(std::string file);

  bool available() const { return !program_.empty(); }
  // The file that a selection is written to: beside the recording, named after it and the times.
  std::string slice(std::int64_t from, std::int64_t to) const;
  // As a shell takes it (ticks since the recording's start).
  std::string command(std::int64_t from, std::int64_t to) const;
  // Runs it and waits; the Error is the program's own last line.
  Status run(std::int64_t from, std::int64_t to) const;

 private:
  std::vector<std::string> words(std::int64_t from, std::int64_t to) const;
  std::string file_, program_;
};

}  // namespace fkt::cli
