// SPDX-License-Identifier: GPL-2.0-only
// The snapshots of a flight recorder: who may ask for one (fkt_snapshot, SIGUSR1, a condition), one
// at a time.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "cli/fkt_record/request.h"
#include "cli/fkt_record/snapshot.h"
#include "cli/fkt_record/user.h"

namespace fkt::record {

class Snapshots {
 public:
  // Others can ask from now on; if not, a line says why, and SIGUSR1 works all the same. `request`
  // outlives it; `owner` gets the files that SIGUSR1 asks for.
  Snapshots(const Request& request, std::optional<User> owner, SnapshotRules rules);
  ~Snapshots();

  // Readable: call asked().
  int ask_fd() const { return listen_.get(); }
  void asked();
  // SIGUSR1: into the file FILE.snap-1, then -2, ...
  void asked_by_signal();
  // The condition is of interest now: call condition_true() when the device says that it is.
  bool wants_condition() const { return !running_ && by_condition_ < request_.snapshots; }
  // --snapshot-when, into the same files.
  void condition_true();
  // Readable: call finished(). -1: none is being written.
  int done_fd() const { return running_ ? running_->fd() : -1; }
  void finished();
  // Something happened there: call asker_left(), who need not be waited for any more.
  int asker_fd() const { return asker_.get(); }
  void asker_left();

  // Before the recording's stop: nobody can ask any more, and a snapshot that is being written
  // takes no more pages.
  void end();
  // After end(): until that is written.
  void join();
  // What all of them took.
  const PartCpus& left() const { return left_; }

 private:
  Status start(Output output, std::chrono::nanoseconds after, std::string because = {});
  Status start_asked(int connection);
  Status start_own(const std::string& because);
  void prepare();

  const Request& request_;
  const std::optional<User> owner_;
  SnapshotRules rules_;
  UniqueFd listen_;
  UniqueFd asker_;  // who waits for the one that is being written; nobody: SIGUSR1
  unsigned number_ = 0, own_ = 0, by_condition_ = 0;
  std::uint64_t end_clock_ = 0;  // of the last one (ticks)
  PartCpus left_;
  std::thread preparing_;              // the next one's head, while none is being written
  std::unique_ptr<Snapshot> running_;  // the last: it uses the rules
};

}  // namespace fkt::record
