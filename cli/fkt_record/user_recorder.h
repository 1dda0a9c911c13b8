// SPDX-License-Identifier: GPL-2.0-only
// A recording of user programs alone, without the kernel module: of what a Collector takes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/fkt_record/recorder.h"
#include "cli/fkt_record/request/request.h"
#include "cli/fkt_record/user/collected_file.h"

namespace fkt::record {

class UserRecorder : public Recorder {
 public:
  // Opens the output; writes nothing yet. `request` must outlive the recording.
  static Result<std::unique_ptr<UserRecorder>> prepare(const Request& request,
                                                       const std::optional<User>& owner);

  const std::string& name() const override { return file_->output().name(); }
  bool has_room() const override { return true; }
  std::string variable() const override { return file_->variable(); }
  const Collected* collected() const override { return &file_->collected(); }
  int ended_fd() const override { return file_->ended_fd(); }
  std::string without_snapshots() const override { return "not with --user-only"; }
  Status write_head(const std::optional<User>& user, pid_t workload) override;
  Status start() override;
  Status stop() override;
  Result<EndSummary> finish(std::optional<int> workload_status, std::vector<Descendant> descendants,
                            int give_up) override;
  void discard() override { file_->discard(); }

 private:
  UserRecorder(const Request& request, std::unique_ptr<CollectedFile> file)
      : request_(request), file_(std::move(file)) {}

  const Request& request_;
  const std::unique_ptr<CollectedFile> file_;
  fkt_clocks start_{}, end_{};
};

}  // namespace fkt::record
