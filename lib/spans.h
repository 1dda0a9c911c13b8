// SPDX-License-Identifier: GPL-2.0-only
// Spans: what has an entry and an exit, put together. System calls nest on their task, because they
// sleep and migrate (2005 report, section 6); interrupts, vectors and softirqs nest on their CPU,
// on top of whatever runs there, because they do neither. Functions, and other kinds that only a
// file's own catalogue knows, nest where they are called: in an interrupt, or else on the task.
//
// Each tick of a CPU belongs to the innermost span open there: its own time. A system call's time
// is then, without remainder: its own + what nested in it + what it was switched out.
//
// A span that lost its entry or its exit (the recording's edge, a gap) is counted as such and never
// given a duration. Whatever is not known is called so: at its first sight a task may be in a
// system call or not, and only its next entry or exit tells.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/call_sink.h"
#include "lib/meanings.h"
#include "lib/profile.h"
#include "lib/span_types.h"
#include "lib/tasks.h"

namespace fkt {

// What an event did to the spans; for the dump.
struct Step {
  unsigned depth = 0;   // spans open around the event
  bool closed = false;  // it ended one, which began and ended before our eyes:
  TypeIndex type = kNoType;
  std::uint64_t duration = 0;       // ticks
  State resolved = State::unknown;  // user, system: where its task had been before, now known
};

class Spans {
 public:
  Spans(const TraceInfo& info, const Tasks& tasks, SpanTypes& types, Profile& profile);

  // Tells `sink` of every call from here on, and of those that are open; it must outlive this.
  void watch(CallSink& sink);
  bool watched() const { return sink_ != nullptr; }

  // `running`: the event's task. `selected`: it counts in the statistics. `step`: a new one.
  void apply(const Event& event, TaskIndex running, bool selected, Step& step);

  // Gives `ticks` of `cpu`, on which `task` ran, to the innermost span; `selected` of them count.
  // Says what the CPU was doing.
  State charge(std::uint32_t cpu, TaskIndex task, std::uint64_t ticks, std::uint64_t selected);

  // The task runs again: it was switched out until `clock`, the last event on `cpu`.
  void resume(TaskIndex task, std::uint32_t cpu, std::uint64_t clock) {
    state(task).resume(cpu, clock);
  }
  // Events of `cpu` are lost from here on, and with them whatever tasks do that are not seen to run
  // on another CPU (running_elsewhere, by TaskIndex): what they had open may end unseen. So it may
  // of every task that leaves its CPU before end_gap(). again: the CPU was in that gap already.
  void begin_gap(std::uint32_t cpu, const std::vector<bool>& running_elsewhere, bool again);
  void end_gap() { gaps_--; }
  bool in_gap() const { return gaps_ != 0; }
  // What is open on the CPU itself has ended unseen.
  void end_interrupts(std::uint32_t number) { drop(cpu(number), 0, Outcome::no_exit); }
  // Other layers (a bit each) are recorded from here on: whatever is open may have ended unseen.
  void forget(std::uint64_t mask);
  // The recording's end, or the slice's.
  void finish();

  // Writes what is open into the cut's tasks, as numbered there, and CPUs.
  void save(Cut& cut, const std::vector<std::uint32_t>& numbers) const;
  // Goes on from there, with nothing open besides: before any event, or after finish().
  void restore(const Cut& cut, const CutPlaces& places);

  // The type of the span that `event` begins; kNoType: it begins none.
  TypeIndex begins(const Event& event);
  // The open span that `event` of the task `running` would end; nullptr: none that is known.
  const OpenSpan* ends(const Event& event, TaskIndex running);
  // From here on, spans keep the event that began them.
  void keep_entries() { keep_entries_ = true; }

  // Ticks of kernel threads outside any span (selected ones).
  std::uint64_t kernel_threads() const { return kernel_threads_; }

