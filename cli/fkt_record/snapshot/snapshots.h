// SPDX-License-Identifier: GPL-2.0-only
// Takes the requests for snapshots of a flight recorder (fkt_snapshot, SIGUSR1, a condition) and
// writes one snapshot at a time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/fkt_record/snapshot/snapshot.h"
#include "lib/base/background_task.h"
#include "lib/record/recorder_protocol.h"

namespace fkt::record {

struct SnapshotsPlan {
  OutputPlan output;  // snapshots that fkt_snapshot did not ask for: FILE.snap-N
  // The text of the instrument with this index, whose action is a snapshot.
  std::function<std::string(std::uint32_t)> text_of;
  unsigned most_by_condition = 0;     // most snapshots by --snapshot-when and instruments
  std::chrono::nanoseconds after{0};  // time after the trigger that is recorded too
  bool quiet = false;                 // says nothing of snapshots that succeed
};

class Snapshots {
 public:
  Snapshots(SnapshotsPlan plan, SnapshotRules rules);
  ~Snapshots();

  // For fkt_snapshot. file: came with the request. connection: gets the answer.
  void asked(const SnapshotAsk& ask, UniqueFd file, UniqueFd connection);
  // For SIGUSR1: writes a snapshot to FILE.snap-1, then FILE.snap-2 and so on.
  void asked_by_signal();
  // True while the condition should be checked: the caller has to call condition_true() when the
  // device reports an event.
  bool wants_condition() const { return !running_ && by_condition_ < plan_.most_by_condition; }
  // For --snapshot-when and instruments: writes a snapshot to the next FILE.snap-N.
  void condition_true();
  // When readable, the caller has to call finished(). -1 if no snapshot is being written.
  int done_fd() const { return running_ ? running_->fd() : -1; }
  void finished();
  // When readable, fkt_snapshot has closed its connection: the caller has to call asker_left().
  int asker_fd() const { return asker_.get(); }
  void asker_left();

  // Called before the recording's stop: refuses further requests, and the current snapshot takes no
  // more pages.
  void end();
  // Called after end(): waits until the current snapshot is written.
  void join();
  // Per CPU, what all snapshots took.
  const PartCpus& left() const { return left_; }

 private:
  Status start(Output output, std::chrono::nanoseconds after, std::string because = {});
  Status start_asked(const SnapshotAsk& ask, UniqueFd file);
  Status start_own(const std::string& because);
  void prepare();

  const SnapshotsPlan plan_;
  SnapshotRules rules_;
  bool is_over_ = false;
  UniqueFd asker_;  // connection of the fkt_snapshot that waits; none for other triggers
  unsigned number_ = 0, own_ = 0, by_condition_ = 0;
  std::uint64_t end_clock_ = 0;  // end of the last snapshot in ticks
  PartCpus left_;
  BackgroundTask preparing_;           // makes the next head while no snapshot is being written
  std::unique_ptr<Snapshot> running_;  // declared last because it uses rules_
};

}  // namespace fkt::record
