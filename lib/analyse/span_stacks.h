// SPDX-License-Identifier: GPL-2.0-only
// SpanStacks: which spans are open on each CPU and in each task, and the rules by which events open
// and close them. lib/analyse/nesting.h says which stack a span is on. Statistics
// (lib/analyse/span_tracker.h) and timeline (lib/timeline/state_tracker.h) use this class, each
// with its own data of a span, a task and a CPU.
//
// It is a value: a copy continues from the state that was copied.
//
// `Kept` has the types Span, Task and Cpu. A Span has `type`, `kind`, `match` and `begin`, which
// are set here, and the functions
//   reset()           sets all else to its initial value: the object was used for another span
//   reopened(of_cpu)  it was open at the begin of a slice; of_cpu: it is on the stack of a CPU
//
// `observer` is told of the changes that no return value tells. It has the functions
//   dropped(span, stack, outcome)  the span has left the stack; its end was not seen
//   replaced(span, stack)          exec has replaced the program whose span in user mode this is
//   ends_interrupts(cpu)           spans on the stack of the CPU are dropped next, the innermost
//                                  first
//   loses(task, cause)             the spans of the task are dropped next, and it may have been in
//                                  other ones
//   moves(from, to)                a thread has a new number after exec: the spans of the task
//                                  `from` are those of the task `to`
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/analyse/nesting.h"
#include "lib/analyse/profile.h"
#include "lib/analyse/running_tasks.h"
#include "lib/analyse/tasks.h"
#include "lib/format/checkpoint.h"

namespace fkt {

// Why the spans of a task are no longer known: gap: lost events may hide their ends; mask: other
// layers are recorded from here on.
enum class Loss : std::uint8_t { gap, mask };

template <class Kept>
class SpanStacks {
 public:
  using Span = typename Kept::Span;

  // A stack that keeps its elements' memory when they are popped. A copy has the open ones only.
  struct Stack {
    std::vector<Span> spans;
    std::size_t depth = 0;

    Stack() = default;
    Stack(const Stack& other) : spans(other.begin(), other.end()), depth(other.depth) {}
    Stack(Stack&& other) noexcept
        : spans(std::move(other.spans)), depth(std::exchange(other.depth, 0)) {}
    Stack& operator=(const Stack& other) {
      if (this != &other) spans.assign(other.begin(), other.end());
      depth = other.depth;
      return *this;
    }
    Stack& operator=(Stack&& other) noexcept {
      spans.swap(other.spans);
      std::swap(depth, other.depth);
      return *this;
    }
    ~Stack() = default;

    Span& top() { return spans[depth - 1]; }
    const Span& top() const { return spans[depth - 1]; }
    const Span& operator[](std::size_t at) const { return spans[at]; }
    std::size_t size() const { return depth; }
    bool empty() const { return depth == 0; }
    // The open spans, the outermost first.
    auto begin() const { return spans.begin(); }
    auto end() const { return spans.begin() + static_cast<std::ptrdiff_t>(depth); }
    // Returns the outermost span in the kernel; nullptr: there is none.
    const Span* outermost_call() const {
      const std::size_t at = open_in_user_mode(*this);
      return at < depth ? &spans[at] : nullptr;
    }
    // Moves the span on top below those that began after it, and returns it.
    Span& sink() {
      std::size_t at = depth - 1;
      for (; at > 0 && spans[at - 1].begin > spans[at].begin; at--) {
        std::swap(spans[at - 1], spans[at]);
      }
      return spans[at];
    }
    Span& push() {
      if (depth == spans.size()) spans.emplace_back();
      Span& span = spans[depth++];
      span.reset();
      return span;
    }

    std::vector<Checkpoint::Open> save() const;
    void restore(const std::vector<Checkpoint::Open>& open, const SpanTypes& types,
                 const CheckpointMapping& places, bool of_cpu);
  };
  struct Task : Kept::Task {
    Stack stack;
  };
  struct Cpu : Kept::Cpu {
    Stack stack;
  };

  // The CPU of an event and the task that runs there.
  struct Position {
    Task& task;
    Cpu& cpu;
    unsigned depth() const { return static_cast<unsigned>(task.stack.depth + cpu.stack.depth); }
    // Returns the stack of a span with this meaning.
    Stack& stack_of(const Meaning& meaning) const {
      return nests_on_cpu(meaning.kind, cpu.stack.depth > 0) ? cpu.stack : task.stack;
    }
  };
  Position at(std::uint32_t number, TaskIndex index) { return {task(index), cpu(number)}; }

  Task& task(TaskIndex index) {
    if (index >= tasks_.size()) tasks_.resize(index + 1);
    return tasks_[index];
  }
  Cpu& cpu(std::uint32_t number) {
    if (number >= cpus_.size()) cpus_.resize(number + 1);
    return cpus_[number];
  }
  // By TaskIndex and by number; later ones are in their initial state.
  std::vector<Task>& tasks() { return tasks_; }
  const std::vector<Task>& tasks() const { return tasks_; }
  std::vector<Cpu>& cpus() { return cpus_; }
  const std::vector<Cpu>& cpus() const { return cpus_; }

