// SPDX-License-Identifier: GPL-2.0-only
// One snapshot of a flight recorder that goes on, by a thread of its own: what its pages hold now,
// and what happens within a given time, into a file that is complete by itself.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "cli/fkt_record/describe_part.h"
#include "cli/fkt_record/file_sink.h"
#include "cli/fkt_record/lent_drain.h"
#include "lib/device.h"

namespace fkt::record {

// What all snapshots of a recording have in common.
struct SnapshotRules {
  Device& device;
  fkt_clock_source clock = FKT_CLOCK_TSC;
  FileSinkRules sink;
  PartHeads heads;  // for one snapshot after the other
  double ticks_per_second = 1e9;
};

class Snapshot {
 public:
  struct Job {
    Output output;
    std::chrono::nanoseconds after{};
    unsigned number = 1;    // of the recording's snapshots
    PartCpus before{};      // what earlier ones took
    std::string because{};  // of what event; empty: somebody asked
  };
  // The rules outlive it.
  static Result<std::unique_ptr<Snapshot>> start(SnapshotRules& rules, Job job);
  // Waits until it is written.
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  // Readable when it is written, or has failed.
  int fd() const { return done_.get(); }
  // The time after ends now. Returns when nothing more is taken from the rings.
  void end_now();

  // Waits until it is written: one line that says what is in it, or why it is not.
  Result<std::string> join();
  // After join(): the pages that have left the rings, be they in the file or not.
  const PartCpus& taken() const { return taken_; }
  // Where it ends (ticks); 0: nothing was written.
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
  // Read after the thread has ended.
  Status status_ = Done{};
  std::string line_;
  PartCpus taken_;
  std::uint64_t end_clock_ = 0;
  std::thread thread_;
};

}  // namespace fkt::record
