// SPDX-License-Identifier: GPL-2.0-only
// One recording, from opening the device to the finished file. It does not start or control the
// workload; it only gets the facts about it that go into the file.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/fkt_record/drain_plan.h"
#include "cli/fkt_record/instruments/instrument_setup.h"
#include "cli/fkt_record/output/output.h"
#include "cli/fkt_record/remote/remote_sink.h"
#include "cli/fkt_record/request.h"
#include "cli/fkt_record/sections/file_sections.h"
#include "cli/fkt_record/sections/symbol_reader.h"
#include "cli/fkt_record/sink/fetch_stream.h"
#include "cli/fkt_record/sink/file_sink.h"
#include "cli/fkt_record/sink/lent_drain.h"
#include "cli/fkt_record/sink/rotation.h"
#include "cli/fkt_record/snapshot/snapshots.h"
#include "lib/record/condition_compiler.h"
#include "lib/record/device.h"
#include "lib/record/disk_syncer.h"

namespace fkt::record {

// What the line printed at the end shows.
struct Summary {
  fkt_status status{};       // after the stop
  std::string why;           // why it ended, if status.error does not say
  std::string kept;          // how much of it is on the disk, if not all
  double drain_percent = 0;  // CPU time of the drain, in percent of the time of all CPUs
  // CPU time of the drain thread per page, in ticks of the recording's clock
  double drain_cycles_per_page = 0;
};

class Recording {
 public:
  // Opens the device and the output; writes nothing yet. give_up: readable when the user no longer
  // wants to wait for the receiver.
  static Result<Recording> prepare(const Request& request, const std::optional<User>& owner,
                                   int give_up);

  const Device& device() const { return device_; }
  const Output& output() const { return output_; }
  // The output's name in messages.
  const std::string& name() const { return rotation_ ? request_->output.file : output_.name(); }
  // True if the pages are limited by the free space of the output, not by -s.
  bool limit_is_room() const { return !request_->size && has_room(); }
  // Set while this process itself copies the pages to the output; null otherwise.
  FetchStream* stream() { return stream_ ? &*stream_ : nullptr; }
  // The snapshots of a flight recorder while it records; null otherwise.
  Snapshots* snapshots() { return running_ ? snapshots_.get() : nullptr; }
  // Why snapshots() is null.
  std::string without_snapshots() const;
  // Readable when the output takes no more lent pages; -1 if no pages are lent.
  int drain_fd() const { return drain_ ? drain_->fd() : -1; }
  // Readable when fdatasync(2) has failed.
  int sync_fd() const { return syncer_ ? syncer_->fd() : -1; }

  // Writes the sections before the pages, except the clocks of the start, which start() writes.
  Status write_head(const std::optional<User>& user, pid_t workload);
  // Starts the recording and the threads that write it. After an error the caller has to call
  // discard().
  Status start();
  // Stops the recording; later events are not in it. Calling it again has no effect.
  Status stop();
  // Called after stop(). Writes the remaining pages of a stream, unless `give_up` becomes readable,
  // and the tail.
  Result<Summary> finish(std::optional<int> workload_status, std::vector<Descendant> descendants,
                         int give_up);
  // Removes what was written to the output: there is no recording.
  void discard();
  // Frees the module's pages; the last call.
  void release();

  // The instruments on calls; nullptr: there are none.
  const InstrumentSetup* instruments() const { return instruments_ ? &*instruments_ : nullptr; }

 private:
  Recording(const Request& request, Device device, const TaskList& tasks, Output output)
      : request_(&request),
        device_(std::move(device)),
        task_list_(tasks),
        output_(std::move(output)) {}
  // True if the output is limited by the space on a disk or device.
  bool has_room() const { return !output_.is_stream() && !output_.is_remote(); }
  // The destination of lent pages; null if no pages are lent.
  PageSink* sink() const;
  Status set_up_instruments(const Result<KernelSymbols>& symbols);
  Status make_condition();
  void open_fallback_output(const DrainPlan& plan);
  Result<fkt_start> start_arguments(const DrainPlan& plan) const;
  // Called after the start: the file's time zero is the recording's start clock.
  Status write_start_clocks();
  // Makes the destination of lent pages.
  Status make_sink();
  Status start_drain();
  bool is_flight() const { return request_->when_full == Request::WhenFull::overwrite; }
  void make_rotation(const PartRules& rules);
  std::string how(const DrainPlan& plan) const;
  // Adds what the drain of lent pages did, because the module does not know it.
  void add_drain(Summary& summary) const;
  // Adds a failure of fdatasync(2): pages in the page cache did not reach the disk.
  void add_sync_error(Summary& summary) const;
  // The error for a file whose tail could not be written; says what the file holds.
  Error without_tail(const Error& error, const Summary& summary) const;
  // Subtracts what snapshots took: it is not in this file.
  void take_off_snapshots(fkt_status& status) const;
  Status start_syncer();
  Result<std::uint64_t> limit_bytes() const;
  // Bytes of the rings of all CPUs.
  std::uint64_t ring_bytes() const;
  Status send_rest(int give_up);
  Status write_tail(const fkt_status& status, std::optional<int> workload_status,
                    std::vector<Descendant> descendants);
  std::vector<fkt_index_entry> kept_index(std::uint64_t pages) const;
  // fault: set to the reason if there is no index and the user should know.
  std::vector<fkt_index_entry> index(const fkt_status& status, std::string& fault) const;
  void measure(Summary& summary) const;

  const Request* request_;
  Device device_;
  TaskList task_list_;
  Output output_;
  OutputPlan output_plan_;               // with the name of -f
  std::optional<fkt_engine_id> engine_;  // nothing: the best one for the output
  std::optional<FetchStream> stream_;
  // Declared in this order, because each uses the ones before it.
  UniqueFd fallback_output_;  // where the module writes a flight recorder's pages if this process
                              // is killed
  std::shared_ptr<PartHeads> part_heads_;
  std::unique_ptr<Rotation> rotation_;
  std::unique_ptr<FileSink> sink_;
  std::unique_ptr<RemoteSink> remote_;
  std::unique_ptr<LentDrain> drain_;
  std::unique_ptr<SnapshotRules> snapshot_rules_;  // moved to snapshots_ at the start
  std::unique_ptr<Snapshots> snapshots_;
  std::unique_ptr<fkt_when> when_;              // must stay valid during FKT_START
  std::optional<InstrumentSetup> instruments_;  // likewise
  std::unique_ptr<DiskSyncer> syncer_;          // set while recording to a file or device
  int sync_error_ = 0;               // errno of fdatasync(2); pages may be missing on the disk
  std::string head_;                 // the sections before the pages
  std::size_t start_clocks_at_ = 0;  // offset in head_ of the clocks section
  std::uint64_t recording_ = 0;      // random id
  std::uint32_t page_bytes_ = 0;
  std::uint32_t cpus_ = 0;
  std::chrono::steady_clock::time_point started_{}, stopped_{};
  std::uint64_t mask_ = 0;  // last mask before the stop
  bool running_ = false;
};

}  // namespace fkt::record
