// SPDX-License-Identifier: GPL-2.0-only
// A recording of user programs alone, without the kernel module: its file, from the head to the
// tail. What recording.h does with the module, this does with a Collector.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/fkt_record/output/output.h"
#include "cli/fkt_record/request.h"
#include "cli/fkt_record/sections/file_sections.h"
#include "cli/fkt_record/summary.h"
#include "cli/fkt_record/user/collector.h"
#include "cli/fkt_record/user/page_file.h"
#include "cli/fkt_record/user/user_clock.h"

namespace fkt::record {

class UserRecording {
 public:
  // Opens the output; writes nothing yet. `request` must outlive the recording.
  static Result<std::unique_ptr<UserRecording>> prepare(const Request& request,
                                                        const std::optional<User>& owner);
  UserRecording(const UserRecording&) = delete;
  UserRecording& operator=(const UserRecording&) = delete;

  const std::string& name() const { return output_.name(); }
  // What the workload's environment needs: "FKT_USER=...".
  std::string variable() const;
  // workload: its pid.
  Status write_head(const std::optional<User>& user, pid_t workload);
  Status start();
  // Readable when the output takes no more.
  int ended_fd() const { return collector_->ended_fd(); }
  // Ends the recording and writes the tail.
  Result<Summary> finish(std::optional<int> workload_status, std::vector<Descendant> descendants);
  const Collected& collected() const { return collector_->collected(); }
  void discard();

 private:
  UserRecording(const Request& request, std::uint64_t id, Output output);
  Result<Sections> clocks_section() const;
  fkt_status status_before() const;
  fkt_status status_after(std::uint64_t stop_clock) const;

  const Request& request_;
  std::uint64_t id_;
  Output output_;
  UserClock clock_;
  fkt_clocks start_{};
  std::unique_ptr<PageFile> file_;
  std::unique_ptr<Collector> collector_;
  std::string head_;
  std::size_t clocks_at_ = 0;  // offset in head_ of the clocks, which are measured until the end
};

}  // namespace fkt::record
