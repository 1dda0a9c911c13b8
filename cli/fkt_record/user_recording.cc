// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user_recording.h"

#include <unistd.h>

#include <fkt/user_ring.h>

#include "cli/fkt_record/output/tail_reserve.h"
#include "lib/base/random.h"
#include "lib/record/machine_sections.h"

namespace fkt::record {
namespace {

constexpr std::uint32_t kPageBytes = 16384;
}  // namespace

Result<std::unique_ptr<UserRecording>> UserRecording::prepare(const Request& request,
                                                              const std::optional<User>& owner) {
  const Result<std::uint64_t> id = random_id();
  if (!id) return id.error();
  OutputPlan plan = request.output;
  plan.owner = owner;
  Result<Output> output = Output::open(plan);
  if (!output) return output.error();
  std::unique_ptr<UserRecording> made(new UserRecording(request, *id, std::move(*output)));
  std::uint64_t limit = request.size.value_or(0);
  if (limit == 0) {
    const auto room = made->output_.room(tail_reserve(1), kTailBytesPerPage, kPageBytes);
    if (!room) return room.error();
    limit = *room;
  }
  made->file_ = std::make_unique<PageFile>(made->output_, limit);
  Result<std::unique_ptr<Collector>> collector =
      Collector::open({*id, kPageBytes, Collector::ring_words(request.pow_pages),
                       owner ? owner->uid : ::getuid(), request.function_rules},
                      made->clock_, *made->file_);
  if (!collector) return collector.error();
  made->collector_ = std::move(*collector);
  return made;
}

UserRecording::UserRecording(const Request& request, std::uint64_t id, Output output)
    : request_(request),
      id_(id),
      output_(std::move(output)),
      clock_(UserClock::usable(request.clock)) {}

std::string UserRecording::variable() const {
  return std::string(FKT_USER_VARIABLE) + '=' + collector_->socket_name();
}

fkt_status UserRecording::status_before() const {
  fkt_status status{};
  status.recording = id_;
  status.page_bytes = kPageBytes;
  status.cpus = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_CONF));
  status.flags = FKT_STATUS_ALL;
  return status;
}

Status UserRecording::write_head(const std::optional<User>& user, pid_t workload) {
  const Asked asked{request_.command, request_.words,    request_.mask, false, FKT_FILTER_NONE, 0,
                    clock_.source(),  request_.pow_pages};
  const fkt_status status = status_before();
  const TaskList tasks = TaskList::all();
  const Result<std::string> none = no_symbols();
  if (!none) return none.error();
  const Result<Sections> sections =
      sections_before({asked, status, [this] { return Result<fkt_clocks>(clock_.read()); }, tasks,
                       *none, user, workload, false, ""});
  if (!sections) return sections.error();
  clocks_at_ = sizeof(fkt_file_header) + sections->next_offset();
  head_ = file_head(id_, kPageBytes, *sections, FKT_FILE_VERSION_PAGES,
                    pages_behind(sections->bytes().size() + kClocksBytes));
  return output_.write_head(head_, clocks_at_);
}

Result<Sections> UserRecording::clocks_section() const {
  fkt_clocks clocks = start_;
  clocks.khz = clock_.read().khz;
  Sections sections;
  const Status added = sections.add(FKT_SEC_CLOCKS, clocks_json(clock_.source(), clocks));
  if (!added) return added.error();
  return sections;
}

Status UserRecording::start() {
  start_ = clock_.read();
  const Result<Sections> clocks = clocks_section();
  if (!clocks) return clocks.error();
  head_.replace(clocks_at_, clocks->bytes().size(), clocks->bytes());
  const Status written = output_.finish_head(head_, clocks_at_);
  if (!written) return written.error();
  return collector_->start(start_.clock);
}

fkt_status UserRecording::status_after(std::uint64_t stop_clock) const {
  const Collected& c = collector_->collected();
  fkt_status status = status_before();
  status.start_clock = start_.clock;
  status.stop_clock = stop_clock;
  status.events = c.events;
  status.lost = c.lost;
  status.discarded = c.discarded;
  status.pages_written = file_->index().size();
  status.bytes_written = file_->bytes();
  status.drain_ns = c.cpu_ns;
  status.error = file_->error();
  status.stop_reason = file_->error() != 0 ? FKT_STOP_ERROR
                       : file_->is_full()  ? FKT_STOP_LIMIT
                                           : FKT_STOP_ASKED;
  return status;
}

Result<Summary> UserRecording::finish(std::optional<int> workload_status,
                                      std::vector<Descendant> descendants) {
  collector_->stop();
  const fkt_clocks end = clock_.read();
  Summary summary;
  summary.status = status_after(end.clock);
  summary.measure(std::chrono::nanoseconds(end.mono_raw_ns - start_.mono_raw_ns), end.khz);
  // What was measured over the whole time is more exact than what was at the start.
  const Result<Sections> clocks = clocks_section();
  if (!clocks) return clocks.error();
  head_.replace(clocks_at_, clocks->bytes().size(), clocks->bytes());
  Status written = output_.finish_head(head_, clocks_at_);
  const CpuStates cpus = collector_->cpus();
  const TaskList list = TaskList::all();
  const std::optional<HitResults> no_hits;
  const Ending ending{.end = end,
                      .cpus = cpus,
                      .task_list = list,
                      .status = summary.status,
                      .mask = request_.mask,
                      .workload_status = workload_status,
                      .descendants = std::move(descendants),
                      .index = file_->index(),
                      .groups = {},
                      .before = {},
                      .snapshots = {},
                      .tasks = collector_->tasks().lines(list.lines()),
                      .definitions = collector_->definitions().lines(),
                      .hits = no_hits};
  const Result<Sections> tail = sections_after(ending);
  if (!tail) return tail.error();
  if (written) written = output_.write_tail(output_.pages_offset() + file_->bytes(), *tail);
  if (!written) return summary.without_tail(written.error(), name());
  return summary;
}

void UserRecording::discard() {
  collector_->stop();
  output_.discard();
}

}  // namespace fkt::record
