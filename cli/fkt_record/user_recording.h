// SPDX-License-Identifier: GPL-2.0-only
// A recording of user programs alone, without the kernel module. What recording.h does with the
// module, this does with a Collector.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/fkt_record/request/request.h"
#include "cli/fkt_record/status/end_summary.h"
#include "cli/fkt_record/user/collected_file.h"

namespace fkt::record {

class UserRecording {
 public:
  // Opens the output; writes nothing yet. `request` must outlive the recording.
  static Result<std::unique_ptr<UserRecording>> prepare(const Request& request,
                                                        const std::optional<User>& owner);
  UserRecording(const UserRecording&) = delete;
  UserRecording& operator=(const UserRecording&) = delete;

  const std::string& name() const { return file_->output().name(); }
  // Returns the variable for the workload's environment: "FKT_USER=...".
  std::string variable() const { return file_->variable(); }
  // workload: its pid.
  Status write_head(const std::optional<User>& user, pid_t workload);
  Status start();
  // Readable when the output takes no more.
  int ended_fd() const { return file_->ended_fd(); }
  // Ends the recording and writes the tail.
  Result<EndSummary> finish(std::optional<int> workload_status,
                            std::vector<Descendant> descendants);
  const Collected& collected() const { return file_->collected(); }
  void discard() { file_->discard(); }

 private:
  UserRecording(const Request& request, std::unique_ptr<CollectedFile> file)
      : request_(request), file_(std::move(file)) {}

  const Request& request_;
  const std::unique_ptr<CollectedFile> file_;
  fkt_clocks start_{};
};

}  // namespace fkt::record
