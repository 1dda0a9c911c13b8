// SPDX-License-Identifier: GPL-2.0-only
// Writes one snapshot of a running flight recorder, in a thread of its own: the events its pages
// hold now and those recorded within a given time after the request, as a complete file.
//
// When that time has passed, all complete pages are taken at once, whether the sink has room for
// them or not, so that a flood of events cannot delay the snapshot's end. Pages that were taken
// are no longer in the rings: later files count their events as overwritten (Snapshot::taken()), so
// for each CPU the events recorded are those in the file plus those overwritten.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "cli/fkt_record/sections/part_sections.h"
#include "cli/fkt_record/sink/file_sink.h"
#include "cli/fkt_record/sink/lent_drain.h"
#include "lib/record/device.h"

namespace fkt::record {

// Parameters that all snapshots of a recording share.
struct SnapshotRules {
  Device& device;
  fkt_clock_source clock = FKT_CLOCK_TSC;
  FileSinkRules sink;
  PartHeads heads;  // used by one snapshot at a time
  double ticks_per_second = 1e9;
};

class Snapshot {
 public:
  struct Job {
    Output output;
    std::chrono::nanoseconds after{};
    unsigned number = 1;    // of the recording's snapshots, from 1
    PartCpus before{};      // per CPU, taken by earlier snapshots
    std::string because{};  // the event that triggered it; empty: requested by a user
  };
  // Starts the thread. The rules must outlive the snapshot.
  static Result<std::unique_ptr<Snapshot>> start(SnapshotRules& rules, Job job);
  // Waits until the snapshot is written.
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // Readable when the snapshot is written or has failed.
  int fd() const { return done_.get(); }
  // Does not wait for the rest of Job::after. Returns when no more pages are taken from the rings.
  void end_now();

  // Waits until the snapshot is written. Returns a line that says what it holds, or the error.
  Result<std::string> join();
  // Valid after join(). Per CPU, the pages that have left the rings, whether they are in the file
  // or not.
  const PartCpus& taken() const { return taken_; }
  // End of the snapshot in ticks; 0 if nothing was written.
  std::uint64_t end_clock() const { return end_clock_; }
  const Output& output() const { return job_.output; }

 private:
  Snapshot(SnapshotRules& rules, Job job, UniqueFd wake, UniqueFd no_more, UniqueFd done);
  void run();
  Status write();
  Status write_pages(FileSink& sink);
  Result<std::unique_ptr<FileSink>> make_sink();
  Status write_tail(FileSink& sink, const fkt_clocks& end);
  Result<PartCpus> gone() const;
  std::string told(const PartFile& part, const fkt_clocks& end) const;

  SnapshotRules& rules_;
  Job job_;
  UniqueFd wake_, no_more_, done_;
  std::chrono::steady_clock::time_point until_;
  // Written by the snapshot's thread, read after it has ended.
  Status status_ = Done{};
  std::string line_;
  PartCpus taken_;
  std::uint64_t end_clock_ = 0;
  std::thread thread_;
};

}  // namespace fkt::record
