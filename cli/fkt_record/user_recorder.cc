// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user_recorder.h"

#include <unistd.h>

#include "lib/base/random.h"

namespace fkt::record {
namespace {

constexpr std::uint32_t kPageBytes = FKT_PAGE_MAX_BYTES;
}  // namespace

Result<std::unique_ptr<UserRecorder>> UserRecorder::prepare(const Request& request,
                                                            const std::optional<User>& owner) {
  const auto id = FKT_TRY(random_id());
  OutputPlan output = request.output;
  output.owner = owner;
  auto file =
      FKT_TRY(CollectedFile::prepare({{id, kPageBytes, Collector::ring_words(request.pow_pages),
                                       owner ? owner->uid : ::getuid(), request.function_rules},
                                      std::move(output),
                                      UserClock::usable(request.clock),
                                      request.size.value_or(0)}));
  return std::unique_ptr<UserRecorder>(new UserRecorder(request, std::move(file)));
}

Status UserRecorder::write_head(const std::optional<User>& user, pid_t workload) {
  const RecordingFacts asked{
      request_.command,      request_.words,    request_.mask, false, FKT_FILTER_NONE, 0,
      file_->clock_source(), request_.pow_pages};
  return file_->write_head(asked, TaskList::all(), user, workload);
}

Status UserRecorder::start() {
  start_ = file_->clocks();
  return file_->start(start_);
}

Status UserRecorder::stop() {
  file_->stop();
  end_ = file_->clocks();
  return Done{};
}

Result<EndSummary> UserRecorder::finish(std::optional<int> workload_status,
                                        std::vector<Descendant> descendants, int) {
  EndSummary summary;
  summary.status = file_->status(end_.clock);
  summary.measure(std::chrono::nanoseconds(end_.mono_raw_ns - start_.mono_raw_ns), end_.khz);
  const Status written =
      file_->finish({end_, summary.status, request_.mask, workload_status, std::move(descendants)});
  if (!written) return summary.without_tail(written.error(), name());
  return summary;
}

}  // namespace fkt::record
