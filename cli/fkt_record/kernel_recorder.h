// SPDX-License-Identifier: GPL-2.0-only
// A recording of the kernel, and of user programs with -k user.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/fkt_record/instruments/instrument_control.h"
#include "cli/fkt_record/output/output.h"
#include "cli/fkt_record/recorder.h"
#include "cli/fkt_record/remote/remote_sink.h"
#include "cli/fkt_record/request/request.h"
#include "cli/fkt_record/sections/file_sections.h"
#include "cli/fkt_record/sink/fetch_stream.h"
#include "cli/fkt_record/sink/lent_drain.h"
#include "cli/fkt_record/sink/lent_files.h"
#include "cli/fkt_record/snapshot/snapshots.h"
#include "cli/fkt_record/start/drain_plan.h"
#include "cli/fkt_record/start/start_arguments.h"
#include "cli/fkt_record/status/end_summary.h"
#include "cli/fkt_record/user/user_events.h"
#include "lib/record/device.h"
#include "lib/record/disk_syncer.h"

namespace fkt::record {

class KernelRecorder : public Recorder {
 public:
  // Opens the device and the output; writes nothing yet. `request` must outlive the recording.
  // give_up: readable when the user no longer wants to wait for the receiver.
  static Result<std::unique_ptr<KernelRecorder>> prepare(const Request& request,
                                                         const std::optional<User>& owner,
                                                         int give_up);

  const Device& device() const { return device_; }
  const Output& output() const { return output_; }
  const std::string& name() const override {
    return request_.rotate ? output_plan_.file : output_.name();
  }
  bool has_room() const override { return !output_.is_stream() && !output_.is_remote(); }
  // Set while this process itself copies the pages to the output; null otherwise.
  FetchStream* stream() { return stream_ ? &*stream_ : nullptr; }
  // The snapshots of a flight recorder while it records; null otherwise.
  Snapshots* snapshots() { return running_ ? snapshots_.get() : nullptr; }
  std::string without_snapshots() const override;
  // Only of lent pages.
  int ended_fd() const override { return drain_ ? drain_->fd() : -1; }
  // Readable when fdatasync(2) has failed.
  int sync_fd() const { return syncer_ ? syncer_->fd() : -1; }
  // The events of user programs; null if they are not recorded.
  const UserEvents* user_events() const { return user_events_.get(); }
  std::string variable() const override { return user_events_ ? user_events_->variable() : ""; }
  const Collected* collected() const override {
    return user_events_ ? &user_events_->collected() : nullptr;
  }
  // The instruments, which fkt_instrument may change while it records.
  InstrumentControl& instruments() { return instruments_; }
  const InstrumentControl& instruments() const { return instruments_; }

  Status write_head(const std::optional<User>& user, pid_t workload) override;
  Status start() override;
  // Lists the tasks anew: a hit has just begun the recording, which waited for it.
  void list_tasks() { tasks_at_begin_ = task_list_.lines(); }
  Status stop() override;
  // Writes the remaining pages of a stream first, unless `give_up` becomes readable.
  Result<EndSummary> finish(std::optional<int> workload_status, std::vector<Descendant> descendants,
                            int give_up) override;
  void discard() override;
  void release() override;

 private:
  // The module's properties, read when the device was opened.
  struct Facts {
    std::uint64_t recording = 0;  // random id
    std::uint32_t page_bytes = 0;
    std::uint32_t cpus = 0;
    std::uint64_t khz = 0;  // of the recording's clock
  };
  KernelRecorder(const Request& request, const Facts& facts, Device device, const TaskList& tasks,
                 OutputPlan plan, Output output);

  bool is_flight() const { return request_.when_full == Request::WhenFull::overwrite; }
  // True if snapshots can be written while the recording continues: that takes lent pages.
  bool can_take_snapshots() const { return is_flight() && files_; }
  double ticks_per_second() const { return static_cast<double>(facts_.khz) * 1000; }
  // The destination of lent pages; null if no pages are lent.
  PageSink* sink() const;
  // Bytes of the rings of all CPUs.
  std::uint64_t ring_bytes() const;
  Result<std::uint64_t> limit_bytes() const;
  // The layers that are recorded at the start.
  std::uint64_t mask() const;

  Status connect(int give_up);
  Status prepare_user_events();
  Result<Sections> make_sections(const std::optional<User>& user, pid_t workload);
  Result<LentFilesPlan> lent_files_plan() const;
  Error name_place(Error error) const;
  Result<StartArguments> start_arguments(const DrainPlan& plan) const;
  void tell_splices() const;
  std::string how(const DrainPlan& plan) const;
  // Called after the start: the file's time zero is the recording's start clock.
  Status write_start_clocks();
  void start_snapshots();
  Status start_drain();
  Status start_syncer();
  // fault: set to the reason if there is no index and the user should know.
  std::vector<fkt_index_entry> index(const fkt_status& status, std::string& fault) const;
  Status write_tail(EndSummary& summary, std::optional<int> workload_status,
                    std::vector<Descendant> descendants);

  const Request& request_;
  const Facts facts_;
  Device device_;
  const TaskList task_list_;
  std::string tasks_at_begin_;    // empty: the list in the file's head is that of the begin
  const OutputPlan output_plan_;  // with the name of -f
  Output output_;
  std::optional<fkt_engine_id> engine_;  // nothing: the best one for the output
  const std::shared_ptr<Defined> defined_ = std::make_shared<Defined>();
  InstrumentControl instruments_;

  // What takes the pages from the module, if it does not write them itself. Declared in this order,
  // because each uses the ones before it.
  std::optional<FetchStream> stream_;
  std::unique_ptr<LentFiles> files_;
  std::unique_ptr<RemoteSink> remote_;
  std::unique_ptr<LentDrain> drain_;
  std::unique_ptr<Snapshots> snapshots_;
  std::unique_ptr<UserEvents> user_events_;
  std::unique_ptr<DiskSyncer> syncer_;  // set while recording to a file or device

  std::string head_;                 // the sections before the pages
  std::size_t start_clocks_at_ = 0;  // offset in head_ of the clocks section
  bool running_ = false;
  std::chrono::steady_clock::time_point started_{}, stopped_{};
  int sync_error_ = 0;      // errno of fdatasync(2); pages may be missing on the disk
  std::uint64_t mask_ = 0;  // last mask before the stop
};

}  // namespace fkt::record