  // Opens the span that the event begins, and returns it. It is on top of its stack; that of a late
  // begin is below the spans that began after it. Spans that cannot be around it are dropped.
  template <class Observer>
  Span& begin(const Meaning& meaning, const Event& event, const Position& place, SpanTypes& types,
              Observer& observer);

  struct Ended {
    const Span* span = nullptr;  // valid until a span is opened; nullptr: none is known
    Stack& stack;                // it was on top of this one
    std::uint64_t ticks = 0;     // its duration
  };
  // Closes the span that the event ends. Spans in it are dropped.
  template <class Observer>
  static Ended end(const Meaning& meaning, const Event& event, const Position& place,
                   Observer& observer);

  // Applies an event that neither begins nor ends a span, after `tasks` has applied it. in_gap: the
  // events of a CPU are being lost.
  template <class Observer>
  void point(const Event& event, TaskIndex running, const Tasks& tasks, bool in_gap,
             Observer& observer);

  // Events of the CPU are lost from here on. Drops the spans of the CPU and of all tasks that it
  // may run next: those not marked in `elsewhere`, by TaskIndex.
  template <class Observer>
  void begin_gap(std::uint32_t number, const std::vector<bool>& elsewhere, const Tasks& tasks,
                 Observer& observer);

  // Drops the spans on the stack of the CPU.
  template <class Observer>
  void end_interrupts(std::uint32_t number, Outcome outcome, Observer& observer);
  // Drops all spans.
  template <class Observer>
  void end_all(Observer& observer);

  // Continues from the spans in the checkpoint; everything else of the tasks and CPUs has its
  // initial state.
  void restore(const Checkpoint& checkpoint, const SpanTypes& types,
               const CheckpointMapping& places);

 private:
  // Drops the spans of the stack from the top down to `depth`.
  template <class Observer>
  static void drop(Stack& stack, std::size_t depth, Outcome outcome, Observer& observer) {
    while (stack.depth > depth) {
      stack.depth--;
      observer.dropped(stack.spans[stack.depth], stack, outcome);
    }
  }
  // Drops the spans of the stack whose ends may be hidden.
  template <class Observer>
  static void lose(Stack& stack, Observer& observer) {
    const auto spans = stack.spans.begin();
    auto end = spans + static_cast<std::ptrdiff_t>(stack.depth);
    for (auto span = end; span != spans;) {
      if (is_complete((--span)->kind)) continue;
      stack.depth = static_cast<std::size_t>(span - spans);  // the spans around it
      observer.dropped(*span, stack, Outcome::in_gap);
      std::rotate(span, span + 1, end--);
    }
    stack.depth = static_cast<std::size_t>(end - spans);
  }
  template <class Observer>
  void lose(TaskIndex index, Loss cause, Observer& observer) {
    observer.loses(index, cause);
    lose(tasks_[index].stack, observer);
  }
  template <class Observer>
  void leave(const Event& event, TaskIndex running, bool hidden, Observer& observer);
  template <class Observer>
  void exec(const Event& event, TaskIndex running, const Tasks& tasks, Observer& observer);

