// SPDX-License-Identifier: GPL-2.0-only
// The events of user programs in a recording of the kernel module. A Collector writes them into a
// file without a name; when the recording has ended, they are put among the kernel's events
// (lib/user/page_joiner.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fkt/file.h>

#include "cli/fkt_record/output/output.h"
#include "cli/fkt_record/sections/file_sections.h"
#include "cli/fkt_record/user/collector.h"
#include "cli/fkt_record/user/page_file.h"
#include "cli/fkt_record/user/user_clock.h"

namespace fkt::record {

class UserEvents {
 public:
  struct Plan {
    CollectorRules rules;
    fkt_clock_source clock = FKT_CLOCK_TSC;
    std::uint64_t limit = 0;  // bytes of pages; 0: none
  };
  // Begins to listen. file: the recording's name; the file without a name stands beside it.
  static Result<std::unique_ptr<UserEvents>> prepare(const Plan& plan, const std::string& file);
  UserEvents(const UserEvents&) = delete;
  UserEvents& operator=(const UserEvents&) = delete;

  // What the workload's environment needs: "FKT_USER=...".
  std::string variable() const;
  // Called when the kernel's events are recorded; start_clock: since when.
  Status start(std::uint64_t start_clock) { return collector_->start(start_clock); }
  // Called when the kernel's events have ended.
  void stop() { collector_->stop(); }

  // Puts the events into the output's pages. Called after stop(). index: of the kernel's pages;
  // becomes that of the pages which are there then. status, cpus: of the kernel's events; get what
  // is added. After an error the output has the pages that it had.
  Status join(Output& output, std::vector<fkt_index_entry>& index, fkt_status& status,
              CpuStates& cpus);
  // After stop():
  const Collected& collected() const { return collector_->collected(); }
  const std::string& definitions() const { return collector_->definitions().lines(); }
  // Events of threads that never ran as far as the kernel's events say; after join().
  std::uint64_t without_place() const { return without_place_; }

 private:
  UserEvents(const Plan& plan, Output spool);

  const Plan plan_;
  const Output spool_;
  const UserClock clock_;
  PageFile file_;
  std::unique_ptr<Collector> collector_;
  std::uint64_t without_place_ = 0;
};

}  // namespace fkt::record
