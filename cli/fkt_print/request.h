// SPDX-License-Identifier: GPL-2.0-only
// What fkt_print was asked for.
#pragma once

#include <optional>
#include <string>

#include "cli/common.h"
#include "lib/select.h"
#include "lib/time_format.h"
#include "lib/trace.h"

namespace fkt::cli {

struct SlowestRequest {
  std::size_t most = 0;
  std::string name;
};

struct PrintRequest {
  std::string file = "trace_file";
  View view;
  TimeUnit unit = TimeUnit::cycles;
  bool dump = true, statistics = true, counts = false, json = false, csv = false,
       without_user = false;
  std::optional<SlowestRequest> slowest;
  std::string time_table;    // file for the pages' times; empty: none
  std::string buffer_table;  // file for the buffers' states; empty: none
  bool tables_only = false;
};

void add_print_options(Options& options);
// What does not need the file.
Result<PrintRequest> print_request(const Options& options);
}  // namespace fkt::cli
