// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/snapshot/snapshot.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/core.h>

#include "cli/base/units.h"
#include "lib/base/event_fd.h"
#include "lib/base/os_error.h"

namespace fkt::record {
namespace {

// Waits until one of the descriptors is readable or the time `until` has come.
void wait_for(std::initializer_list<int> readable, std::chrono::steady_clock::time_point until) {
  std::vector<pollfd> fds;
  for (const int fd : readable) fds.push_back({fd, POLLIN, 0});
  for (;;) {
    const auto left =
        std::max(until - std::chrono::steady_clock::now(), std::chrono::nanoseconds{});
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec time{seconds.count(), (left - seconds).count()};
    if (::ppoll(fds.data(), fds.size(), &time, nullptr) >= 0) return;
  }
}

}  // namespace

Result<std::unique_ptr<Snapshot>> Snapshot::start(SnapshotRules& rules, Job job) {
  UniqueFd wake = make_event_fd(), no_more = make_event_fd(), done = make_event_fd();
  if (!wake || !no_more || !done) return os_failure("eventfd");
  return std::unique_ptr<Snapshot>(
      new Snapshot(rules, std::move(job), std::move(wake), std::move(no_more), std::move(done)));
}

Snapshot::Snapshot(SnapshotRules& rules, Job job, UniqueFd wake, UniqueFd no_more, UniqueFd done)
    : rules_(rules),
      job_(std::move(job)),
      wake_(std::move(wake)),
      no_more_(std::move(no_more)),
      done_(std::move(done)),
      until_(std::chrono::steady_clock::now() + job_.after),
      thread_([this] { run(); }) {}

Snapshot::~Snapshot() {
  if (thread_.joinable()) thread_.join();
}

void Snapshot::end_now() {
  signal_event(wake_);
  wait_for({no_more_.get()}, std::chrono::steady_clock::time_point::max());
}

Result<std::string> Snapshot::join() {
  if (thread_.joinable()) thread_.join();
  if (!status_) return status_.error();
  return line_;
}

void Snapshot::run() {
  status_ = write();
  signal_event(no_more_);
  signal_event(done_);
}

// Pages may leave before the head is made, so that events recorded meanwhile overwrite nothing.
Status Snapshot::write() {
  FKT_TRY(rules_.device.flight(FKT_FLIGHT_LEAVE));
  Result<std::unique_ptr<FileSink>> sink = make_sink();
  const Status written = sink ? write_pages(**sink) : sink.error();
  // Fails if the recording has ended meanwhile; then all pages are written anyway.
  const Status stays = rules_.device.flight(FKT_FLIGHT_STAY);
  (void)static_cast<bool>(stays);
  return written;
}

Result<std::unique_ptr<FileSink>> Snapshot::make_sink() {
  FileSinkRules rules = rules_.sink;
  const PartRules& part = rules.part;
  const auto room = FKT_TRY(job_.output.room(part.reserve, part.reserve_per_page, part.page_bytes));
  if (room < rules.ring_bytes) {
    return Error{ErrorCode::io, job_.output.name() + ": no space for the " +
                                    cli::bytes_text(rules.ring_bytes) + " that the recorder keeps"};
  }
  rules.part.limit = room;
  const auto head = FKT_TRY(rules_.heads.head(job_.number, job_.before));
  auto sink = FKT_TRY(FileSink::make(job_.output, rules, nullptr));
  FKT_TRY(sink->write_head(head));
  return sink;
}

Status Snapshot::write_pages(FileSink& sink) {
  const Device& device = rules_.device;
  Result<std::unique_ptr<LentDrain>> drain =
      LentDrain::start(device.fd(), rules_.sink.part.page_bytes, sink, LentDrain::GivenUp::gone);
  if (!drain) return drain.error();
  rules_.heads.note_tasks();
  wait_for({wake_.get(), (*drain)->fd()}, until_);
  const Status closed = rules_.device.flight(FKT_FLIGHT_CLOSE);
  const Result<fkt_clocks> end = device.clocks(rules_.clock);
  (*drain)->take_last();
  signal_event(no_more_);
  const Status drained = (*drain)->join(-1);
  taken_ = (*drain)->taken();
  for (const Status& done : {closed, drained}) {
    if (!done) return done;
  }
  if (!end) return end.error();
  end_clock_ = end->clock;
  FKT_TRY(write_tail(sink, *end));
  const SinkStatus& ended = (*drain)->sink_end();
  if (!ended) return Done{};
  const std::string why = ended->reason == FKT_STOP_LIMIT ? "no space left on device, but a reserve"
                          : ended->message.empty()        ? os_error(ended->error)
                                                          : ended->message;
  return Error{ErrorCode::io, job_.output.name() + ": " + why +
                                  ": the snapshot is complete up to there, the recorder keeps "
                                  "the rest but for what was on its way"};
}

// Events that were recorded and are not in this file: overwritten, or taken by earlier snapshots.
Result<PartCpus> Snapshot::gone() const {
  const auto status = FKT_TRY(rules_.device.status());
  PartCpus gone = job_.before;
  for (std::uint32_t cpu = 0; cpu < status.cpus; cpu++) {
    const auto one = FKT_TRY(rules_.device.cpu_status(cpu));
    gone[cpu].events += one.overwritten;
  }
  return gone;
}

Status Snapshot::write_tail(FileSink& sink, const fkt_clocks& now) {
  const auto status = FKT_TRY(rules_.device.status());
  auto before = FKT_TRY(gone());
  PartEnd end{status, now, "snapshot", job_.because, std::move(before), rules_.heads.definitions()};
  end.status.stop_clock = now.clock;
  const auto tail = FKT_TRY(part_tail(end, *sink.part(), rules_.heads.tasks_until_now()));
  line_ = told(*sink.part(), now);
  return sink.write_tail(tail);
}

// Makes the line "FILE: 12,345 events of 1.234 s, 1.2 MB, 0 lost".
std::string Snapshot::told(const PartFile& part, const fkt_clocks& end) const {
  std::uint64_t events = 0, lost = 0, first = ~std::uint64_t{0};
  for (const auto& [number, cpu] : part.cpus()) {
    const auto before = job_.before.find(number);
    events += cpu.events;
    lost += cpu.lost - (before == job_.before.end() ? 0 : before->second.lost);
  }
  for (const fkt_index_entry& page : part.index()) {
    first = std::min<std::uint64_t>(first, page.first_clock);
  }
  const std::uint64_t last = std::max<std::uint64_t>(part.end_clock(), end.clock);
  const double seconds = events == 0 || end.khz == 0 ? 0
                                                     : static_cast<double>(last - first) /
                                                           (static_cast<double>(end.khz) * 1000);
  return fmt::format("{}: {} events of {:.3f} s, {}, {} lost{}", job_.output.name(),
                     cli::with_commas(events), seconds, cli::bytes_text(part.bytes()),
                     cli::with_commas(lost), job_.because.empty() ? "" : ": " + job_.because);
}

}  // namespace fkt::record
