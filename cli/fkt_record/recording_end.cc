// SPDX-License-Identifier: GPL-2.0-only
// The end of class Recording: the last pages, the tail, and the summary.
#include "cli/fkt_record/recording.h"

#include <poll.h>
#include <unistd.h>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "cli/fkt_record/output/read_back_index.h"
#include "lib/base/os_error.h"

namespace fkt::record {

Status Recording::send_rest(int give_up) {
  for (;;) {
    const Result<FetchStream::Moved> moved = stream_->move();
    if (!moved) return moved.error();
    if (*moved == FetchStream::Moved::end) return Done{};
    if (*moved == FetchStream::Moved::closed) return os_failure(output_.name(), EPIPE);
    if (*moved == FetchStream::Moved::some) continue;
    pollfd fds[] = {{device_.fd(), stream_->device_events(), 0},
                    {output_.fd(), stream_->out_events(), 0},
                    {give_up, POLLIN, 0}};
    ::poll(fds, std::size(fds), -1);
    if (fds[2].revents) {
      return Error{ErrorCode::io, output_.name() + ": given up before the reader had taken it all"};
    }
  }
}

// The index entries that the module keeps of the last pages written. Older entries are read back
// from the file.
std::vector<fkt_index_entry> Recording::kept_index(std::uint64_t pages) const {
  std::vector<fkt_index_entry> kept(std::min<std::uint64_t>(pages, FKT_INDEX_PAGES));
  if (!device_.index(pages - kept.size(), kept)) kept.clear();
  return kept;
}

std::vector<fkt_index_entry> Recording::index(const fkt_status& status, std::string& fault) const {
  if (const PageSink* to = sink()) return to->index();
  // The reader of a stream scans its pages: nothing can be read back from it here.
  if (output_.is_stream()) return {};
  std::vector<fkt_index_entry> kept = kept_index(status.pages_written);
  Result<std::vector<fkt_index_entry>> index =
      read_back_index({output_.fd(), output_.name(), output_.pages_offset(),
                       status.pages_written - kept.size(), page_bytes_, recording_});
  if (index) {
    index->insert(index->end(), kept.begin(), kept.end());
    return std::move(*index);
  }
  fault = index.error().message + "; the file gets no index";
  return {};
}

void Recording::measure(Summary& out) const {
  const fkt_status& status = out.status;
  // Up to the end of the stop, during which the drain still writes.
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
}

void Recording::add_drain(Summary& summary) const {
  fkt_status& status = summary.status;
  const SinkCost cost = sink()->cost();
  status.bytes_written = cost.bytes;
  status.bytes_copied += cost.copied;
  status.drain_ns += drain_->cpu_ns() + cost.cpu_ns;
  status.wakeups += static_cast<std::uint32_t>(drain_->wakeups());
  const SinkStatus& end = drain_->sink_end();
  if (!end || status.stop_reason != FKT_STOP_ASKED) return;
  status.stop_reason = end->reason;
  status.error = end->error;
  summary.why = end->message;
}

void Recording::add_sync_error(Summary& summary) const {
  summary.kept =
      "the disk has its first " + cli::with_commas(syncer_->safe()) + " pages for certain";
  if (summary.status.stop_reason != FKT_STOP_ASKED) return;
  summary.status.stop_reason = FKT_STOP_ERROR;
  summary.status.error = sync_error_;
  summary.why = "fdatasync: " + os_error(sync_error_);
}

Error Recording::without_tail(const Error& error, const Summary& summary) const {
  if (error.code == ErrorCode::damaged) return error;
  const fkt_status& status = summary.status;
  std::string why = summary.why;
  if (why.empty() && status.error != 0) why = os_error(static_cast<int>(status.error));
  std::string text = error.message;
  if (!why.empty() && !text.ends_with(why)) text = name() + ": " + why + "; " + text;
  return {error.code, text + ": the file has no totals, and can be read up to its last whole page"};
}

void Recording::take_off_snapshots(fkt_status& status) const {
  for (const auto& [number, cpu] : snapshots_->left()) {
    status.overwritten += cpu.events;
    status.pages_written -= cpu.pages;
  }
}

Result<Summary> Recording::finish(std::optional<int> workload_status,
                                  std::vector<Descendant> descendants, int give_up) {
  if (stream_) {
    const Status sent = send_rest(give_up);
    if (!sent) return sent.error();
  }
  if (snapshots_) {
    snapshots_->join();
    const Status drains = start_drain();
    if (!drains) return drains.error();
  }
  bool receiver_ended = false;
  if (drain_) {
    const Status drained = drain_->join(give_up);
    if (!drained) return drained.error();
    const SinkStatus& end = drain_->sink_end();
    receiver_ended = remote_ && end && !remote_->takes_tail(*end);
  }
  const Result<fkt_status> status = device_.status();
  if (!status) return status.error();
  if (receiver_ended) return remote_->failure(*drain_->sink_end(), *status);
  Summary summary;
  summary.status = *status;
  if (drain_) add_drain(summary);
  if (snapshots_) take_off_snapshots(summary.status);
  if (sync_error_ != 0) add_sync_error(summary);
  measure(summary);
  // rotation_->join() comes first, because the tasks of the last file are known when the previous
  // file is finished.
  Status written = rotation_ ? rotation_->join() : Done{};
  if (written) written = write_tail(summary.status, workload_status, std::move(descendants));
  if (!written) return without_tail(written.error(), summary);
  // The last file counts as finished too.
  if (rotation_) rotation_->remove_oldest(sink_->part()->number());
  return summary;
}

Status Recording::write_tail(const fkt_status& status, std::optional<int> workload_status,
                             std::vector<Descendant> descendants) {
  fkt_status of_file = status;
  std::string no_index;
  Ending ending{device_,
                task_list_,
                of_file,
                mask_ ? mask_ : request_->mask,
                request_->clock,
                workload_status,
                std::move(descendants),
                index(status, no_index),
                {},
                {},
                snapshots_ ? snapshots_->left() : PartCpus{},
                {}};
  if (sink_) {
    ending.groups = sink_->groups();
    ending.before = sink_->part()->before();
    if (part_heads_) ending.tasks = part_heads_->take_tasks(sink_->part()->number());
    of_file.bytes_written = sink_->part()->bytes();
  }
  const Result<Sections> tail = sections_after(ending);
  if (!tail) return tail.error();
  if (PageSink* to = sink()) return to->write_tail(*tail);
  const std::uint64_t end = output_.pages_offset() + status.pages_written * page_bytes_;
  const Status written = output_.write_tail(end, *tail);
  if (written && !no_index.empty()) cli::warn(no_index);
  return written;
}

}  // namespace fkt::record
