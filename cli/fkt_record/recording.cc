// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/recording.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/fkt_record/index.h"
#include "lib/os_error.h"

namespace fkt::record {
namespace {

// Kept for the tail: totals, interrupts, and an index entry per page.
constexpr std::uint64_t kTailBytes = 256 << 10;
constexpr std::uint64_t kTailBytesPerCpu = 512;
constexpr std::uint32_t kTailBytesPerPage = sizeof(fkt_index_entry);

std::uint64_t tail_reserve(std::uint32_t cpus) {
  return kTailBytes + kTailBytesPerCpu * cpus;
}

// Asked before the file is touched, although the module would refuse it as well.
Status check_process(const Request& request) {
  if (request.filter != FKT_FILTER_PROCESS) return Done{};
  if (::kill(request.filter_pid, 0) == 0 || errno != ESRCH) return Done{};
  return Error{ErrorCode::io,
               "--pid: no process has the pid " + std::to_string(request.filter_pid)};
}

// A TSC that the kernel does not trust gives times that mean nothing.
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

std::uint32_t flow_flag(Request::WhenFull when_full) {
  switch (when_full) {
    case Request::WhenFull::stop:
      return FKT_START_STOP_WHEN_FULL;
    case Request::WhenFull::overwrite:
      return FKT_START_OVERWRITE;
    default:
      return 0;
  }
}

Result<std::uint64_t> random_id() {
  std::uint64_t id = 0;
  while (id == 0) {
    if (::getrandom(&id, sizeof id, 0) != sizeof id) return os_failure("random numbers");
  }
  return id;
}

}  // namespace

Result<Recording> Recording::prepare(const Request& request, const std::optional<User>& owner) {
  Result<Device> device = Device::open();
  if (!device) return device.error();
  Status ready = check_process(request);
  if (ready) ready = check_clock(*device, request.clock);
  // Also the first call to find out that somebody else records: before the file is touched.
  if (ready) ready = device->set_pow_pages(request.pow_pages);
  if (!ready) return ready.error();
  const Result<fkt_status> status = device->status();
  if (!status) return status.error();
  const Result<std::uint64_t> id = random_id();
  if (!id) return id.error();
  Result<Output> output = Output::open(request, owner);
  if (!output) return output.error();

  Recording recording(request, std::move(*device), std::move(*output));
  recording.recording_ = *id;
  recording.page_bytes_ = status->page_bytes;
  recording.cpus_ = status->cpus;
  return recording;
}

Status Recording::write_head(const std::optional<User>& user, pid_t workload) {
  const Result<Sections> sections =
      sections_before({*request_, user, device_, workload, output_.is_stream()});
  if (!sections) return sections.error();
  const std::string head = file_head(recording_, page_bytes_, *sections);
  if (request_->verbose) {
    cli::warn(output_.name() + ": " + cli::bytes_text(head.size()) + " before the pages");
  }
  return output_.write_head(head);
}

Result<fkt_start> Recording::start_arguments(const Way& way) const {
  fkt_start start{};
  start.abi = FKT_ABI_VERSION;
  start.size = sizeof start;
  start.out_fd = way.pages ? way.pages.get() : -1;
  start.flags = (request_->args ? FKT_START_ARGS : 0) | flow_flag(request_->when_full);
  start.mask = request_->mask;
  start.recording = recording_;
  start.clock = request_->clock;
  start.filter = request_->filter;
  start.filter_pid = request_->filter_pid;
  start.limit = request_->size.value_or(0);
  if (output_.is_stream()) return start;

  if (!request_->size) {
    const auto room = output_.room(tail_reserve(cpus_), kTailBytesPerPage, page_bytes_);
    if (!room) return room.error();
    // Found out now, not when the crash that everybody waited for has happened.
    if (request_->when_full == Request::WhenFull::overwrite && *room < ring_bytes()) {
      return Error{ErrorCode::io, output_.name() + ": no space for the " +
                                      cli::bytes_text(ring_bytes()) + " that the recorder keeps"};
    }
    start.limit = *room;
  }
  if (!way.pages) return start;
  start.flags |= FKT_START_ENGINE(way.engine);
  start.offset = output_.pages_offset();
  start.reserve = tail_reserve(cpus_);
  start.reserve_per_page = kTailBytesPerPage;
  return start;
}

std::uint64_t Recording::ring_bytes() const {
  const auto cpus = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  return (std::uint64_t{4096} << request_->pow_pages) * cpus;
}

Status Recording::start() {
  const Result<Way> way = choose_way(output_, request_->engine);
  if (!way) return way.error();
  if (way->engine == FKT_ENGINE_FETCH) {
    ::fcntl(device_.fd(), F_SETFL, O_RDWR | O_NONBLOCK);
    const Status at_pages = output_.seek_to_pages();
    if (!at_pages) return at_pages;
    stream_.emplace(device_.fd(), output_.fd(), output_.name());
  }
  const Result<fkt_start> arguments = start_arguments(*way);
  if (!arguments) return arguments.error();
  if (request_->verbose) {
    cli::warn(std::string("engine ") + engine_name(way->engine) + ": " + way->why);
  }
  started_ = std::chrono::steady_clock::now();
  const Status started = device_.start(*arguments);
  running_ = static_cast<bool>(started);
  if (running_) start_syncer();
  return started;
}

void Recording::start_syncer() {
  // A flight recorder writes at its end alone; a stream is somebody else's to keep.
  if (output_.is_stream() || request_->sync.count() == 0 ||
      request_->when_full == Request::WhenFull::overwrite) {
    return;
  }
  const auto written = [this]() -> std::uint64_t {
    const Result<fkt_status> status = device_.status();
    return status ? status->pages_written : 0;
  };
  const auto tell = [this](std::uint64_t pages) {
    if (request_->verbose) cli::warn(cli::with_commas(pages) + " pages are safe on the disk");
  };
  syncer_ = std::make_unique<Syncer>(output_.fd(), request_->sync, written, tell);
}

Status Recording::stop() {
  if (!running_) return Done{};
  running_ = false;
  const Result<fkt_status> before = device_.status();
  if (before) mask_ = before->mask;
  const Status stopped = device_.stop();
  stopped_ = std::chrono::steady_clock::now();
  const int sync_error = syncer_ ? syncer_->stop() : 0;
  if (sync_error != 0) cli::warn(output_.name() + ": fdatasync: " + os_error(sync_error));
  return stopped;
}

Status Recording::send_rest(int give_up) {
  for (;;) {
    const Result<Stream::Moved> moved = stream_->move();
    if (!moved) return moved.error();
    if (*moved == Stream::Moved::end) return Done{};
    if (*moved == Stream::Moved::closed) return os_failure(output_.name(), EPIPE);
    if (*moved == Stream::Moved::some) continue;
    pollfd fds[] = {{device_.fd(), stream_->device_events(), 0},
                    {output_.fd(), stream_->out_events(), 0},
                    {give_up, POLLIN, 0}};
    ::poll(fds, std::size(fds), -1);
    if (fds[2].revents) {
      return Error{ErrorCode::io, output_.name() + ": given up before the reader had taken it all"};
    }
  }
}

std::vector<fkt_index_entry> Recording::index(const fkt_status& status) const {
  // A stream is scanned by its reader; nothing can be read back from it here.
  if (output_.is_stream()) return {};
  Result<std::vector<fkt_index_entry>> index =
      read_back_index({output_.fd(), output_.name(), output_.pages_offset(), status.pages_written,
                       page_bytes_, recording_});
  if (index) return std::move(*index);
  cli::warn(index.error().message + "; the file gets no index");
  return {};
}

Summary Recording::summary(const fkt_status& status) const {
  Summary out;
  out.status = status;
  // To the end of the stop, in which the drain still works.
  const std::chrono::duration<double> seconds = stopped_ - started_;
  const double cpu_seconds = seconds.count() * static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
  if (cpu_seconds > 0) {
    out.drain_percent = 100 * static_cast<double>(status.drain_ns) / 1e9 / cpu_seconds;
  }
  if (const auto clocks = device_.clocks(request_->clock); clocks && status.pages_written > 0) {
    // ns * khz / 10^6
    out.drain_cycles_per_page = static_cast<double>(status.drain_ns) *
                                static_cast<double>(clocks->khz) / 1e6 /
                                static_cast<double>(status.pages_written);
  }
  return out;
}

Result<Summary> Recording::finish(std::optional<int> workload_status,
                                  std::vector<Descendant> descendants, int give_up) {
  if (stream_) {
    const Status sent = send_rest(give_up);
    if (!sent) return sent.error();
  }
  const Result<fkt_status> status = device_.status();
  if (!status) return status.error();
  const Result<Sections> tail =
      sections_after({device_, *status, mask_ ? mask_ : request_->mask, request_->clock,
                      workload_status, std::move(descendants), index(*status)});
  if (!tail) return tail.error();
  const std::uint64_t end = output_.pages_offset() + status->pages_written * page_bytes_;
  const Status written = output_.write_tail(end, *tail);
  if (!written) return written.error();
  return summary(*status);
}

void Recording::discard() {
  const Status stopped = stop();
  if (!stopped) cli::warn(stopped.error().message);
  output_.discard();
}

void Recording::release() {
  const Status freed = device_.free_buffer();
  if (!freed) cli::warn(freed.error().message);
}

}  // namespace fkt::record
