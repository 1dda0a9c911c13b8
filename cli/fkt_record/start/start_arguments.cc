// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/start/start_arguments.h"

#include "cli/fkt_record/output/tail_reserve.h"
#include "lib/base/parse.h"
#include "lib/base/read_file.h"

namespace fkt::record {
namespace {

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

StartArguments::StartArguments(const StartPlan& plan) {
  start_.abi = FKT_ABI_VERSION;
  start_.size = sizeof start_;
  start_.out_fd = -1;
  start_.flags = plan.flags;
  start_.mask = plan.mask;
  start_.recording = plan.recording;
  start_.clock = plan.clock;
  start_.filter = plan.filter;
  start_.filter_pid = plan.filter_pid;
}

Status StartArguments::set_trigger(const Expression& when, double ticks_per_second) {
  trigger_ = std::make_unique<Trigger>(
      FKT_TRY(compile_trigger(when, {start_.mask, ticks_per_second, most_thread_numbers()})));
  start_.trigger = reinterpret_cast<std::uintptr_t>(&trigger_->head);
  return Done{};
}

void StartArguments::set_instruments(const InstrumentSetup& setup) {
  start_.instruments = reinterpret_cast<std::uintptr_t>(&setup.arguments());
}

void StartArguments::set_drain(const DrainPlan& plan, const Output& output, std::uint64_t limit,
                               std::uint32_t cpus) {
  start_.limit = limit;
  // Without a descriptor this process copies the pages, and the module needs to know no more.
  if (!plan.pages) return;
  start_.out_fd = plan.pages.get();
  start_.flags |= FKT_START_ENGINE(plan.engine);
  start_.offset = output.pages_offset();
  start_.reserve = tail_reserve(cpus);
  start_.reserve_per_page = kTailBytesPerPage;
}

void StartArguments::lend(const Output* fallback) {
  start_.flags |= FKT_START_ENGINE(FKT_ENGINE_URING);
  if (fallback == nullptr) return;
  for (const auto access : {Output::Access::direct, Output::Access::cached}) {
    Result<UniqueFd> pages = fallback->open_for_pages(access);
    if (pages && !fallback_) fallback_ = std::move(*pages);
  }
  if (!fallback_) return;
  start_.out_fd = fallback_.get();
  start_.offset = fallback->pages_offset();
}

}  // namespace fkt::record
