// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/command_use.h"

#include <algorithm>

namespace fkt {
namespace {

std::uint64_t time_of(const TaskStat& stat) {
  return stat.running + stat.ready + stat.asleep + stat.disk;
}

bool is_longer(const CommandUse::Call& x, const CommandUse::Call& y) {
  return x.ticks != y.ticks ? x.ticks > y.ticks : x.begin < y.begin;
}

}  // namespace

CommandUse::CommandUse(const Analysis& analysis, std::size_t slowest)
    : analysis_(analysis),
      most_(slowest),
      from_(analysis.selection().from.value_or(0)),
      pid_(analysis.info().command.workload_pid != 0 ? analysis.info().command.workload_pid
                                                     : analysis.info().command.filter_pid),
      states_(analysis) {
  states_.keep_times();
  states_.tell([this](TaskIndex task, const TaskActivity::Period& period) { slept(task, period); });
}

bool CommandUse::is_of_command(TaskIndex task) const {
  return task < analysis_.tasks().size() && analysis_.tasks()[task].command;
}

void CommandUse::slept(TaskIndex task, const TaskActivity::Period& period) {
  using Doing = TaskActivity::Doing;
  if (period.doing != Doing::asleep && period.doing != Doing::disk) return;
  if (!is_of_command(task)) return;
  const bool own = !period.by_interrupt && is_of_command(period.waker);
  const Key key = own ? Key{What::waits_own, kNoType, false, TaskActivity::kNoWaker}
                      : Key{What::sleeps, period.call, period.by_interrupt, period.waker};
  sleeps_[key] += period.to - period.from;
  const auto kind = static_cast<std::size_t>(wait_kind(analysis_, period));
  waits_[own ? kWaitKinds : kind] += period.to - period.from;
}

void CommandUse::end(const OpenSpan& span, Outcome outcome, const SpanPosition& place) {
  states_.end(span, outcome, place);
  if (outcome != Outcome::complete || place.clock < from_ || !is_syscall(span.kind)) return;
  const std::uint64_t ticks = place.clock - span.begin;
  if (!wants(ticks) || !is_of_command(place.task)) return;
  Call call{span.begin, ticks, span.type, place.task, {}};
  if (slowest_.size() == most_ && (most_ == 0 || !is_longer(call, slowest_.front()))) return;
  call.name = analysis_.tasks().name(place.task);
  if (slowest_.size() == most_) {
    std::ranges::pop_heap(slowest_, is_longer);
    slowest_.pop_back();
  }
  slowest_.push_back(std::move(call));
  std::ranges::push_heap(slowest_, is_longer);
}

std::size_t CommandUse::tasks() const {
  std::size_t count = 0;
  for (TaskIndex task = 0; task < states_.stats().size(); task++) {
    count += is_of_command(task) && time_of(states_.stats()[task]) > 0;
  }
  return count;
}

std::uint64_t CommandUse::ticks() const {
  std::uint64_t ticks = 0;
  for (TaskIndex task = 0; task < states_.stats().size(); task++) {
    if (is_of_command(task)) ticks += time_of(states_.stats()[task]);
  }
  return ticks;
}

std::vector<CommandUse::Part> CommandUse::parts() const {
  std::map<Key, std::uint64_t> sums = sleeps_;
  const auto plain = [](What what, TypeIndex call) {
    return Key{what, call, false, TaskActivity::kNoWaker};
  };
  for (TaskIndex task = 0; task < states_.stats().size(); task++) {
    if (!is_of_command(task)) continue;
    const TaskStat& stat = states_.stats()[task];
    sums[plain(What::ready, kNoType)] += stat.ready;
    sums[plain(What::interrupts, kNoType)] += stat.interrupts;
    for (const Child& ran : stat.ran_in) sums[plain(What::runs, ran.type)] += ran.ticks;
  }
  std::vector<Part> parts;
  for (const auto& [key, ticks] : sums) {
    const auto& [what, call, by_interrupt, waker] = key;
    if (ticks > 0) parts.push_back({what, call, by_interrupt, waker, ticks});
  }
  std::ranges::stable_sort(parts, std::greater{}, &Part::ticks);
  return parts;
}

std::vector<CommandUse::Call> CommandUse::slowest() const {
  std::vector<Call> calls = slowest_;
  std::ranges::sort(calls, is_longer);
  return calls;
}

}  // namespace fkt
