// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/recording.h"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <span>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "lib/base/random.h"

namespace fkt::record {
namespace {

// The module would refuse the pid too, but only after the file was truncated.
Status check_process(const Request& request) {
  if (request.filter != FKT_FILTER_PROCESS) return Done{};
  if (::kill(request.filter_pid, 0) == 0 || errno != ESRCH) return Done{};
  return Error{ErrorCode::io,
               "--pid: no process has the pid " + std::to_string(request.filter_pid)};
}

// Also checked before the file is touched: without CAP_PERFMON only own processes may be recorded,
// so a filter is mandatory.
Status check_access(const Request& request, const fkt_status& status) {
  if ((status.flags & FKT_STATUS_ALL) || request.filter == FKT_FILTER_JOIN ||
      request.filter == FKT_FILTER_PROCESS) {
    return Done{};
  }
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return Error{ErrorCode::io,
               "all users' processes are recorded with CAP_PERFMON alone: record your own with "
               "--only or --pid, or use sudo, or have root run: setcap cap_perfmon+ep " +
                   (error ? std::string("fkt_record") : self.string())};
}

// Refuses a TSC that the kernel considers unstable: its times would be wrong.
Status check_clock(const Device& device, fkt_clock_source source) {
  if (source != FKT_CLOCK_TSC) return Done{};
  const Result<fkt_clocks> clocks = device.clocks(source);
  if (!clocks) return clocks.error();
  if (clocks->tsc_usable) return Done{};
  std::string faults;
  if (!(clocks->tsc_flags & 1)) faults += "constant, ";
  if (!(clocks->tsc_flags & 2)) faults += "non-stop, ";
  return Error{ErrorCode::io, "this machine's TSC is not " + faults +
                                  "synchronised and stable (says the kernel); use --clock mono"};
}

Result<std::uint64_t> random_id() {
  std::uint64_t id = 0;
  while (id == 0) {
    const Status filled = random_bytes(std::as_writable_bytes(std::span(&id, 1)));
    if (!filled) return filled.error();
  }
  return id;
}

}  // namespace

Result<Recording> Recording::prepare(const Request& request, const std::optional<User>& owner,
                                     int give_up) {
  Result<Device> device = Device::open();
  if (!device) return device.error();
  Status ready = check_process(request);
  if (ready) ready = check_clock(*device, request.clock);
  // This is also the first call that fails if another process is recording; the file is not touched
  // yet.
  if (ready) ready = device->set_pow_pages(request.pow_pages);
  if (!ready) return ready.error();
  const Result<fkt_status> status = device->status();
  if (!status) return status.error();
  const Status access = check_access(request, *status);
  if (!access) return access.error();
  const Result<TaskList> tasks = TaskList::of(*device);
  if (!tasks) return tasks.error();
  if (request.size && *request.size < status->page_bytes) {
    return cli::usage("-s: " + cli::bytes_text(*request.size) +
                      " leave no room for any event: with this -p " + "a page has " +
                      cli::bytes_text(status->page_bytes));
  }
  const Result<std::uint64_t> id = random_id();
  if (!id) return id.error();
  OutputPlan plan = request.output;
  plan.owner = owner;
  Result<Output> output = request.rotate == 0 ? Output::open(plan) : Rotation::open_first(plan);
  if (!output) return output.error();

  Recording recording(request, std::move(*device), *tasks, std::move(*output));
  recording.recording_ = *id;
  recording.page_bytes_ = status->page_bytes;
  recording.cpus_ = status->cpus;
  recording.output_plan_ = std::move(plan);
  if (request.output.to_remote()) {
    const Result<remote::Address> address = request.address();
    if (!address) return address.error();
    auto remote =
        RemoteSink::connect({request.output.file, *address, request.token_file, request.wait, *id,
                             status->page_bytes, request.size.value_or(0)},
                            give_up);
    if (!remote) return remote.error();
    recording.remote_ = std::move(*remote);
  }
  recording.engine_ = request.engine;
  // With lent pages snapshots can be written while the recording continues.
  if (recording.is_flight() && !request.engine && recording.has_room()) {
    recording.engine_ = FKT_ENGINE_LEND;
  }
  return recording;
}

// Finds the functions and tracepoints of -i.
Status Recording::set_up_instruments(const Result<KernelSymbols>& symbols) {
  if (request_->instruments.empty()) return Done{};
  if (!symbols) return symbols.error();
  const Result<fkt_clocks> clocks = device_.clocks(request_->clock);
  if (!clocks) return clocks.error();
  Result<InstrumentSetup> setup = InstrumentSetup::make(request_->instruments, *symbols,
                                                        static_cast<double>(clocks->khz) * 1000);
  if (!setup) return setup.error();
  instruments_.emplace(std::move(*setup));
  return Done{};
}

Status Recording::write_head(const std::optional<User>& user, pid_t workload) {
  Result<KernelSymbols> kallsyms = read_kallsyms();
  const Status instruments = set_up_instruments(kallsyms);
  if (!instruments) return instruments;
  const Result<KernelSymbols> symbols =
      symbols_for_file(std::move(kallsyms), {request_->system_map, request_->verbose});
  if (!symbols) return symbols.error();
  const Asked asked{request_->command, request_->words,      request_->mask,  request_->args,
                    request_->filter,  request_->filter_pid, request_->clock, request_->pow_pages};
  const Result<Sections> sections =
      sections_before({asked, device_, task_list_, *symbols, user, workload, output_.is_stream(),
                       instruments_ ? instruments_->catalogue_lines() : ""});
  if (!sections) return sections.error();
  if (const std::string remark = task_list_.remark(); !remark.empty()) cli::warn(remark);
  start_clocks_at_ = sizeof(fkt_file_header) + sections->next_offset();
  head_ = file_head(recording_, page_bytes_, *sections,
                    request_->level ? FKT_FILE_VERSION_GROUPS : FKT_FILE_VERSION_PAGES,
                    pages_behind(sections->bytes().size() + kClocksBytes));
  if (request_->verbose) {
    cli::warn(output_.name() + ": " + cli::bytes_text(head_.size()) + " before the pages");
  }
  if (remote_) return remote_->write_head(head_.substr(0, start_clocks_at_));
  if (engine_ != FKT_ENGINE_LEND || output_.is_stream()) {
    return output_.write_head(head_, start_clocks_at_);
  }
  const Status made = make_sink();
  return made ? sink_->write_head(head_) : made;
}

Status Recording::write_start_clocks() {
  const Result<Sections> clocks = clocks_of_start(device_, request_->clock);
  if (!clocks) return clocks.error();
  head_.replace(start_clocks_at_, clocks->bytes().size(), clocks->bytes());
  if (part_heads_) *part_heads_ = PartHeads(head_, task_list_);
  if (snapshot_rules_)
    snapshot_rules_->heads = PartHeads(head_, task_list_, PartHeads::Kind::snapshot);
  if (remote_) return remote_->write_head(head_.substr(start_clocks_at_));
  return output_.finish_head(head_, start_clocks_at_);
}

Status Recording::stop() {
  if (!running_) return Done{};
  running_ = false;
  if (snapshots_) snapshots_->end();
  const Result<fkt_status> before = device_.status();
  if (before) mask_ = before->mask;
  const Status stopped = device_.stop();
  stopped_ = std::chrono::steady_clock::now();
  sync_error_ = syncer_ ? syncer_->stop() : 0;
  return stopped;
}

void Recording::discard() {
  const Status stopped = stop();
  if (!stopped) cli::warn(stopped.error().message);
  drain_.reset();
  if (remote_) remote_->discard();
  output_.discard();
}

void Recording::release() {
  const Status freed = device_.free_buffer();
  if (!freed) cli::warn(freed.error().message);
}

}  // namespace fkt::record
