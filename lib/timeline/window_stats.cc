// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/window_stats.h"

#include <algorithm>

namespace fkt {
namespace {

template <class T>
T& element(std::vector<T>& vector, std::size_t index) {
  if (index >= vector.size()) vector.resize(index + 1);
  return vector[index];
}

}  // namespace

void WindowStats::add_duration(TypeIndex type, std::uint64_t ticks) {
  SpanStats& stats = element(types_, type);
  stats.total.add(ticks);
  stats.times.add(ticks);
}

void WindowStats::slice(const Slice& slice) {
  const std::uint64_t from = std::max(slice.from, from_), to = std::min(slice.to, to_);
  if (to < from) return;
  switch (slice.kind) {
    case SliceKind::run:
      if (tasks_[slice.task].member) {
        OfCpu& cpu = element(cpus_, slice.cpu);
        (tasks_[slice.task].idle ? cpu.idle : cpu.busy) += to - from;
      }
      break;
    case SliceKind::interrupt:
      if (slice.depth == 1) {
        OfCpu& cpu = element(cpus_, slice.cpu);
        cpu.interrupts += to - from;
        if (tasks_[slice.task].member) {
          (tasks_[slice.task].idle ? cpu.idle : cpu.busy) -= to - from;
        }
      }
      [[fallthrough]];
    case SliceKind::async:
    case SliceKind::call:
      if (slice.begun && slice.ended && slice.told >= from_) {
        add_duration(slice.value, slice.to - slice.from);
      }
      break;
    case SliceKind::state:
      add_state(slice);
      break;
  }
}

void WindowStats::event(const Event& event, TaskIndex, const SpanStep&) {
  if (event.clock >= from_) events_ += event.counts();
}

void WindowStats::take(Analysis& analysis) {
  const Profile& profile = analysis.profile();
  events_ = profile.events();
  for (TypeIndex type = 0; type < analysis.types().size(); type++) {
    if (profile.stats(type).total.count == 0) continue;
    SpanStats& stats = element(types_, type);
    stats.total = profile.stats(type).total;
    stats.times = analysis.take_times(type);
  }
  const auto of = [](const CpuStateTimes& times, CpuState state) {
    return times[static_cast<std::size_t>(state)];
  };
  const auto ran = [&](const CpuStateTimes& times) {
    return of(times, CpuState::user) + of(times, CpuState::system) + of(times, CpuState::running);
  };
  for (std::uint32_t number = 0; number < analysis.cpu_accounting().cpus(); number++) {
    const CpuStateTimes& times = analysis.cpu_accounting().cpu(number);
    const TaskIndex idle = analysis.tasks().find_idle(number);
    // Calls of the idle task count as system time in the analysis, and as idle time here.
    const std::uint64_t calls = idle == kNoTask ? 0 : ran(analysis.cpu_accounting().task(idle));
    OfCpu& cpu = element(cpus_, number);
    cpu.busy = ran(times) - calls;
    cpu.idle = of(times, CpuState::idle) + calls;
    cpu.interrupts = of(times, CpuState::irq) + of(times, CpuState::softirq);
  }
  for (TaskIndex task = 0; task < analysis.tasks().size(); task++) {
    const CpuStateTimes& times = analysis.cpu_accounting().task(task);
    const std::uint64_t ticks =
        ran(times) + of(times, CpuState::irq) + of(times, CpuState::softirq);
    if (ticks > 0) element(by_task_, task).states[static_cast<int>(TaskState::running)] = ticks;
  }
}

std::vector<WindowStats::OfCpu> WindowStats::cpus() const {
  std::vector<OfCpu> cpus = cpus_;
  for (OfCpu& cpu : cpus) cpu.unknown = to_ - from_ - cpu.busy - cpu.idle - cpu.interrupts;
  return cpus;
}

}  // namespace fkt