  std::vector<Task> tasks_;  // by TaskIndex
  std::vector<Cpu> cpus_;
};

template <class Kept>
std::vector<Checkpoint::Open> SpanStacks<Kept>::Stack::save() const {
  std::vector<Checkpoint::Open> open;
  for (const Span& span : *this) open.push_back({span.type, span.match, span.begin});
  return open;
}

template <class Kept>
void SpanStacks<Kept>::Stack::restore(const std::vector<Checkpoint::Open>& open,
                                      const SpanTypes& types, const CheckpointMapping& places,
                                      bool of_cpu) {
  depth = 0;
  for (const Checkpoint::Open& saved : open) {
    Span& span = push();
    span.type = places.types[saved.type];
    span.kind = types[span.type].kind;
    span.match = saved.match;
    span.begin = saved.begin;
    span.reopened(of_cpu);
  }
}

template <class Kept>
void SpanStacks<Kept>::restore(const Checkpoint& checkpoint, const SpanTypes& types,
                               const CheckpointMapping& places) {
  tasks_.clear();
  cpus_.clear();
  for (std::size_t i = 0; i < checkpoint.tasks.size(); i++) {
    task(places.tasks[i]).stack.restore(checkpoint.tasks[i].open, types, places, false);
  }
  for (const Checkpoint::Cpu& saved : checkpoint.cpus) {
    cpu(saved.cpu).stack.restore(saved.open, types, places, true);
  }
}

template <class Kept>
template <class Observer>
inline auto SpanStacks<Kept>::begin(const Meaning& meaning, const Event& event,
                                    const Position& place, SpanTypes& types, Observer& observer)
    -> Span& {
  Stack& stack = place.stack_of(meaning);
  std::size_t around = open_around(stack, meaning.kind);
  // The spans that a task has begun after a late begin in user mode are still open: none is
  // dropped.
  if (meaning.late && is_user(meaning.kind) && around < stack.depth &&
      stack.spans[around].begin >= meaning.begins_at(event)) {
    around = stack.depth;
  }
  if (stack.depth > around) drop(stack, around, Outcome::no_exit, observer);
  Span& span = stack.push();
  span.match = meaning.value(event);
  span.type = begun_type(types, meaning, event, span.match);
  span.kind = meaning.kind;
  span.begin = meaning.begins_at(event);
  return meaning.late ? stack.sink() : span;
}

template <class Kept>
template <class Observer>
inline auto SpanStacks<Kept>::end(const Meaning& meaning, const Event& event, const Position& place,
                                  Observer& observer) -> Ended {
  Stack& stack = place.stack_of(meaning);
  const std::size_t at = find_open(stack, meaning, meaning.value(event));
  if (at == 0) return {nullptr, stack, 0};
  if (stack.depth > at) drop(stack, at, Outcome::no_exit, observer);
  stack.depth--;
  const Span& span = stack.spans[stack.depth];
  return {&span, stack, meaning.duration(event, span.begin)};
}

template <class Kept>
template <class Observer>
inline void SpanStacks<Kept>::point(const Event& event, TaskIndex running, const Tasks& tasks,
                                    bool in_gap, Observer& observer) {
  if (is_switch(event.id)) {
    return leave(event, running, in_gap && !tasks[running].idle, observer);
  }
  if (event.id == FKT_E_EXEC) return exec(event, running, tasks, observer);
  if (event.id == FKT_E_MASK) {  // the ends of the open spans may not be recorded
    for (std::uint32_t number = 0; number < cpus_.size(); number++) {
      end_interrupts(number, Outcome::in_gap, observer);
    }
    for (TaskIndex index = 0; index < tasks_.size(); index++) lose(index, Loss::mask, observer);
  } else if (event.id == FKT_E_PID_FREE) {
    const TaskIndex freed = tasks.find(event.arg & FKT_PID_MASK);
    if (freed == kNoTask || freed == running || !tasks[freed].left_dead) return;
    drop(task(freed).stack, 0, Outcome::no_exit, observer);
  }
}

// A switch. hidden: the task that leaves may run next on a CPU whose events are being lost.
template <class Kept>
template <class Observer>
void SpanStacks<Kept>::leave(const Event& event, TaskIndex running, bool hidden,
                             Observer& observer) {
  // No task switches inside an interrupt: the exit of an interrupt still open was not recorded.
  end_interrupts(event.cpu, Outcome::no_exit, observer);
  if (event.id == FKT_E_SWITCH_X || event.id == FKT_E_SWITCH_Z) {
    drop(task(running).stack, 0, Outcome::no_exit, observer);
  }
  if (hidden) lose(running, Loss::gap, observer);
}

template <class Kept>
template <class Observer>
void SpanStacks<Kept>::exec(const Event& event, TaskIndex running, const Tasks& tasks,
                            Observer& observer) {
  if (event.words.empty()) return;
  const TaskIndex old = tasks.find(static_cast<std::uint32_t>(event.words[0]) & FKT_PID_MASK);
  if (old != kNoTask && old != running) {
    // The thread that called execve continues under the number of its thread group leader.
    task(std::max(old, running));  // makes room for both
    drop(tasks_[running].stack, 0, Outcome::no_exit, observer);
    std::swap(tasks_[running].stack, tasks_[old].stack);
    observer.moves(old, running);
  }
  Stack& stack = task(running).stack;
  const std::size_t user = open_in_user_mode(stack);
  if (user == 0) return;
  const auto from = [&](std::size_t depth) {
    return stack.spans.begin() + static_cast<std::ptrdiff_t>(depth);
  };
  const std::size_t rest = stack.depth - user;
  std::rotate(from(0), from(user), from(stack.depth));
  while (stack.depth > rest) {
    stack.depth--;
    observer.replaced(stack.spans[stack.depth], stack);
  }
}

template <class Kept>
template <class Observer>
void SpanStacks<Kept>::begin_gap(std::uint32_t number, const std::vector<bool>& elsewhere,
                                 const Tasks& tasks, Observer& observer) {
  end_interrupts(number, Outcome::in_gap, observer);
  for (TaskIndex index = 0; index < tasks_.size(); index++) {
    if (index < elsewhere.size() && elsewhere[index]) continue;
    if (!stays_on_another(tasks[index], number)) lose(index, Loss::gap, observer);
  }
}

template <class Kept>
template <class Observer>
inline void SpanStacks<Kept>::end_interrupts(std::uint32_t number, Outcome outcome,
                                             Observer& observer) {
  Stack& stack = cpu(number).stack;
  if (stack.depth == 0) return;
  observer.ends_interrupts(number);
  drop(stack, 0, outcome, observer);
}

template <class Kept>
template <class Observer>
void SpanStacks<Kept>::end_all(Observer& observer) {
  for (Cpu& cpu : cpus_) drop(cpu.stack, 0, Outcome::no_exit, observer);
  for (Task& task : tasks_) drop(task.stack, 0, Outcome::no_exit, observer);
}

}  // namespace fkt
