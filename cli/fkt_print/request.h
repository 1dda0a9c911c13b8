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
  bool dump = true, statistics = true, counts = false, json = false, without_user = false;
  std::optional<std::string> where;   // an expression
  std::optional<std::string> around;  // an event
  std::optional<SlowestRequest> slowest;
  std::optional<std::string> window;  // around each of these
  std::string time_table;             // file for the pages' times; empty: none
  bool time_table_only = false;
};

void add_print_options(Options& options);
// What does not need the file.
Result<PrintRequest> print_request(const Options& options);
// What is said in terms of the file: times, CPUs, layers.
Status complete_view(const Options& options, const Trace& trace, View& view);

}  // namespace fkt::cli
