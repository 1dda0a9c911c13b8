// SPDX-License-Identifier: GPL-2.0-only
// The counts of a recording at its end, for the file's totals and the printed line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <fkt/ioctl.h>

#include "cli/fkt_record/output/part_file.h"
#include "cli/fkt_record/sink/lent_drain.h"
#include "cli/fkt_record/sink/page_sink.h"
#include "lib/base/result.h"
#include "lib/format/hit_results.h"

namespace fkt::record {

struct EndSummary {
  fkt_status status{};             // after the stop
  std::string why;                 // why it ended, if status.error does not say
  std::string kept;                // how much of it is on the disk, if not all
  std::optional<HitResults> hits;  // of the instruments; absent when there were none
  double drain_percent = 0;        // CPU time of the drain, in percent of the time of all CPUs
  // CPU time of the drain thread per page, in ticks of the recording's clock
  double drain_cycles_per_page = 0;

  // Adds what the drain of lent pages did, because the module does not know it. drain: has ended.
  void add_drain(const LentDrain& drain, const SinkCost& cost);
  // Subtracts the pages that went to snapshots: they are not in this file.
  void take_off(const PartCpus& snapshots);
  // Adds a failure of fdatasync(2): pages in the page cache did not reach the disk. error: errno.
  // safe: number of pages that did.
  void add_sync_error(int error, std::uint64_t safe);
  // Computes what the drain cost, from its CPU time. lasted: until the end of the stop, during
  // which the drain still writes. khz: of the recording's clock; 0: not known.
  void measure(std::chrono::duration<double> lasted, std::uint64_t khz);

  // The error for a file whose tail could not be written, with what the file holds. name: its name.
  Error without_tail(const Error& error, const std::string& name) const;
};

}  // namespace fkt::record
