// SPDX-License-Identifier: GPL-2.0-only
// The start of class Recording, with all arguments of FKT_START.
#include "cli/fkt_record/recording.h"

#include <fcntl.h>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "cli/fkt_record/output/tail_reserve.h"
#include "lib/base/parse.h"
#include "lib/record/condition_compiler.h"
#include "lib/record/machine_sections.h"

namespace fkt::record {
namespace {

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

// Upper bound of thread ids (exclusive): the value of pid_max.
std::uint32_t most_thread_numbers() {
  constexpr std::uint32_t kMost = 1U << FKT_PID_BITS;
  const Result<std::string> text = read_file("/proc/sys/kernel/pid_max");
  std::uint64_t number = 0;
  const bool known = text && parse_number(text->substr(0, text->find('\n')), number) &&
                     number > 0 && number < kMost;
  return known ? static_cast<std::uint32_t>(number) : kMost;
}

}  // namespace

// Opens the descriptor to which the module writes a flight recorder's pages if this process is
// killed. Not with -z, because the module cannot write groups.
void Recording::open_fallback_output(const DrainPlan& plan) {
  if (plan.engine != FKT_ENGINE_LEND || !is_flight() || !has_room() || request_->level) return;
  for (const auto access : {Output::Access::direct, Output::Access::cached}) {
    Result<UniqueFd> pages = output_.open_for_pages(access);
    if (pages && !fallback_output_) fallback_output_ = std::move(*pages);
  }
}

// Compiles --snapshot-when into the module's form.
Status Recording::make_condition() {
  if (!request_->snapshot_when) return Done{};
  if (!snapshot_rules_) {
    return Error{ErrorCode::io, "--snapshot-when: " + without_snapshots()};
  }
  const Result<fkt_clocks> clocks = device_.clocks(request_->clock);
  if (!clocks) return clocks.error();
  const double ticks_per_second = static_cast<double>(clocks->khz) * 1000;
  const Result<fkt_when> when = compile_condition(
      *request_->snapshot_when, {request_->mask, ticks_per_second, most_thread_numbers()});
  if (!when) return when.error();
  when_ = std::make_unique<fkt_when>(*when);
  snapshot_rules_->ticks_per_second = ticks_per_second;
  return Done{};
}

Result<fkt_start> Recording::start_arguments(const DrainPlan& plan) const {
  fkt_start start{};
  start.abi = FKT_ABI_VERSION;
  start.size = sizeof start;
  start.out_fd = plan.pages ? plan.pages.get() : -1;
  start.flags = (request_->args ? FKT_START_ARGS : 0) | (request_->pairs ? 0 : FKT_START_NO_PAIRS) |
                flow_flag(request_->when_full);
  start.mask = request_->mask;
  start.recording = recording_;
  start.clock = request_->clock;
  start.filter = request_->filter;
  start.filter_pid = request_->filter_pid;
  start.when = reinterpret_cast<std::uintptr_t>(when_.get());
  if (instruments_) {
    start.calls = reinterpret_cast<std::uintptr_t>(instruments_->calls());
    start.points = reinterpret_cast<std::uintptr_t>(instruments_->points());
  }
  if (plan.engine == FKT_ENGINE_LEND) {
    start.flags |= FKT_START_ENGINE(plan.engine);
    if (fallback_output_) start.out_fd = fallback_output_.get();
    if (fallback_output_) start.offset = output_.pages_offset();
    return start;  // the sink checks the limit
  }
  const Result<std::uint64_t> limit = limit_bytes();
  if (!limit) return limit.error();
  start.limit = *limit;
  if (!plan.pages) return start;
  start.flags |= FKT_START_ENGINE(plan.engine);
  start.offset = output_.pages_offset();
  start.reserve = tail_reserve(cpus_);
  start.reserve_per_page = kTailBytesPerPage;
  return start;
}

Status Recording::start() {
  Result<DrainPlan> plan = choose_drain(output_, engine_);
  if (!plan) return plan.error();
  if (engine_ != request_->engine) plan->why = "for snapshots of what the flight recorder keeps";
  if (plan->engine == FKT_ENGINE_FETCH) {
    ::fcntl(device_.fd(), F_SETFL, O_RDWR | O_NONBLOCK);
    const Status at_pages = output_.seek_to_pages();
    if (!at_pages) return at_pages;
    stream_.emplace(device_.fd(), output_.fd(), output_.name());
  }
  open_fallback_output(*plan);
  const Status condition = make_condition();
  if (!condition) return condition;
  const Result<fkt_start> arguments = start_arguments(*plan);
  if (!arguments) return arguments.error();
  if (request_->verbose) cli::warn("engine " + how(*plan));
  started_ = std::chrono::steady_clock::now();
  const Status started = device_.start(*arguments);
  if (!started) return started;
  running_ = true;
  const Status clocks = write_start_clocks();
  if (!clocks) return clocks;
  if (rotation_) rotation_->start();
  if (snapshot_rules_) {
    snapshots_ = std::make_unique<Snapshots>(
        SnapshotsPlan{output_plan_, request_->snapshots, request_->snapshot_after, request_->quiet},
        std::move(*snapshot_rules_));
    snapshot_rules_.reset();
  } else if (sink()) {
    const Status drains = start_drain();
    if (!drains) return drains;
  }
  return start_syncer();
}

Status Recording::start_drain() {
  Result<std::unique_ptr<LentDrain>> drain = LentDrain::start(device_.fd(), page_bytes_, *sink());
  if (!drain) return drain.error();
  drain_ = std::move(*drain);
  return Done{};
}

std::string Recording::how(const DrainPlan& plan) const {
  const std::string text = std::string(engine_name(plan.engine)) + ": " + plan.why;
  return sink_ ? text + ", by " + sink_->how() : text;
}

Status Recording::start_syncer() {
  // A flight recorder writes only at its end, and fdatasync(2) of a stream is up to its reader.
  if (!has_room() || request_->sync.count() == 0 || is_flight()) return Done{};
  const auto written = [this]() -> std::uint64_t {
    const Result<fkt_status> status = device_.status();
    return status ? status->pages_written : 0;
  };
  const auto tell = [this](std::uint64_t pages) {
    if (request_->verbose) cli::warn(cli::with_commas(pages) + " pages are safe on the disk");
  };
  const auto sync = [this] {
    if (rotation_) return rotation_->sync();
    return ::fdatasync(output_.fd()) == 0 ? 0 : errno;
  };
  Result<std::unique_ptr<DiskSyncer>> syncer =
      DiskSyncer::start(sync, request_->sync, written, tell);
  if (!syncer) return syncer.error();
  syncer_ = std::move(*syncer);
  return Done{};
}

}  // namespace fkt::record
