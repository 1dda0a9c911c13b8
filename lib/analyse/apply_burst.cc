// SPDX-License-Identifier: GPL-2.0-only
// How a burst (lib/analyse/burst.h) is applied in one step. What each class does of it is here
// together, because then it becomes one function, and what it needs is looked up once.
#include <algorithm>

#include "lib/analyse/analysis.h"

namespace fkt {

// The spans that are open in the burst's task and on its CPU.
class SpanTracker::InBurst {
 public:
  InBurst(SpanTracker& spans, const BurstAt& at)
      : spans_(spans),
        at_(at),
        info_(spans.table_[at.task]),
        task_(spans.state(at.task)),
        interrupts_(spans.cpu(at.cpu)) {}

  // Returns true if they allow to apply the burst as a whole. known: the CPU is known to run the
  // task.
  bool fits(bool known) const {
    const Burst& burst = at_.burst;
    const bool interrupted = !interrupts_.empty();
    if (info_.freed && info_.left_dead) return false;
    // While another CPU is in a gap, a task that is switched out is handled differently
    // (begin_gap()).
    if (burst.leave != 0 && spans_.in_gap()) return false;
    // Another task runs than the known one, so the CPU's interrupts have ended unseen: this is
    // handled only event by event.
    if (interrupted && !known) return false;
    // The time of a filtered task's calls is charged to no task.
    if (burst.between.called != 0 && !info_.member && !interrupted) return false;
    const std::size_t open = task_.stack.depth + interrupts_.depth;
    const bool ordinary = info_.member && !info_.idle;
    if (burst.exits) {
      return ordinary && open == 1 && !interrupted && is_syscall(task_.stack.top().kind);
    }
    if (burst.has_fault && task_.mode == Mode::unknown && open == 0) return false;
    if (!burst.has_calls && !burst.enters) return true;
    return ordinary && open == 0 && task_.mode == Mode::user && !task_.from_fork && !task_.gap;
  }
  void resume(std::uint64_t clock) { SpanTracker::resume(task_, at_.cpu, clock); }
  // As SpanTracker::charge().
  CpuState charge(std::uint64_t ticks, std::uint64_t selected) {
    if (interrupts_.empty() && info_.member) {
      if (!task_.stack.empty()) {
        OpenSpan& call = task_.stack.top();
        if (!is_user(call.kind)) {
          call.self += ticks;
          call.self_selected += selected;
          return told(&call, CpuState::system, selected);
        }
      } else if (info_.idle) {
        return CpuState::idle;
      } else if (!info_.kernel && task_.mode == Mode::user) {
        return told(nullptr, CpuState::user, selected);
      }
    }
    return spans_.charge(at_.cpu, at_.task, ticks, selected);
  }
  // Returns `state`, of which the observer has been told.
  CpuState told(const OpenSpan* call, CpuState state, std::uint64_t ticks) const {
    if (at_.observer != nullptr && ticks > 0) [[unlikely]]
      at_.observer->charge(call, at_.task, state, ticks);
    return state;
  }
  // Returns what the CPU does in what is called outside of the burst's own interrupts.
  CpuState called() const {
    return interrupts_.empty() ? CpuState::system : interrupt_state(interrupts_);
  }
  // Adds the spans of this part to the children of the innermost open span.
  void add_children(const Burst::Part& part) {
    Stack& around = interrupts_.empty() ? task_.stack : interrupts_;
    if (around.empty()) return;
    around.top().sub += part.called;
    for (std::uint32_t i = part.first_loose; i < part.end_loose; i++) {
      const ChildRecord& child = at_.loose[i];
      around.top().children.add(child.type, child.count, child.ticks);
    }
  }
  void exit_call() {
    const OpenSpan& call = task_.stack.spans[--task_.stack.depth];
    const std::uint64_t clock = at_.burst.exit;
    if (at_.observer != nullptr) {
      at_.observer->end(call, Outcome::complete,
                        {.clock = clock, .cpu = at_.cpu, .pid = at_.burst.pid, .task = at_.task});
    }
    spans_.profile_.closed(call, Outcome::complete, clock, at_.counts);
    in_user_mode(task_);
  }
  void enter_call() {
    OpenSpan& span = task_.stack.push();
    span.type = at_.burst.entry_type;
    span.kind = at_.burst.entry_kind;
    span.match = at_.burst.entry_number;
    span.begin = at_.burst.entry;
    span.selected = at_.counts;
    span.of_cpu = false;
    if (at_.counts) spans_.profile_.opened(span.type);
  }
  // The switch at the burst's end. Returns false if it does more than to switch the task out.
  bool leave() {
    const std::uint16_t id = at_.burst.leave;
    if (id == FKT_E_SWITCH_X || id == FKT_E_SWITCH_Z || !interrupts_.empty()) return false;
    task_.off = switched_out(id);
    task_.since = at_.burst.to;
    return true;
  }

