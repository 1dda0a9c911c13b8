// SPDX-License-Identifier: GPL-2.0-only
// One recording, from opening its source to the finished file. It does not start or control the
// workload; it only gets the facts about it that go into the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/fkt_record/status/end_summary.h"
#include "cli/fkt_record/user/collected_file.h"
#include "lib/base/result.h"

namespace fkt::record {

class Recorder {
 public:
  Recorder() = default;
  virtual ~Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // The output's name in messages.
  virtual const std::string& name() const = 0;
  // True if the output is limited by the space on a disk or device.
  virtual bool has_room() const = 0;
  // Returns the variable for the workload's environment, "FKT_USER=..."; empty: there is none.
  virtual std::string variable() const = 0;
  // What user programs told, after stop(); null if it is not recorded.
  virtual const Collected* collected() const = 0;
  // Readable when the output takes no more; -1: never.
  virtual int ended_fd() const = 0;
  // Returns why no snapshot can be taken now.
  virtual std::string without_snapshots() const = 0;

  // Writes the sections before the pages, except the clocks of the start, which start() writes.
  virtual Status write_head(const std::optional<User>& user, pid_t workload) = 0;
  // Starts the recording and the threads that write it. After an error the caller has to call
  // discard().
  virtual Status start() = 0;
  // Stops the recording; later events are not in it. Calling it again has no effect.
  virtual Status stop() = 0;
  // Called after stop(). Writes what is left, and the tail. give_up: readable when the user no
  // longer wants to wait.
  virtual Result<EndSummary> finish(std::optional<int> workload_status,
                                    std::vector<Descendant> descendants, int give_up) = 0;
  // Removes what was written to the output: there is no recording.
  virtual void discard() = 0;
  // Frees what the recording held; the last call.
  virtual void release() {}
};

}  // namespace fkt::record
