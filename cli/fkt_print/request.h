// SPDX-License-Identifier: GPL-2.0-only
// The command line of fkt_print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/base/options.h"
#include "lib/analyse/selection.h"
#include "lib/base/time_format.h"
#include "lib/read/recording.h"

namespace fkt::cli {

struct SlowestRequest {
  std::size_t most = 0;
  std::string name;
};

// A table that is printed instead of the events and the statistics.
enum class View : std::uint8_t {
  none,
  files,
  disks,
  sockets,
  locks,
  calls,
  sched,
  stacks,
  summary
};

struct PrintRequest {
  std::string file = "trace_file";
  Selection selection;
  TimeUnit unit = TimeUnit::cycles;
  bool dump = true, statistics = true, counts = false, json = false, csv = false,
       without_user = false;
  bool codes = false;  // --codes: of the events, in the dump
  std::optional<SlowestRequest> slowest;
  std::optional<SlowestRequest> why;  // --why, -n
  std::string process;                // -p with a name, whose number is to be found; empty: none
  View view = View::none;
  std::optional<std::size_t> top;  // rows of a table; nothing: as many as there are
  std::string time_table;          // output file for the table of pages; empty: none
  std::string buffer_table;        // output file for the table of buffer states; empty: none
  bool tables_only = false;
};

void add_print_options(Options& options);
// The value of --top, which must be given.
Result<std::size_t> read_top(const Options& options);
// Reads the options that do not need the recording.
Result<PrintRequest> print_request(const Options& options);
}  // namespace fkt::cli
