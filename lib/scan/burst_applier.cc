// SPDX-License-Identifier: GPL-2.0-only
#include "lib/scan/burst_applier.h"

namespace fkt {

struct BurstApplier::Place {
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
  const TaskIndex index = burst.pid == 0 ? tasks_.find_idle(cpu) : tasks_.find(burst.pid);
  CpuAccounting::Cpu* const known = cpu_accounting_.find(cpu);
  if (index == kNoTask || known == nullptr) return false;
  const std::optional<bool> counts = window_.whole(cpu, burst.from, burst.to);
  if (!counts) return false;
  Place place{index,
              cpu,
              *counts,
              tasks_[index],
              spans_.state(index),
              spans_.cpu(cpu),
              *known,
              cpu_accounting_.times(index),
              loose};
  if (!fits(burst, place)) return false;
  arrive(burst, place);
  if (burst.exits) {
    spend(burst.before, 0, burst.exit, place);
    exit_call(burst, place);
  }
  spend(burst.between, burst.calls, burst.enters ? burst.entry : burst.to, place);
  if (burst.enters) {
    enter_call(burst, place);
    spend(burst.behind, 0, burst.to, place);
  }
  if (burst.leave != 0) leave(burst, place);
  return true;
}

// Returns true if the open spans and the known state of task and CPU allow to apply the burst as a
// whole.
inline bool BurstApplier::fits(const Burst& burst, const Place& place) const {
  const SpanTracker::TaskSpans& task = place.task;
  if ((place.info.freed && place.info.left_dead) || !place.cpu.seen ||
      place.cpu.charged > burst.from) {
    return false;
  }
  if (follows_states_ && place.index != place.cpu.runs.task) return false;
  // While another CPU is in a gap, SpanTracker handles a task that is switched out differently
  // (SpanTracker::begin_gap()).
  if (burst.leave != 0 && spans_.in_gap()) return false;
  // Another task runs than was expected: the CPU's interrupts ended unseen, which only the single
  // events handle.
  if (place.interrupts.depth > 0 && place.index != place.cpu.runs.task &&
      place.index != place.cpu.runs.left) {
    return false;
  }
  // The time of a filtered task's calls is charged to no task.
  if (burst.between.called != 0 && !place.info.member && place.interrupts.depth == 0) return false;
  const std::size_t open = task.stack.depth + place.interrupts.depth;
  const bool ordinary = place.info.member && !place.info.idle;
  if (burst.exits) {
    return ordinary && open == 1 && task.stack.depth == 1 && is_syscall(task.stack.spans[0].kind);
  }
  if (burst.has_fault && task.mode == SpanTracker::Mode::unknown && open == 0) return false;
  if (!burst.has_calls && !burst.enters) return true;
  return ordinary && open == 0 && task.mode == SpanTracker::Mode::user && !task.from_fork &&
         !task.gap;
}

// Charges the time up to the burst's first event, as CpuAccounting::advance() does.
inline void BurstApplier::arrive(const Burst& burst, Place& place) {
  CpuAccounting::Cpu& cpu = place.cpu;
  const CpuRuns::Shown shown = cpu.runs.arrive(place.index);
  if (shown != CpuRuns::Shown::no_change) {
    if (shown != CpuRuns::Shown::new_task) {
      return cpu_accounting_.advance(place.number, burst.from, place.index);
    }
    SpanTracker::resume(place.task, place.number, cpu.last);
    place.times.runs += place.counts;
  }
  if (burst.from > cpu.charged) {
    const std::uint64_t selected = window_.part(place.number, cpu.charged, burst.from);
    give(place, burst.from - cpu.charged, selected);
    cpu.charged = burst.from;
  }
  cpu.last = burst.from;
}

// Adds the time to the innermost span and to the task it ran in; `selected` of the ticks count.
inline void BurstApplier::give(Place& place, std::uint64_t ticks, std::uint64_t selected) {
  // What goes to cpu_accounting_.give() is told by SpanTracker.
  SpanTracker::TaskSpans& task = place.task;
  if (place.interrupts.depth > 0 || !place.info.member) {
    return cpu_accounting_.give(place.number, place.cpu, place.index, ticks, selected);
  }
  if (task.stack.depth > 0) {
    if (is_user(task.stack.top().kind)) {
      return cpu_accounting_.give(place.number, place.cpu, place.index, ticks, selected);
    }
    OpenSpan& call = task.stack.top();
    call.own += ticks;
    call.own_selected += selected;
    place.add(CpuState::system, selected);
    tell(&call, CpuState::system, selected, place);
  } else if (place.info.idle) {
    place.add(CpuState::idle, selected);
  } else if (!place.info.kernel && task.mode == SpanTracker::Mode::user) {
    place.add(CpuState::user, selected);
    tell(nullptr, CpuState::user, selected, place);
  } else {
    cpu_accounting_.give(place.number, place.cpu, place.index, ticks, selected);
  }
}

// Charges the time of a part of the burst that ends at `to` (ticks). calls: time of whole system
// calls in it (ticks).
inline void BurstApplier::spend(const Burst::Part& part, std::uint64_t calls, std::uint64_t to,
                                Place& place) {
  CpuAccounting::Cpu& cpu = place.cpu;
  const std::uint64_t ticks = to - cpu.last;
  cpu.charged = cpu.last = to;
  if (part.end_loose != part.first_loose) add_children(part, place);
  if (ticks == 0) return;
  const std::uint64_t rest = ticks - part.irq - part.softirq - part.called - calls;
  if (place.counts && rest != ticks) {
    place.add(CpuState::irq, part.irq);
    place.add(CpuState::softirq, part.softirq);
    tell(nullptr, CpuState::irq, part.irq + part.softirq, place);
    place.add(CpuState::system, calls);
    if (part.called > 0) add_called(part.called, place);
  }
  if (rest > 0) give(place, rest, place.counts ? rest : 0);
}

inline void BurstApplier::tell(const OpenSpan* call, CpuState state, std::uint64_t ticks,
                               const Place& place) const {
  if (observer_ != nullptr && ticks > 0) [[unlikely]]
    observer_->charge(call, place.index, state, ticks);
}

// Charges the time of what was called outside of the burst's own interrupts.
void BurstApplier::add_called(std::uint64_t ticks, Place& place) {
  const bool interrupt = place.interrupts.depth > 0;
  place.add(interrupt ? SpanTracker::interrupt_state(place.interrupts) : CpuState::system, ticks);
}

// Adds the spans of this part to the children of the innermost open span.
void BurstApplier::add_children(const Burst::Part& part, Place& place) {
  SpanTracker::Stack& around = place.interrupts.depth > 0 ? place.interrupts : place.task.stack;
  if (around.depth == 0) return;
  around.top().sub += part.called;
  for (std::uint32_t i = part.first_loose; i < part.end_loose; i++) {
    const ChildRecord& child = place.loose[i];
    around.top().children.add(child.type, child.count, child.ticks);
  }
}

inline void BurstApplier::exit_call(const Burst& burst, Place& place) {
  SpanTracker::TaskSpans& task = place.task;
  task.stack.depth--;
  if (observer_ != nullptr) {
    SpanPlace end;
    end.clock = burst.exit;
    end.cpu = place.number;
    end.pid = burst.pid;
    end.task = place.index;
    observer_->end(task.stack.spans[task.stack.depth], Outcome::complete, end);
  }
  profile_.closed(task.stack.spans[task.stack.depth], Outcome::complete, burst.exit, place.counts);
  SpanTracker::in_user_mode(task);
}

inline void BurstApplier::enter_call(const Burst& burst, Place& place) {
  OpenSpan& span = place.task.stack.push();
  span.type = burst.entry_type;
  span.kind = burst.entry_kind;
  span.match = burst.entry_number;
  span.begin = burst.entry;
  span.selected = place.counts;
  span.of_cpu = false;
  if (place.counts) profile_.opened(span.type);
}

// The burst's last event, the switch.
inline void BurstApplier::leave(const Burst& burst, Place& place) {
  if (burst.leave == FKT_E_SWITCH_X || burst.leave == FKT_E_SWITCH_Z ||
      place.interrupts.depth > 0) {
    Event event;
    event.clock = burst.to;
    event.cpu = place.number;
    event.pid = burst.pid;
    event.id = burst.leave;
    event.arg = burst.next;
    tasks_.apply(event, place.index);
    SpanStep step;
    spans_.apply(event, place.index, false, step);
  } else {
    place.task.off = SpanTracker::switched_out(burst.leave);
    place.task.since = burst.to;
  }
  // idle() and by_tid() may add a task and so move the array that place.info points into: it must
  // not be used from here on.
  const TaskIndex next = burst.next == 0 ? tasks_.idle(place.number) : tasks_.by_tid(burst.next);
  place.cpu.runs.switches(place.index, next);
}

}  // namespace fkt
