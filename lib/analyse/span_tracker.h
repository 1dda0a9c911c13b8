// SPDX-License-Identifier: GPL-2.0-only
// SpanTracker: pairs of entry and exit (spans). System calls nest on their task, because they sleep
// and migrate; interrupts, vectors and softirqs nest on their CPU, on top of the task that runs
// there, because they do neither. Kinds that only the file's catalogue knows nest as it says
// (lib/format/span_kind.h). lib/analyse/span_stacks.h has the rules; this class adds up the times.
//
// Each tick of a CPU belongs to the innermost span open there, as its self time. A system call's
// duration is therefore exactly its self time, plus what nested in it, plus the time it was
// switched out.
//
// A span without entry or exit (at the recording's edge, in a gap) is counted as such and given no
// duration. At its first event a task may or may not be in a system call: its time is
// CpuState::running until its next entry or exit tells which.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/analyse/burst.h"
#include "lib/analyse/meanings.h"
#include "lib/analyse/profile.h"
#include "lib/analyse/span_observer.h"
#include "lib/analyse/span_stacks.h"
#include "lib/analyse/span_types.h"
#include "lib/analyse/tasks.h"
#include "lib/format/checkpoint.h"

namespace fkt {

// What an event did to the spans; used by the dump.
struct SpanStep {
  unsigned depth = 0;   // spans open around the event
  bool closed = false;  // it ended a span whose begin is in the recording:
  TypeIndex type = kNoType;
  std::uint64_t duration = 0;  // ticks
  bool refused = false;        // the return of a system call that never began (Outcome::refused)
  // User or system: the task's mode up to this event, if it was unknown before.
  CpuState resolved = CpuState::unknown;
  // It ended an asynchronous span (lib/analyse/async_spans.h) whose begin is in the recording: of
  // this type, after `async_duration` ticks. kNoType: none.
  TypeIndex async = kNoType;
  std::uint64_t async_duration = 0;
};

class SpanTracker {
 public:
  SpanTracker(const RecordingInfo& info, const Tasks& tasks, SpanTypes& types, Profile& profile);

  // Calls `observer` for each span from here on and for those that are open; it must outlive this.
  void watch(SpanObserver& observer);
  // Returns whether an observer needs every call.
  bool watched() const { return observer_ != nullptr && !observer_->takes_bursts(); }

  // running: the event's task. selected: the event counts in the statistics. step: must be fresh.
  void apply(const Event& event, TaskIndex running, bool selected, SpanStep& step);

  // Adds `ticks` of `cpu`, on which `task` ran, to the innermost span; `selected` of them count in
  // the statistics. Returns what the CPU was doing.
  CpuState charge(std::uint32_t cpu, TaskIndex task, std::uint64_t ticks, std::uint64_t selected);

  // The task runs again: it was switched out until `clock` (ticks), the last event on `cpu`.
  void resume(TaskIndex task, std::uint32_t cpu, std::uint64_t clock) {
    resume(state(task), cpu, clock);
  }
  class InBurst;  // applies a burst (lib/analyse/apply_burst.cc)

  // Events of `cpu` are lost from here on. Drops the spans of the CPU and of all tasks that are not
  // seen to run on another CPU (running_elsewhere, by TaskIndex), because they may end unseen;
  // until end_gap() also those of each task that leaves its CPU. again: the CPU was in that gap
  // already.
  void begin_gap(std::uint32_t cpu, const std::vector<bool>& running_elsewhere, bool again);
  void end_gap() { gaps_--; }
  bool in_gap() const { return gaps_ != 0; }
  // Drops the spans open on the CPU itself, whose exits were not recorded.
  void end_interrupts(std::uint32_t number) {
    stacks_.end_interrupts(number, Outcome::no_exit, *this);
  }
  // Drops what is still open at the end of the recording or slice.
  void finish() { stacks_.end_all(*this); }

  // Writes the open spans into the checkpoint's CPUs and tasks; numbers: of the tasks in the
  // checkpoint.
  void save(Checkpoint& checkpoint, const std::vector<std::uint32_t>& numbers) const;
  // Continues from the state in `checkpoint`, with no other spans open. Call it before the first
  // event or after finish().
  void restore(const Checkpoint& checkpoint, const CheckpointMapping& places);

  // Returns the type of the span that `event` begins; kNoType when it begins none.
  TypeIndex begins(const Event& event);
  // Returns the open span that `event` of the task `running` would end; nullptr when none is known.
  const OpenSpan* ends(const Event& event, TaskIndex running);
  // Returns the duration of the open span `span` that `event` would end (ticks).
  std::uint64_t ticks(const Event& event, const OpenSpan& span) const {
    return meanings_[event.id].duration(event, span.begin);
  }
  // Return the type of the innermost span that is open in the task, or on the CPU itself; kNoType
  // when there is none.
  TypeIndex innermost(TaskIndex task) const {
    return task < stacks_.tasks().size() ? innermost(stacks_.tasks()[task].stack) : kNoType;
  }
  // The types of the spans that are open in the task, the outermost first.
  std::vector<TypeIndex> path(TaskIndex task) const;
  TypeIndex innermost_interrupt(std::uint32_t cpu) const {
    return cpu < stacks_.cpus().size() ? innermost(stacks_.cpus()[cpu].stack) : kNoType;
  }
  // Returns irq or softirq where the CPU handles such an interrupt; else running.
  CpuState interrupt_state(std::uint32_t cpu) const {
    const bool handles = cpu < stacks_.cpus().size() && !stacks_.cpus()[cpu].stack.empty();
    return handles ? interrupt_state(stacks_.cpus()[cpu].stack) : CpuState::running;
  }
  // From here on, OpenSpan::entry is filled in.
  void keep_entries() { keep_entries_ = true; }

