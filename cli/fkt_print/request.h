// SPDX-License-Identifier: GPL-2.0-only
// The command line of fkt_print.
#pragma once

#include <optional>
#include <string>

#include "cli/base/options.h"
#include "lib/analyse/io_use.h"
#include "lib/analyse/selection.h"
#include "lib/base/time_format.h"
#include "lib/read/trace.h"

namespace fkt::cli {

struct SlowestRequest {
  std::size_t most = 0;
  std::string name;
};

struct PrintRequest {
  std::string file = "trace_file";
  Selection selection;
  TimeUnit unit = TimeUnit::cycles;
  bool dump = true, statistics = true, counts = false, json = false, csv = false,
       without_user = false;
  std::optional<SlowestRequest> slowest;
  std::optional<IoUse::Table> io;  // print this table only
  std::string time_table;          // output file for the table of pages; empty: none
  std::string buffer_table;        // output file for the table of buffer states; empty: none
  bool tables_only = false;
};

void add_print_options(Options& options);
// Reads the options that do not need the recording.
Result<PrintRequest> print_request(const Options& options);
}  // namespace fkt::cli
