// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/cpu_accounting.h"

#include <algorithm>

namespace fkt {

std::uint64_t Window::inside(std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t sum = 0;
  auto part = std::ranges::upper_bound(parts, begin, {}, &Interval::to);
  for (; part != parts.end() && part->from < end; ++part) {
    sum += std::min(end, part->to) - std::max(begin, part->from);
  }
  return sum;
}

void CpuAccounting::give(std::uint32_t number, Cpu& cpu, TaskIndex task, std::uint64_t ticks,
                         std::uint64_t selected) {
  const CpuState state = spans_.charge(number, task, ticks, selected);
  book(number, cpu, times(task), state, selected);
}

inline void CpuAccounting::charge(std::uint32_t number, Cpu& cpu, TaskIndex task,
                                  std::uint64_t until) {
  if (until <= cpu.charged) return;
  const std::uint64_t selected = window_.part(number, cpu.charged, until);
  give(number, cpu, task, until - cpu.charged, selected);
  cpu.charged = until;
}

void CpuAccounting::charge_unknown(std::uint32_t number, Cpu& cpu, std::uint64_t until,
                                   CpuState state) {
  if (until <= cpu.charged) return;
  cpu.times[static_cast<std::size_t>(state)] += window_.part(number, cpu.charged, until);
  cpu.charged = until;
}

void CpuAccounting::used(std::vector<bool>& tasks) const {
  for (const Cpu& cpu : cpus_) {
    for (const TaskIndex task : {cpu.runs.task, cpu.runs.left}) {
      if (task == kNoTask) continue;
      if (task >= tasks.size()) tasks.resize(task + 1);
      tasks[task] = true;
    }
  }
}

void CpuAccounting::save(Checkpoint& checkpoint, const std::vector<std::uint32_t>& numbers) const {
  const auto number = [&](TaskIndex task) {
    return task == kNoTask ? Checkpoint::kNone : numbers[task];
  };
  for (std::uint32_t i = 0; i < cpus_.size(); i++) {
    const Cpu& cpu = cpus_[i];
    if (!cpu.seen || cpu.runs.in_gap)
      continue;  // in a gap nothing is known that the checkpoint could keep
    Checkpoint::Cpu& saved = checkpoint.cpus.emplace_back();
    saved.cpu = i;
    saved.current = number(cpu.runs.named());
    saved.next = number(cpu.runs.next());
    saved.last = cpu.last;
    saved.charged = cpu.charged;
  }
}

void CpuAccounting::restore(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  for (Cpu& cpu : cpus_) {
    const CpuStateTimes times = cpu.times;
    const bool counted = cpu.counted || cpu.seen;
    cpu = Cpu{};
    cpu.times = times;
    cpu.counted = counted;
  }
  for (TaskTimes& task : times_) task.pending.clear();
  for (const Checkpoint::Cpu& saved : checkpoint.cpus) {
    if (saved.current == Checkpoint::kNone) continue;
    Cpu& cpu = at(saved.cpu);
    cpu.seen = true;
    cpu.runs.runs(places.task(saved.current));
    const TaskIndex next = places.task(saved.next);
    if (next != kNoTask) cpu.runs.switches(cpu.runs.task, next);
    cpu.last = saved.last;
    cpu.charged = saved.charged;
  }
}

void CpuAccounting::advance(std::uint32_t number, std::uint64_t clock, TaskIndex running) {
  Cpu& cpu = at(number);
  const CpuRuns::Shown shown = cpu.runs.arrive(running);
  if (shown == CpuRuns::Shown::no_change) {
    charge(number, cpu, running, clock);
    cpu.last = clock;
    return;
  }
  if (!cpu.seen) {
    cpu.seen = true;
    cpu.charged = cpu.last = start_;
    charge_unknown(number, cpu, clock, CpuState::unknown);
    cpu.last = clock;
    spans_.resume(running, number, clock);
  } else if (shown == CpuRuns::Shown::new_task) {
    spans_.resume(running, number, cpu.last);
    charge(number, cpu, running, clock);
  } else {
    // Not the task that the last switch named: switches are not recorded, or this one is not. An
    // interrupt that is still open ended before the switch.
    if (cpu.runs.in_gap) spans_.end_gap();
    spans_.end_interrupts(number);
    const bool other = tasks_.filtered() && !tasks_[running].member;
    charge_unknown(number, cpu, clock, other ? CpuState::others : CpuState::unknown);
    spans_.resume(running, number, clock);
  }
  cpu.last = clock;
  cpu.runs.runs(running);
  if (window_.part(number, clock, clock + 1) != 0) times(running).runs++;
}

// Adds the time to the task that runs on the CPU, as far as it is known.
void CpuAccounting::charge_current(std::uint32_t number, Cpu& cpu, std::uint64_t until) {
  if (cpu.runs.in_gap) return charge_unknown(number, cpu, until, CpuState::unknown);
  charge(number, cpu, cpu.runs.task, until);
}

void CpuAccounting::begin_gap(std::uint32_t number, std::uint64_t clock) {
  Cpu& cpu = at(number);
  if (!cpu.seen) {
    cpu.seen = true;
    cpu.charged = cpu.last = start_;
    charge_unknown(number, cpu, clock, CpuState::unknown);
  } else {
    charge_current(number, cpu, clock);
  }
  const bool known = cpu.runs.in_gap;
  cpu.runs.begin_gap();
  spans_.begin_gap(number, running_elsewhere(cpus_, &Cpu::runs, number, tasks_.size()), known);
}

void CpuAccounting::end_gap(std::uint32_t number, std::uint64_t clock, TaskIndex running) {
  Cpu& cpu = at(number);
  if (!cpu.runs.in_gap) return;
  charge_unknown(number, cpu, clock, CpuState::unknown);
  spans_.end_gap();
  spans_.resume(running, number, clock);
  cpu.last = clock;
  cpu.runs.runs(running);
}

void CpuAccounting::resolve(TaskIndex task, CpuState state) {
  TaskTimes& own = times(task);
  constexpr auto kRunning = static_cast<std::size_t>(CpuState::running);
  const auto known = static_cast<std::size_t>(state);
  for (const auto& [cpu, ticks] : own.pending) {
    cpus_[cpu].times[kRunning] -= ticks;
    cpus_[cpu].times[known] += ticks;
    own.times[kRunning] -= ticks;
    own.times[known] += ticks;
  }
  own.pending.clear();
}

void CpuAccounting::flush(std::uint64_t clock) {
  for (std::uint32_t number = 0; number < cpus_.size(); number++) {
    Cpu& cpu = cpus_[number];
    if (cpu.seen) charge_current(number, cpu, clock);
  }
}

void CpuAccounting::finish(std::uint64_t end, const UnknownEnds& unknown) {
  for (const auto& [number, from] : unknown.cpus()) {
    Cpu& cpu = at(number);
    if (!cpu.seen) {
      cpu.charged = start_;
    } else {
      charge_current(number, cpu, std::min(from, end));
    }
    charge_unknown(number, cpu, end, CpuState::unknown);
  }
  flush(end);
}

}  // namespace fkt
