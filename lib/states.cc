// SPDX-License-Identifier: GPL-2.0-only
#include "lib/states.h"

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

// To the innermost span, and to whom it ran for.
void States::give(std::uint32_t number, Cpu& cpu, TaskIndex task, std::uint64_t ticks,
                  std::uint64_t selected) {
  const State state = spans_.charge(number, task, ticks, selected);
  if (selected == 0) return;
  cpu.times[static_cast<std::size_t>(state)] += selected;
  if (state == State::others) return;  // whose time it was is not known
  TaskTimes& own = times(task);
  own.times[static_cast<std::size_t>(state)] += selected;
  if (state != State::running) return;
  if (own.pending.empty() || own.pending.back().first != number) {
    own.pending.push_back({number, 0});
  }
  own.pending.back().second += selected;
}

inline void States::charge(std::uint32_t number, Cpu& cpu, TaskIndex task, std::uint64_t until) {
  if (until <= cpu.charged) return;
  const std::uint64_t selected = window_.part(number, cpu.charged, until);
  give(number, cpu, task, until - cpu.charged, selected);
  cpu.charged = until;
}

void States::charge_unknown(std::uint32_t number, Cpu& cpu, std::uint64_t until, State state) {
  if (until <= cpu.charged) return;
  cpu.times[static_cast<std::size_t>(state)] += window_.part(number, cpu.charged, until);
  cpu.charged = until;
}

void States::used(std::vector<bool>& tasks) const {
  for (const Cpu& cpu : cpus_) {
    for (const TaskIndex task : {cpu.current, cpu.next}) {
      if (task == kNoTask) continue;
      if (task >= tasks.size()) tasks.resize(task + 1);
      tasks[task] = true;
    }
  }
}

void States::save(Cut& cut, const std::vector<std::uint32_t>& numbers) const {
  const auto number = [&](TaskIndex task) { return task == kNoTask ? Cut::kNone : numbers[task]; };
  for (std::uint32_t i = 0; i < cpus_.size(); i++) {
    const Cpu& cpu = cpus_[i];
    if (!cpu.seen) continue;
    Cut::Cpu& saved = cut.cpus.emplace_back();
    saved.cpu = i;
    saved.current = number(cpu.current);
    saved.next = number(cpu.next);
    saved.last = cpu.last;
    saved.charged = cpu.charged;
  }
}

void States::restore(const Cut& cut, const CutPlaces& places) {
  for (Cpu& cpu : cpus_) {
    const StateTimes times = cpu.times;
    const bool counted = cpu.counted || cpu.seen;
    cpu = Cpu{};
    cpu.times = times;
    cpu.counted = counted;
  }
  for (TaskTimes& task : times_) task.pending.clear();
  for (const Cut::Cpu& saved : cut.cpus) {
    if (saved.current == Cut::kNone) continue;
    Cpu& cpu = at(saved.cpu);
    cpu.seen = true;
    cpu.current = places.task(saved.current);
    cpu.next = places.task(saved.next);
    cpu.last = saved.last;
    cpu.charged = saved.charged;
  }
}

void States::advance(std::uint32_t number, std::uint64_t clock, TaskIndex running) {
  Cpu& cpu = at(number);
  if (cpu.seen && running == cpu.current) {  // also an NMI between a switch and its effect
    charge(number, cpu, running, clock);
    cpu.last = clock;
    return;
  }
  if (!cpu.seen) {
    cpu.seen = true;
    cpu.charged = cpu.last = start_;
    charge_unknown(number, cpu, clock, State::unknown);
    cpu.last = clock;
    spans_.resume(running, number, clock);
  } else if (running == cpu.next) {
    spans_.resume(running, number, cpu.last);
    charge(number, cpu, running, clock);
  } else {
    // Somebody else than the last switch said: switches are not recorded, or not this one.
    const bool other = tasks_.filtered() && !tasks_[running].member;
    charge_unknown(number, cpu, clock, other ? State::others : State::unknown);
    spans_.resume(running, number, clock);
  }
  cpu.last = clock;
  cpu.current = running;
  cpu.next = kNoTask;
  if (window_.part(number, clock, clock + 1) != 0) times(running).runs++;
}

void States::gap(const Event& event, TaskIndex running) {
  Cpu& cpu = at(event.cpu);
  const std::uint64_t from = event.words.size() > 1 ? std::min(event.words[1], event.clock) : 0;
  if (!cpu.seen) {
    cpu.seen = true;
    cpu.charged = start_;
  } else {
    charge(event.cpu, cpu, cpu.next != kNoTask ? cpu.next : cpu.current, from);
  }
  charge_unknown(event.cpu, cpu, event.clock, State::unknown);
  spans_.gap(event.cpu, from);
  spans_.resume(running, event.cpu, event.clock);
  cpu.last = event.clock;
  cpu.current = running;
  cpu.next = kNoTask;
}

void States::resolve(TaskIndex task, State state) {
  TaskTimes& own = times(task);
  constexpr auto kRunning = static_cast<std::size_t>(State::running);
  const auto known = static_cast<std::size_t>(state);
  for (const auto& [cpu, ticks] : own.pending) {
    cpus_[cpu].times[kRunning] -= ticks;
    cpus_[cpu].times[known] += ticks;
    own.times[kRunning] -= ticks;
    own.times[known] += ticks;
  }
  own.pending.clear();
}

void States::flush(std::uint64_t clock) {
  for (std::uint32_t number = 0; number < cpus_.size(); number++) {
    Cpu& cpu = cpus_[number];
    if (!cpu.seen) continue;
    charge(number, cpu, cpu.next != kNoTask ? cpu.next : cpu.current, clock);
  }
}

void States::finish(std::uint64_t end,
                    const std::vector<std::pair<std::uint32_t, std::uint64_t>>& unknown_from) {
  for (const auto& [number, from] : unknown_from) {
    Cpu& cpu = at(number);
    if (!cpu.seen) {
      cpu.charged = start_;
    } else {
      charge(number, cpu, cpu.next != kNoTask ? cpu.next : cpu.current, std::min(from, end));
    }
    charge_unknown(number, cpu, end, State::unknown);
  }
  flush(end);
}

}  // namespace fkt
