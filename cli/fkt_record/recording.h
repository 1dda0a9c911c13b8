// SPDX-License-Identifier: GPL-2.0-only
// One recording from the open device to the finished file. It knows of the workload no more than
// what the file is to tell about it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/fkt_record/describe.h"
#include "cli/fkt_record/engine.h"
#include "cli/fkt_record/file_sink.h"
#include "cli/fkt_record/lent_drain.h"
#include "cli/fkt_record/output.h"
#include "cli/fkt_record/remote_sink.h"
#include "cli/fkt_record/request.h"
#include "cli/fkt_record/rotation.h"
#include "cli/fkt_record/snapshots.h"
#include "cli/fkt_record/stream.h"
#include "lib/device.h"
#include "lib/syncer.h"
#include "lib/when.h"

namespace fkt::record {

// What the end line tells.
struct Summary {
  fkt_status status{};               // after the stop
  std::string why;                   // it ended, where status.error does not say it
  std::string kept;                  // what there is of it, if not all up to its end
  double drain_percent = 0;          // of the CPU time that all CPUs together had until then
  double drain_cycles_per_page = 0;  // of the recording's clock, by the drain's thread
};

class Recording {
 public:
  // Opens device and output; nothing is written yet. give_up: readable when whoever waits for
  // another machine has had enough.
  static Result<Recording> prepare(const Request& request, const std::optional<User>& owner,
                                   int give_up);

  const Device& device() const { return device_; }
  const Output& output() const { return output_; }
  // What messages call the output.
  const std::string& name() const { return rotation_ ? request_->file : output_.name(); }
  bool limit_is_room() const { return !request_->size && has_room(); }
  Stream* stream() { return stream_ ? &*stream_ : nullptr; }
  // Of a flight recorder that can be asked for some, while it records.
  Snapshots* snapshots() { return running_ ? snapshots_.get() : nullptr; }
  // Why there are none.
  std::string without_snapshots() const;
  // Readable when the output takes no more lent pages; -1: nothing is lent.
  int drain_fd() const { return drain_ ? drain_->fd() : -1; }
  // Readable when the disk does not keep what is written.
  int sync_fd() const { return syncer_ ? syncer_->fd() : -1; }

  // What stands before the pages, but for the clocks of the start, which start() writes.
  Status write_head(const std::optional<User>& user, pid_t workload);
  Status start();
  // Ends the recording, and no more: nothing that happens from now on is in it. Repeated: no-op.
  Status stop();
  // After stop(): the rest of the stream, unless `give_up` becomes readable, then the tail.
  Result<Summary> finish(std::optional<int> workload_status, std::vector<Descendant> descendants,
                         int give_up);
  // There is no recording: what was written of it goes.
  void discard();
  // Gives the module's pages back; the last call.
  void release();

 private:
  Recording(const Request& request, Device device, Output output)
      : request_(&request), device_(std::move(device)), output_(std::move(output)) {}
  // Does the output end where a disk is full?
  bool has_room() const { return !output_.is_stream() && !output_.is_remote(); }
  // Where lent pages go; nothing: no page is lent.
  PageSink* sink() const;
  Status make_condition();
  void open_heir(const Way& way);
  Result<fkt_start> start_arguments(const Way& way) const;
  // The recording has begun: its start becomes the file's time zero.
  Status write_start_clocks();
  // Lent pages: where they go.
  Status make_sink();
  Status start_drain();
  bool is_flight() const { return request_->when_full == Request::WhenFull::overwrite; }
  void make_rotation(const PartRules& rules);
  std::string how(const Way& way) const;
  // What the drain of lent pages did, which the module does not know.
  void add_drain(Summary& summary) const;
  // The disk failed behind what was written to the page cache.
  void add_sync_error(Summary& summary) const;
  // Says what is there though the tail is not.
  Error without_tail(const Error& error, const Summary& summary) const;
  // What went into snapshots is not in this file.
  void take_off_snapshots(fkt_status& status) const;
  Status start_syncer();
  Result<std::uint64_t> limit_bytes() const;
  // What all CPUs' rings hold.
  std::uint64_t ring_bytes() const;
  Status send_rest(int give_up);
  Status write_tail(const fkt_status& status, std::optional<int> workload_status,
                    std::vector<Descendant> descendants);
  std::vector<fkt_index_entry> kept_index(std::uint64_t pages) const;
  // fault: why there is none, if it should be said.
  std::vector<fkt_index_entry> index(const fkt_status& status, std::string& fault) const;
  void measure(Summary& summary) const;

  const Request* request_;
  Device device_;
  Output output_;
  std::optional<User> owner_;
  std::optional<fkt_engine_id> engine_;  // nothing: the best that the output can do
  std::optional<Stream> stream_;
  // In this order: each uses those before it.
  UniqueFd heir_;  // of a flight recorder's pages
  std::shared_ptr<PartHeads> part_heads_;
  std::unique_ptr<Rotation> rotation_;
  std::unique_ptr<FileSink> sink_;
  std::unique_ptr<RemoteSink> remote_;
  std::unique_ptr<LentDrain> drain_;
  std::unique_ptr<SnapshotRules> snapshot_rules_;  // until the start
  std::unique_ptr<Snapshots> snapshots_;
  std::unique_ptr<fkt_when> when_;   // what the start passes to the module
  std::unique_ptr<Syncer> syncer_;   // while recording to a file or device
  int sync_error_ = 0;               // errno: what was written may not be on the disk
  std::string head_;                 // what stands before the pages
  std::size_t start_clocks_at_ = 0;  // ... in it, the clocks of the start
  std::uint64_t recording_ = 0;      // random id
  std::uint32_t page_bytes_ = 0;
  std::uint32_t cpus_ = 0;
  std::chrono::steady_clock::time_point started_{}, stopped_{};
  std::uint64_t mask_ = 0;  // the last one before the stop
  bool running_ = false;
};

}  // namespace fkt::record
