// SPDX-License-Identifier: GPL-2.0-only
// What fkt_kd was asked for.
#pragma once

#include <optional>
#include <string>

#include "cli/common.h"
#include "lib/find.h"
#include "lib/function_table.h"
#include "lib/select.h"
#include "lib/time_format.h"
#include "lib/trace.h"

namespace fkt::cli {

enum class KdOutput { table, histogram, tasks, critical_path, trace, folded, flamegraph, dot };
enum class KdFormat { text, json, csv };

struct KdRequest {
  std::string file = "trace_file";
  KdOutput output = KdOutput::table;
  KdFormat format = KdFormat::text;
  TimeUnit unit = TimeUnit::us;
  TableShape shape;
  std::uint32_t pid = 0;     // --critical-path
  std::string histogram;     // whose
  bool long_form = false;    // -l
  bool interleaved = false;  // -i
};

void add_kd_options(Options& options);
Result<KdRequest> kd_request(const Options& options);
// "-t TIME", in ticks: a bare number counts microseconds, as in KFT's tool.
Result<std::uint64_t> least_time(const Options& options, double ticks_per_second);

// Which part of the recording; without one (a KFT log) the options for it are refused.
Result<View> kd_view(const Options& options, const Trace* trace, const Reading& reading);

}  // namespace fkt::cli
