// SPDX-License-Identifier: GPL-2.0-only
// The command line of fkt_kd.
#pragma once

#include <optional>
#include <string>

#include "cli/base/options.h"
#include "lib/analyse/search_passes.h"
#include "lib/analyse/selection.h"
#include "lib/base/time_format.h"
#include "lib/read/recording.h"
#include "lib/report/function_report.h"

namespace fkt::cli {

enum class KdOutput {
  table,
  histogram,
  user_functions,
  tasks,
  critical_path,
  trace,
  folded,
  flamegraph,
  dot,
  kft_log
};
enum class KdFormat { text, json, csv };

struct KdRequest {
  std::string file = "trace_file";
  KdOutput output = KdOutput::table;
  KdFormat format = KdFormat::text;
  TimeUnit unit = TimeUnit::us;
  TableShape shape;
  std::string process;       // of --critical-path: number or name
  bool steps = false;        // --steps: those of the path as well
  std::string histogram;     // name of the function for --histogram, or pattern
  bool off_cpu = false;      // --offcpu: the table, or what the pictures show
  bool long_form = false;    // -l
  bool interleaved = false;  // -i
};

void add_kd_options(Options& options);
Result<KdRequest> kd_request(const Options& options);
// The value of -t in ticks. A number without unit counts microseconds, as in KFT's tool.
Result<std::uint64_t> least_time(const Options& options, double ticks_per_second);

// Error (usage): an option that has no meaning for a KFT log.
Status check_for_log(const Options& options, const KdRequest& request);
// Evaluates the options that select a part of the recording. recording: null for a KFT log.
Result<Selection> kd_selection(const Options& options, const Recording* recording,
                               const Reading& reading);

}  // namespace fkt::cli
