// SPDX-License-Identifier: GPL-2.0-only
// The arguments of FKT_START, with the memory and descriptors that they refer to.
#pragma once

#include <cstdint>
#include <memory>

#include <fkt/ioctl.h>

#include "cli/fkt_record/instruments/instrument_setup.h"
#include "cli/fkt_record/output/output.h"
#include "cli/fkt_record/start/drain_plan.h"
#include "lib/base/unique_fd.h"
#include "lib/instrument/trigger_compiler.h"
#include "lib/query/expression.h"

namespace fkt::record {

struct StartPlan {
  std::uint64_t recording = 0;  // random id
  std::uint64_t mask = 0;
  std::uint32_t flags = 0;  // FKT_START_..., without those of the engine
  fkt_clock_source clock = FKT_CLOCK_TSC;
  fkt_filter filter = FKT_FILTER_NONE;
  pid_t filter_pid = 0;
};

class StartArguments {
 public:
  explicit StartArguments(const StartPlan& plan);

  // When the module asks for a snapshot. Error (usage): it cannot be compiled.
  Status set_trigger(const Expression& when, double ticks_per_second);
  // Sets the instruments. setup: must live until FKT_START has returned.
  void set_instruments(const InstrumentSetup& setup);
  // The engine, which writes at most `limit` bytes of pages behind the head of `output`; 0: until a
  // write fails. cpus: of the machine.
  void set_drain(const DrainPlan& plan, const Output& output, std::uint64_t limit,
                 std::uint32_t cpus);
  // Lends the pages. Those of a flight recorder are written to `fallback` by the module if this
  // process is killed; nullptr: they are not.
  void lend(const Output* fallback);

  const fkt_start& get() const { return start_; }

 private:
  fkt_start start_{};
  std::unique_ptr<Trigger> trigger_;
  UniqueFd fallback_;
};

}  // namespace fkt::record
