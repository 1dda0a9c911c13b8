// SPDX-License-Identifier: GPL-2.0-only
// The events of user programs in a recording of the kernel module. They are collected in a file
// beside the recording's; when the recording has ended, they are put among the kernel's events
// (lib/user/page_joiner.h), and the file is removed. It stays if the recorder is killed before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fkt/file.h>

#include "cli/fkt_record/output/output.h"
#include "cli/fkt_record/sections/file_sections.h"
#include "cli/fkt_record/user/collected_file.h"

namespace fkt::record {

class UserEvents {
 public:
  // plan.output: the recording's.
  static Result<std::unique_ptr<UserEvents>> prepare(CollectedFile::Plan plan);
  UserEvents(const UserEvents&) = delete;
  UserEvents& operator=(const UserEvents&) = delete;

  // Returns the variable for the workload's environment: "FKT_USER=...".
  std::string variable() const { return file_->variable(); }
  // Same as CollectedFile::write_head().
  Status write_head(const RecordingFacts& asked, const TaskList& tasks,
                    const std::optional<User>& user, pid_t workload);
  // Called when the recording of the kernel's events has begun. start_clock: when (ticks).
  Status start(std::uint64_t start_clock);
  // Called when the kernel's events have ended.
  void stop() { file_->stop(); }
  // Puts the events into the output's pages. Called after stop(). index: in: of the kernel's pages;
  // out: of the joined pages. status, cpus: counts of the kernel's events, to which the events are
  // added. After an error the output's pages are unchanged, and the events stay in a file of their
  // own, which the error names.
  Status join(Output& output, std::vector<fkt_index_entry>& index, fkt_status& status,
              CpuStates& cpus);
  // After stop():
  const Collected& collected() const { return file_->collected(); }
  const std::string& definitions() const { return file_->definitions(); }
  // Removes the file; called if nothing was recorded.
  void discard() { file_->discard(); }
  // Returns, after join(), the number of events of threads that the kernel's events never show
  // running.
  std::uint64_t without_place() const { return without_place_; }

 private:
  explicit UserEvents(std::unique_ptr<CollectedFile> file) : file_(std::move(file)) {}
  Status join_pages(Output& output, std::vector<fkt_index_entry>& index, fkt_status& status,
                    CpuStates& cpus);
  Status keep(const Error& reason, std::uint64_t stop_clock);

  const std::unique_ptr<CollectedFile> file_;
  std::uint64_t without_place_ = 0;
};

}  // namespace fkt::record
