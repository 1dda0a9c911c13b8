// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/status/end_summary.h"

#include <unistd.h>

#include "cli/base/units.h"
#include "lib/base/os_error.h"

namespace fkt::record {

void EndSummary::add_drain(const LentDrain& drain, const SinkCost& cost) {
  status.bytes_written = cost.bytes;
  status.bytes_copied += cost.copied;
  status.drain_ns += drain.cpu_ns() + cost.cpu_ns;
  status.wakeups += static_cast<std::uint32_t>(drain.wakeups());
  const SinkStatus& end = drain.sink_end();
  if (!end || status.stop_reason != FKT_STOP_ASKED) return;
  status.stop_reason = end->reason;
  status.error = end->error;
  why = end->message;
}

void EndSummary::take_off(const PartCpus& snapshots) {
  for (const auto& [number, cpu] : snapshots) {
    status.overwritten += cpu.events;
    status.pages_written -= cpu.pages;
  }
}

void EndSummary::add_sync_error(int error, std::uint64_t safe) {
  kept = "the disk has its first " + cli::with_commas(safe) + " pages for certain";
  if (status.stop_reason != FKT_STOP_ASKED) return;
  status.stop_reason = FKT_STOP_ERROR;
  status.error = error;
  why = "fdatasync: " + os_error(error);
}

void EndSummary::measure(std::chrono::duration<double> lasted, std::uint64_t khz) {
  const double cpu_seconds = lasted.count() * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (cpu_seconds > 0) {
    drain_percent = 100 * static_cast<double>(status.drain_ns) / 1e9 / cpu_seconds;
  }
  if (khz > 0 && status.pages_written > 0) {
    // ns * khz / 10^6
    drain_cycles_per_page = static_cast<double>(status.drain_ns) * static_cast<double>(khz) / 1e6 /
                            static_cast<double>(status.pages_written);
  }
}

Error EndSummary::without_tail(const Error& error, const std::string& name) const {
  if (error.code == ErrorCode::damaged) return error;
  std::string reason = why;
  if (reason.empty() && status.error != 0) reason = os_error(static_cast<int>(status.error));
  std::string text = error.message;
  if (!reason.empty() && !text.ends_with(reason)) text = name + ": " + reason + "; " + text;
  return {error.code, text + ": the file has no totals, and can be read up to its last whole page"};
}

}  // namespace fkt::record
