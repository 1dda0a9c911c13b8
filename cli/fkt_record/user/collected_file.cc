// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/collected_file.h"

#include <unistd.h>

#include <utility>

#include "cli/fkt_record/output/tail_reserve.h"
#include "cli/fkt_record/sections/symbol_reader.h"
#include "lib/record/machine_sections.h"

namespace fkt::record {

CollectedFile::CollectedFile(const Plan& plan, Output output)
    : rules_(plan.rules), output_(std::move(output)), clock_(plan.clock) {}

Result<std::unique_ptr<CollectedFile>> CollectedFile::prepare(const Plan& plan) {
  auto output = FKT_TRY(Output::open(plan.output));
  std::unique_ptr<CollectedFile> made(new CollectedFile(plan, std::move(output)));
  std::uint64_t limit = plan.limit;
  if (limit == 0) {
    const auto room =
        FKT_TRY(made->output_.room(tail_reserve(1), kTailBytesPerPage, plan.rules.page_bytes));
    limit = room;
  }
  made->file_ = std::make_unique<PageFile>(made->output_, limit);
  made->collector_ = FKT_TRY(Collector::open(plan.rules, made->clock_, *made->file_));
  return made;
}

std::string CollectedFile::variable() const {
  return std::string(FKT_USER_VARIABLE) + '=' + collector_->socket_name();
}

fkt_status CollectedFile::status_before() const {
  fkt_status status{};
  status.recording = rules_.recording;
  status.page_bytes = rules_.page_bytes;
  status.cpus = static_cast<std::uint32_t>(::sysconf(_SC_NPROCESSORS_CONF));
  status.flags = FKT_STATUS_ALL;
  return status;
}

Status CollectedFile::write_head(const RecordingFacts& asked, const TaskList& tasks,
                                 const std::optional<User>& user, pid_t workload) {
  const auto none = FKT_TRY(no_symbols());
  const fkt_status status = status_before();
  const auto sections =
      FKT_TRY(sections_before({asked, status, [this] { return Result<fkt_clocks>(clock_.read()); },
                               tasks, none, user, workload, false, ""}));
  clocks_at_ = sizeof(fkt_file_header) + sections.next_offset();
  head_ = file_head(rules_.recording, rules_.page_bytes, sections, FKT_FILE_VERSION_PAGES,
                    pages_behind(sections.bytes().size() + kClocksBytes));
  return output_.write_head(head_, clocks_at_);
}

Result<Sections> CollectedFile::clocks_section() const {
  fkt_clocks clocks = start_;
  clocks.khz = clock_.read().khz;
  Sections sections;
  FKT_TRY(sections.add(FKT_SEC_CLOCKS, clocks_json(clock_.source(), clocks)));
  return sections;
}

Status CollectedFile::write_clocks() {
  const auto clocks = FKT_TRY(clocks_section());
  head_.replace(clocks_at_, clocks.bytes().size(), clocks.bytes());
  return output_.finish_head(head_, clocks_at_);
}

Status CollectedFile::start(const fkt_clocks& start) {
  start_ = start;
  FKT_TRY(write_clocks());
  return collector_->start(start_.clock);
}

fkt_status CollectedFile::status(std::uint64_t stop_clock) const {
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

Status CollectedFile::finish(End end) {
  // What was measured over the whole time is more exact than what was at the start.
  FKT_TRY(write_clocks());
  const CpuStates cpus = collector_->cpus();
  const TaskList list = TaskList::all();
  const std::optional<HitResults> no_hits;
  const auto tail = FKT_TRY(sections_after({.end = end.clocks,
                                            .cpus = cpus,
                                            .task_list = list,
                                            .status = end.status,
                                            .mask = end.mask,
                                            .workload_status = end.workload_status,
                                            .descendants = std::move(end.descendants),
                                            .index = file_->index(),
                                            .groups = {},
                                            .before = {},
                                            .snapshots = {},
                                            .tasks = collector_->tasks().lines(list.lines()),
                                            .definitions = definitions(),
                                            .hits = no_hits}));
  return output_.write_tail(output_.pages_offset() + file_->bytes(), tail);
}

void CollectedFile::discard() {
  collector_->stop();
  output_.discard();
}

}  // namespace fkt::record