 private:
  friend class BurstTaker;  // does the same for many events
  // A stack that keeps its elements' memory when they are popped.
  struct Stack {
    std::vector<OpenSpan> spans;
    std::size_t depth = 0;
    OpenSpan& top() { return spans[depth - 1]; }
    OpenSpan& push();
    std::vector<Cut::Open> save() const;
    void restore(const std::vector<Cut::Open>& open, const SpanTypes& types,
                 const CutPlaces& places, bool of_cpu);
  };
  enum class Mode : std::uint8_t { unknown, user, kernel };
  enum class Off : std::uint8_t { no, blocked, preempted };
  static Off switched_out(std::uint16_t id) {
    const bool runnable = id == FKT_E_SWITCH_R || id == FKT_E_SWITCH_PREEMPT;
    return runnable ? Off::preempted : Off::blocked;
  }
  struct TaskState {
    Stack stack;
    Mode mode = Mode::unknown;
    Off off = Off::no;              // switched out, and how
    bool seen = false;              // ran before our eyes
    bool gap = false;               // a gap may hide its entry
    bool from_fork = false;         // its first exit is the return of its parent's fork
    std::uint32_t cpu = 0;          // runs there ...
    std::uint64_t since = 0;        // ... since, or is switched out since (ticks)
    TypeIndex fork_type = kNoType;  // the parent's call

    void resume(std::uint32_t on, std::uint64_t clock) {
      if (off != Off::no && stack.depth > 0) {
        OpenSpan& span = stack.top();
        Child& out = off == Off::preempted ? span.preempted : span.blocked;
        out.count++;
        out.ticks += clock > since ? clock - since : 0;
      }
      off = Off::no;
      seen = true;
      cpu = on;
      since = clock;
    }
  };
  TypeIndex type_of(const Meaning& meaning, const Event& event, std::uint64_t number);
  // The depth in `stack` at which the span that ends stands at the top; 0: none fits.
  static std::size_t find_open(const Stack& stack, const Meaning& meaning, std::uint64_t number);
  // What tells the span that `event` ends from others of its kind.
  static std::uint64_t match(const Meaning& meaning, const Event& event) {
    return meaning.kind == SpanKind::other ? meaning.other : meaning.value(event);
  }
  TaskState& state(TaskIndex task) {
    if (task >= tasks_.size()) tasks_.resize(task + 1);
    return tasks_[task];
  }
  Stack& cpu(std::uint32_t number) {
    if (number >= cpus_.size()) cpus_.resize(number + 1);
    return cpus_[number];
  }
  Stack& stack_of(const Meaning& meaning, std::uint32_t on, TaskState& task);
  // What the task itself does outside of interrupts; `call`: the innermost one, if any.
  State charge_task(TaskIndex index, std::uint64_t selected, OpenSpan*& call);
  void point(const Event& event, TaskIndex running, Step& step);
  void begin(const Meaning& meaning, const Event& event, TaskIndex running, bool selected,
             Step& step);
  void end(const Meaning& meaning, const Event& event, TaskIndex running, bool selected,
           Step& step);
  void exit_without_entry(TypeIndex type, TaskState& task, bool selected, Step& step);
  void fork(const Event& event, const TaskState& parent);
  void exec(const Event& event, TaskIndex running);
  // `span` has left `stack`: what is around it, and whoever watches, learn of it.
  void closed(const OpenSpan& span, Stack& stack, Outcome outcome, std::uint64_t clock);
  // Tells the sink of what a cut left open.
  void reopen();
  // Closes what is open in `stack` from its top down to `depth`, as `outcome`.
  void drop(Stack& stack, std::size_t depth, Outcome outcome);
  void end_task(TaskIndex task);
  // The task may have done anything meanwhile.
  void lose(TaskState& task);

  const Tasks& table_;
  SpanTypes& types_;
  Profile& profile_;
  Meanings meanings_;
  std::vector<TaskState> tasks_;  // by TaskIndex
  std::vector<Stack> cpus_;
  std::uint64_t kernel_threads_ = 0;
  bool switches_ = false;  // the process layer is recorded
  unsigned gaps_ = 0;      // CPUs of which events are being lost
  bool keep_entries_ = false;
  CallSink* sink_ = nullptr;
};

inline OpenSpan& Spans::Stack::push() {
  if (depth == spans.size()) spans.emplace_back();
  OpenSpan& span = spans[depth++];
  span.own = span.own_selected = 0;
  span.before_cut = false;
  span.sub = span.sub_blocked = span.sub_preempted = 0;
  span.tag = OpenSpan::kNoTag;
  span.blocked = span.preempted = {};
  span.children.clear();
  return span;
}

}  // namespace fkt
