// SPDX-License-Identifier: GPL-2.0-only
// One recording from the open device to the finished file. It knows of the workload no more than
// what the file is to tell about it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "cli/fkt_record/describe.h"
#include "cli/fkt_record/engine.h"
#include "cli/fkt_record/output.h"
#include "cli/fkt_record/request.h"
#include "cli/fkt_record/stream.h"
#include "cli/fkt_record/syncer.h"
#include "lib/device.h"

namespace fkt::record {

// What the end line tells.
struct Summary {
  fkt_status status{};               // after the stop
  double drain_percent = 0;          // of the CPU time that all CPUs together had until then
  double drain_cycles_per_page = 0;  // of the recording's clock, by the drain's thread
};

class Recording {
 public:
  // Opens device and output; nothing is written yet.
  static Result<Recording> prepare(const Request& request, const std::optional<User>& owner);

  const Device& device() const { return device_; }
  const Output& output() const { return output_; }
  bool limit_is_room() const { return !request_->size && !output_.is_stream(); }
  Stream* stream() { return stream_ ? &*stream_ : nullptr; }

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
  Result<fkt_start> start_arguments(const Way& way) const;
  void start_syncer();
  // What all CPUs' rings hold.
  std::uint64_t ring_bytes() const;
  Status send_rest(int give_up);
  std::vector<fkt_index_entry> index(const fkt_status& status) const;
  Summary summary(const fkt_status& status) const;

  const Request* request_;
  Device device_;
  Output output_;
  std::optional<Stream> stream_;
  std::unique_ptr<Syncer> syncer_;  // while recording to a file or device
  std::uint64_t recording_ = 0;     // random id
  std::uint32_t page_bytes_ = 0;
  std::uint32_t cpus_ = 0;
  std::chrono::steady_clock::time_point started_{}, stopped_{};
  std::uint64_t mask_ = 0;  // the last one before the stop
  bool running_ = false;
};

}  // namespace fkt::record