 private:
  SpanTracker& spans_;
  const BurstAt& at_;
  const TaskInfo& info_;
  TaskSpans& task_;
  Stack& interrupts_;
};

// Charges the time of a part of the burst that ends at `until` (ticks). calls: time of whole system
// calls in it (ticks).
[[gnu::always_inline]] inline void CpuAccounting::spend(const BurstAt& at, const Burst::Part& part,
                                                        std::uint64_t calls, std::uint64_t until,
                                                        Cpu& cpu, TaskTimes& task,
                                                        SpanTracker::InBurst& spans) {
  const std::uint64_t ticks = until - cpu.last;
  cpu.charged = cpu.last = until;
  if (part.end_loose != part.first_loose) spans.add_children(part);
  if (ticks == 0) return;
  const std::uint64_t rest = ticks - part.irq - part.softirq - part.called - calls;
  if (at.counts && rest != ticks) {
    const auto add = [&](CpuState state, std::uint64_t spent) {
      book(at.cpu, cpu, task, state, spent);
    };
    add(CpuState::irq, part.irq);
    add(CpuState::softirq, part.softirq);
    spans.told(nullptr, CpuState::irq, part.irq + part.softirq);
    add(CpuState::system, calls);
    if (part.called > 0) add(spans.called(), part.called);
  }
  if (rest == 0) return;
  const std::uint64_t selected = at.counts ? rest : 0;
  book(at.cpu, cpu, task, spans.charge(rest, selected), selected);
}

[[gnu::always_inline]] inline bool CpuAccounting::apply(const BurstAt& at, bool running,
                                                        SpanTracker::InBurst& spans) {
  const Burst& burst = at.burst;
  if (at.cpu >= cpus_.size()) return false;
  Cpu& cpu = cpus_[at.cpu];
  const bool named = at.task == cpu.runs.task;
  if (!cpu.seen || cpu.charged > burst.from || (running && !named)) return false;
  if (!spans.fits(named || at.task == cpu.runs.left)) return false;
  TaskTimes& task = times(at.task);
  // Up to its first event, as advance().
  const CpuRuns::Shown shown = cpu.runs.arrive(at.task);
  if (shown == CpuRuns::Shown::unseen_task) {
    advance(at.cpu, burst.from, at.task);
  } else {
    if (shown == CpuRuns::Shown::new_task) {
      spans.resume(cpu.last);
      task.runs += at.counts;
    }
    if (burst.from > cpu.charged) {
      const std::uint64_t selected = window_.part(at.cpu, cpu.charged, burst.from);
      book(at.cpu, cpu, task, spans.charge(burst.from - cpu.charged, selected), selected);
      cpu.charged = burst.from;
    }
    cpu.last = burst.from;
  }
  if (burst.exits) {
    spend(at, burst.before, 0, burst.exit, cpu, task, spans);
    spans.exit_call();
  }
  const std::uint64_t end = burst.enters ? burst.entry : burst.to;
  spend(at, burst.between, burst.calls, end, cpu, task, spans);
  if (burst.enters) {
    spans.enter_call();
    spend(at, burst.behind, 0, burst.to, cpu, task, spans);
  }
  return true;
}

bool Analysis::apply(BurstAt at, bool running) {
  const Burst& burst = at.burst;
  if (!last_.knows(at.cpu)) return false;
  at.task = burst.pid == 0 ? tasks_.find_idle(at.cpu) : tasks_.find(burst.pid);
  const std::optional<bool> counts = window_.whole(at.cpu, burst.from, burst.to);
  if (at.task == kNoTask || !counts) return false;
  at.counts = *counts;
  SpanTracker::InBurst spans(spans_, at);
  if (!cpu_accounting_.apply(at, running, spans)) return false;
  if (burst.leave != 0) {
    if (!spans.leave()) {
      const Event event = burst.last_event(at.cpu);
      tasks_.apply(event, at.task);
      SpanStep step;
      spans_.apply(event, at.task, false, step);
    }
    const TaskIndex next = burst.next == 0 ? tasks_.idle(at.cpu) : tasks_.by_tid(burst.next);
    cpu_accounting_.switched(at.cpu, next);
  }
  last_.add(at.cpu, burst.to, burst.events);
  end_ = std::max(end_, burst.to);
  return true;
}

}  // namespace fkt
