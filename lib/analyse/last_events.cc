// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/last_events.h"

namespace fkt {

void LastEvents::restore(const Checkpoint& checkpoint) {
  for (Cpu& cpu : cpus_) cpu.clock = 0;
  for (const Checkpoint::Cpu& cpu : checkpoint.cpus) at(cpu.cpu).clock = cpu.clock;
}

UnknownEnds LastEvents::unknown_ends(const RecordingInfo& info, std::uint64_t end,
                                     bool all_read) const {
  UnknownEnds unknown;
  if (!info.totals) {  // the recorder did not come to its end
    for (std::uint32_t cpu = 0; all_read && cpu < cpus_.size(); cpu++) {
      if (cpus_[cpu].clock != 0) unknown.add(cpu, cpus_[cpu].clock);
    }
    return unknown;
  }
  for (const CpuTotals& cpu : info.totals->per_cpu) {
    if (cpu.gap_lost != 0 && (all_read || cpu.gap_from < end)) {
      unknown.add(cpu.cpu, cpu.gap_from);
    } else if (all_read && count(cpu.cpu) != cpu.events_to_find()) {
      unknown.add(cpu.cpu, clock(cpu.cpu));
    }
  }
  return unknown;
}

}  // namespace fkt