  // Selected ticks of kernel threads outside any span.
  std::uint64_t kernel_threads() const { return kernel_threads_; }

 private:
  using Mode = Checkpoint::Mode;
  using Off = Checkpoint::Off;
  static Off switched_out(std::uint16_t id) {
    const bool runnable = id == FKT_E_SWITCH_R || id == FKT_E_SWITCH_PREEMPT;
    return runnable ? Off::preempted : Off::blocked;
  }
  // What is kept of spans, tasks and CPUs.
  struct Kept {
    using Span = OpenSpan;
    struct Task {
      Mode mode = Mode::unknown;
      Off off = Off::no;              // whether and how it is switched out
      bool seen = false;              // it has run since the recording's start
      bool gap = false;               // a gap may hide its entry
      bool from_fork = false;         // its first exit is the child's return from fork
      std::uint32_t cpu = 0;          // CPU it runs or last ran on
      std::uint64_t since = 0;        // it runs, or is switched out, since then (ticks)
      TypeIndex fork_type = kNoType;  // the system call in which its parent forked
    };
    struct Cpu {};
  };
  using Stacks = SpanStacks<Kept>;
  using Stack = Stacks::Stack;
  using TaskSpans = Stacks::Task;
  // The state of a task; the spans open on a CPU itself.
  TaskSpans& state(TaskIndex task) { return stacks_.task(task); }
  Stack& cpu(std::uint32_t number) { return stacks_.cpu(number).stack; }
  // As the public function, for the task's state.
  static void resume(TaskSpans& task, std::uint32_t on, std::uint64_t clock) {
    if (task.off != Off::no && task.stack.depth > 0) {
      OpenSpan& span = task.stack.top();
      Child& out = task.off == Off::preempted ? span.preempted : span.blocked;
      out.count++;
      out.ticks += clock > task.since ? clock - task.since : 0;
    }
    task.off = Off::no;
    task.seen = true;
    task.cpu = on;
    task.since = clock;
  }
  static void in_user_mode(TaskSpans& task) {
    task.mode = Mode::user;
    task.from_fork = task.gap = false;
  }
  // Returns what a CPU does whose stack is this one, which is not empty.
  static CpuState interrupt_state(const Stack& stack);

  friend Stacks;  // calls what follows up to moves()
  void dropped(const OpenSpan& span, Stack& stack, Outcome outcome);
  void replaced(const OpenSpan& span, Stack& stack);
  void ends_interrupts(std::uint32_t) {}
  void loses(TaskIndex task, Loss cause);
  void moves(TaskIndex from, TaskIndex to);

  static TypeIndex innermost(const Stack& stack) {
    return stack.empty() ? kNoType : stack.top().type;
  }
  // Returns what the task itself does outside of interrupts; sets `call` to its innermost span, if
  // any.
  CpuState charge_task(TaskIndex index, std::uint64_t selected, OpenSpan*& call);
  void point(const Event& event, TaskIndex running, const Stacks::Position& place, SpanStep& step);
  void begin(const Meaning& meaning, const Event& event, TaskIndex running,
             const Stacks::Position& place, bool selected, SpanStep& step);
  void end(const Meaning& meaning, const Event& event, TaskIndex running,
           const Stacks::Position& place, bool selected, SpanStep& step);
  TypeIndex type_of_end(const Meaning& meaning, const Event& event, std::uint64_t number);
  void exit_without_entry(TypeIndex type, bool is_call, TaskSpans& task, bool selected,
                          SpanStep& step);
  void fork(const Event& event, const TaskSpans& parent);
  // Adds `span`, which has left `stack`, to the span around it.
  static void add_to_around(const OpenSpan& span, Stack& stack);
  // Tells the observer that `span` has left `stack`. place: clock, cpu, pid and task of its end.
  void tell_end(const OpenSpan& span, const Stack& stack, Outcome outcome, SpanPosition place);
  // Tells the observer of the spans that are open.
  void reopen();

  const Tasks& table_;
  SpanTypes& types_;
  Profile& profile_;
  Meanings meanings_;
  Stacks stacks_;
  std::uint64_t kernel_threads_ = 0;
  bool switches_ = false;  // the process layer is recorded
  unsigned gaps_ = 0;      // CPUs whose events are being lost
  bool keep_entries_ = false;
  SpanObserver* observer_ = nullptr;
};

}  // namespace fkt
