// SPDX-License-Identifier: GPL-2.0-only
// A file with the events of user programs alone, from the head to the tail, and the Collector that
// fills it. Such a file is a recording that all tools read, also when its recorder was killed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/fkt_record/output/output.h"
#include "cli/fkt_record/sections/file_sections.h"
#include "cli/fkt_record/user/collector.h"
#include "cli/fkt_record/user/page_file.h"
#include "cli/fkt_record/user/user_clock.h"

namespace fkt::record {

class CollectedFile {
 public:
  struct Plan {
    CollectorRules rules;
    OutputPlan output;
    fkt_clock_source clock = FKT_CLOCK_TSC;  // one that this process can read
    std::uint64_t limit = 0;                 // bytes of pages; 0: what there is room for
  };
  // Opens the output and listens for programs; writes nothing yet.
  static Result<std::unique_ptr<CollectedFile>> prepare(const Plan& plan);
  CollectedFile(const CollectedFile&) = delete;
  CollectedFile& operator=(const CollectedFile&) = delete;

  const Output& output() const { return output_; }
  // Returns the variable for the workload's environment: "FKT_USER=...".
  std::string variable() const;
  fkt_clocks clocks() const { return clock_.read(); }
  fkt_clock_source clock_source() const { return clock_.source(); }

  // workload: its pid; 0: none.
  Status write_head(const RecordingFacts& asked, const TaskList& tasks,
                    const std::optional<User>& user, pid_t workload);
  // Collects from start.clock on.
  Status start(const fkt_clocks& start);
  // Readable when nothing more can be written to the output.
  int ended_fd() const { return collector_->ended_fd(); }
  // Ends the collecting.
  void stop() { collector_->stop(); }

  // Returns, after stop(), the counts in the form of a recording's status. stop_clock: end of the
  // recording (ticks).
  fkt_status status(std::uint64_t stop_clock) const;
  // After stop(). Writes the tail. status: status(end.clock).
  struct End {
    const fkt_clocks& clocks;  // read after stop()
    const fkt_status& status;
    std::uint64_t mask = 0;
    std::optional<int> workload_status;
    std::vector<Descendant> descendants;
  };
  Status finish(End end);
  // Deletes the file.
  void discard();

  const Collected& collected() const { return collector_->collected(); }
  const std::string& definitions() const { return collector_->definitions().lines(); }
  const std::vector<fkt_index_entry>& index() const { return file_->index(); }
  const CollectorRules& rules() const { return rules_; }

 private:
  CollectedFile(const Plan& plan, Output output);
  Result<Sections> clocks_section() const;
  fkt_status status_before() const;
  Status write_clocks();

  const CollectorRules rules_;
  Output output_;
  const UserClock clock_;
  fkt_clocks start_{};
  std::unique_ptr<PageFile> file_;
  std::unique_ptr<Collector> collector_;
  std::string head_;
  std::size_t clocks_at_ = 0;  // offset in head_ of the clocks, which are measured until the end
};

}  // namespace fkt::record
