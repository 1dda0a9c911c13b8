// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/burst_applier.h"

namespace fkt {

struct BurstApplier::Target {
  TaskIndex index;
  std::uint32_t number;  // of the CPU
  bool counts;
  const TaskInfo& info;
  SpanTracker::TaskSpans& task;
  SpanTracker::Stack& interrupts;
  CpuAccounting::Cpu& cpu;
  CpuAccounting::TaskTimes& times;
  std::span<const ChildRecord> loose;

  void add(CpuState state, std::uint64_t ticks) {
    cpu.times[static_cast<std::size_t>(state)] += ticks;
    times.times[static_cast<std::size_t>(state)] += ticks;
  }
};

bool BurstApplier::apply(const Burst& burst, std::uint32_t cpu,
                         std::span<const ChildRecord> loose) {
  if (!analysis_.last_.knows(cpu)) return false;
  const TaskIndex index = burst.pid == 0 ? tasks_.find_idle(cpu) : tasks_.find(burst.pid);
  CpuAccounting::Cpu* const known = cpu_accounting_.find(cpu);
  if (index == kNoTask || known == nullptr) return false;
  const std::optional<bool> counts = window_.whole(cpu, burst.from, burst.to);
  if (!counts) return false;
  Target target{index,
                cpu,
                *counts,
                tasks_[index],
                spans_.state(index),
                spans_.cpu(cpu),
                *known,
                cpu_accounting_.times(index),
                loose};
  if (!fits(burst, target)) return false;
  arrive(burst, target);
  if (burst.exits) {
    spend(burst.before, 0, burst.exit, target);
    exit_call(burst, target);
  }
  spend(burst.between, burst.calls, burst.enters ? burst.entry : burst.to, target);
  if (burst.enters) {
    enter_call(burst, target);
    spend(burst.behind, 0, burst.to, target);
  }
  if (burst.leave != 0) leave(burst, target);
  analysis_.last_.add(cpu, burst.to, burst.events);
  analysis_.end_ = std::max(analysis_.end_, burst.to);
  return true;
}

// Returns true if the open spans and the known state of task and CPU allow to apply the burst as a
// whole.
inline bool BurstApplier::fits(const Burst& burst, const Target& target) const {
  const SpanTracker::TaskSpans& task = target.task;
  if ((target.info.freed && target.info.left_dead) || !target.cpu.seen ||
      target.cpu.charged > burst.from) {
    return false;
  }
  if (follows_states_ && target.index != target.cpu.runs.task) return false;
  // While another CPU is in a gap, SpanTracker handles a task that is switched out differently
  // (SpanTracker::begin_gap()).
  if (burst.leave != 0 && spans_.in_gap()) return false;
  // Another task runs than the known one, so the CPU's interrupts have ended unseen: this is
  // handled only event by event.
  if (target.interrupts.depth > 0 && target.index != target.cpu.runs.task &&
      target.index != target.cpu.runs.left) {
    return false;
  }
  // The time of a filtered task's calls is charged to no task.
  if (burst.between.called != 0 && !target.info.member && target.interrupts.depth == 0)
    return false;
  const std::size_t open = task.stack.depth + target.interrupts.depth;
  const bool ordinary = target.info.member && !target.info.idle;
  if (burst.exits) {
    return ordinary && open == 1 && task.stack.depth == 1 && is_syscall(task.stack.spans[0].kind);
  }
  if (burst.has_fault && task.mode == SpanTracker::Mode::unknown && open == 0) return false;
  if (!burst.has_calls && !burst.enters) return true;
  return ordinary && open == 0 && task.mode == SpanTracker::Mode::user && !task.from_fork &&
         !task.gap;
}

// Charges the time up to the burst's first event, as CpuAccounting::advance() does.
inline void BurstApplier::arrive(const Burst& burst, Target& target) {
  CpuAccounting::Cpu& cpu = target.cpu;
  const CpuRuns::Shown shown = cpu.runs.arrive(target.index);
  if (shown != CpuRuns::Shown::no_change) {
    if (shown != CpuRuns::Shown::new_task) {
      return cpu_accounting_.advance(target.number, burst.from, target.index);
    }
    SpanTracker::resume(target.task, target.number, cpu.last);
    target.times.runs += target.counts;
  }
  if (burst.from > cpu.charged) {
    const std::uint64_t selected = window_.part(target.number, cpu.charged, burst.from);
    give(target, burst.from - cpu.charged, selected);
    cpu.charged = burst.from;
  }
  cpu.last = burst.from;
}

// Adds the time to the innermost span and to the task it ran in; `selected` of the ticks count.
inline void BurstApplier::give(Target& target, std::uint64_t ticks, std::uint64_t selected) {
  // Time that goes to cpu_accounting_.give() is reported by SpanTracker.
  SpanTracker::TaskSpans& task = target.task;
  if (target.interrupts.depth > 0 || !target.info.member) {
    return cpu_accounting_.give(target.number, target.cpu, target.index, ticks, selected);
  }
  if (task.stack.depth > 0) {
    if (is_user(task.stack.top().kind)) {
      return cpu_accounting_.give(target.number, target.cpu, target.index, ticks, selected);
    }
    OpenSpan& call = task.stack.top();
    call.self += ticks;
    call.self_selected += selected;
    target.add(CpuState::system, selected);
    tell(&call, CpuState::system, selected, target);
  } else if (target.info.idle) {
    target.add(CpuState::idle, selected);
  } else if (!target.info.kernel && task.mode == SpanTracker::Mode::user) {
    target.add(CpuState::user, selected);
    tell(nullptr, CpuState::user, selected, target);
  } else {
    cpu_accounting_.give(target.number, target.cpu, target.index, ticks, selected);
  }
}

// Charges the time of a part of the burst that ends at `to` (ticks). calls: time of whole system
// calls in it (ticks).
inline void BurstApplier::spend(const Burst::Part& part, std::uint64_t calls, std::uint64_t to,
                                Target& target) {
  CpuAccounting::Cpu& cpu = target.cpu;
  const std::uint64_t ticks = to - cpu.last;
  cpu.charged = cpu.last = to;
  if (part.end_loose != part.first_loose) add_children(part, target);
  if (ticks == 0) return;
  const std::uint64_t rest = ticks - part.irq - part.softirq - part.called - calls;
  if (target.counts && rest != ticks) {
    target.add(CpuState::irq, part.irq);
    target.add(CpuState::softirq, part.softirq);
    tell(nullptr, CpuState::irq, part.irq + part.softirq, target);
    target.add(CpuState::system, calls);
    if (part.called > 0) add_called(part.called, target);
  }
  if (rest > 0) give(target, rest, target.counts ? rest : 0);
}

inline void BurstApplier::tell(const OpenSpan* call, CpuState state, std::uint64_t ticks,
                               const Target& target) const {
  if (observer_ != nullptr && ticks > 0) [[unlikely]]
    observer_->charge(call, target.index, state, ticks);
}

// Charges the time of what was called outside of the burst's own interrupts.
void BurstApplier::add_called(std::uint64_t ticks, Target& target) {
  const bool interrupt = target.interrupts.depth > 0;
  target.add(interrupt ? SpanTracker::interrupt_state(target.interrupts) : CpuState::system, ticks);
}

// Adds the spans of this part to the children of the innermost open span.
void BurstApplier::add_children(const Burst::Part& part, Target& target) {
  SpanTracker::Stack& around = target.interrupts.depth > 0 ? target.interrupts : target.task.stack;
  if (around.depth == 0) return;
  around.top().sub += part.called;
  for (std::uint32_t i = part.first_loose; i < part.end_loose; i++) {
    const ChildRecord& child = target.loose[i];
    around.top().children.add(child.type, child.count, child.ticks);
  }
}

inline void BurstApplier::exit_call(const Burst& burst, Target& target) {
  SpanTracker::TaskSpans& task = target.task;
  task.stack.depth--;
  if (observer_ != nullptr) {
    SpanPosition end;
    end.clock = burst.exit;
    end.cpu = target.number;
    end.pid = burst.pid;
    end.task = target.index;
    observer_->end(task.stack.spans[task.stack.depth], Outcome::complete, end);
  }
  profile_.closed(task.stack.spans[task.stack.depth], Outcome::complete, burst.exit, target.counts);
  SpanTracker::in_user_mode(task);
}

inline void BurstApplier::enter_call(const Burst& burst, Target& target) {
  OpenSpan& span = target.task.stack.push();
  span.type = burst.entry_type;
  span.kind = burst.entry_kind;
  span.match = burst.entry_number;
  span.begin = burst.entry;
  span.selected = target.counts;
  span.of_cpu = false;
  if (target.counts) profile_.opened(span.type);
}

// The burst's last event, the switch.
inline void BurstApplier::leave(const Burst& burst, Target& target) {
  if (burst.leave == FKT_E_SWITCH_X || burst.leave == FKT_E_SWITCH_Z ||
      target.interrupts.depth > 0) {
    Event event;
    event.clock = burst.to;
    event.cpu = target.number;
    event.pid = burst.pid;
    event.id = burst.leave;
    event.arg = burst.next;
    tasks_.apply(event, target.index);
    SpanStep step;
    spans_.apply(event, target.index, false, step);
  } else {
    target.task.off = SpanTracker::switched_out(burst.leave);
    target.task.since = burst.to;
  }
  // idle() and by_tid() may add a task and so move the array that target.info points into: it must
  // not be used from here on.
  const TaskIndex next = burst.next == 0 ? tasks_.idle(target.number) : tasks_.by_tid(burst.next);
  target.cpu.runs.switches(target.index, next);
}

}  // namespace fkt
