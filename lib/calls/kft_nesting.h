// SPDX-License-Identifier: GPL-2.0-only
// KftNesting: reconstructs the nesting of the calls in a KFT log from their times and "Called At",
// and feeds them to a Profile and a SpanObserver as FKT recordings do. One tick is 1 us.
//
// - A call is nested in the innermost open call of its PID. A call whose exit was not seen contains
//   only the calls that name it as their caller.
// - Interrupts (PID -1) have a stack of their own, and their time is taken out of what they
//   interrupted. The call that made the first call with PID -1 is the interrupt itself, though it
//   has the task's PID.
// - When another PID appears on a CPU, the previous task was switched out until its next line, or
//   until the end of the call it was in, whichever comes first. A line says on which CPU its call
//   returned: until then the task is taken to be where its previous calls have returned.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/analyse/span_observer.h"
#include "lib/calls/kft_log.h"

namespace fkt {

class KftNesting {
 public:
  // `observer` may be nullptr; both must outlive this object.
  KftNesting(Profile& profile, SpanObserver* observer) : profile_(profile), observer_(observer) {}

  // The text that `call` points to must stay valid until the next add() or finish().
  void add(const KftCall& call);
  // Closes what is still open. Call after the last add().
  void finish();

  // Number of functions, and their names.
  TypeIndex types() const { return static_cast<TypeIndex>(names_.size()); }
  std::string_view name(TypeIndex type) const { return names_[type]; }
  // Number of calls that began before the one on the line above. Such a line ends all open calls,
  // because nothing is known about how they went on.
  std::uint64_t backwards() const { return backwards_; }
  // PID of a task as SpanPosition::task counts them, and the number of tasks.
  std::int64_t pid(std::uint32_t task) const { return tasks_[task].pid; }
  std::uint32_t tasks() const { return static_cast<std::uint32_t>(tasks_.size()); }

 private:
  static constexpr std::uint64_t kUnseen = ~std::uint64_t{0};

  struct Open {
    OpenSpan span;
    std::uint64_t end = 0;     // us; kUnseen: the exit was not seen
    std::uint64_t nested = 0;  // us of the calls and interrupts directly in it
    std::uint16_t cpu = 0;     // on which it returned
  };
  // The open calls of a task, or of the interrupts of a CPU.
  struct Stack {
    std::vector<Open> calls{};
    bool of_interrupts = false;
    std::uint32_t task = 0;         // whose they are, or which is interrupted
    std::uint16_t cpu = 0;          // of the interrupts; on which the task's last call has returned
    std::uint64_t ended = kUnseen;  // when that call did (us)
  };
  struct Task {
    std::int64_t pid = 0;
    Stack stack{};
    std::uint16_t runs_on = 0;  // as far as is known
    std::optional<std::uint64_t> off_since{};
  };
  struct Cpu {
    std::uint16_t number = 0;
    Stack interrupts{.of_interrupts = true};
    std::uint32_t current = 0;  // the task that runs on it
  };
  TypeIndex type_of(std::string_view function);
  std::uint32_t task_of(std::int64_t pid);
  void take(const KftCall& call);
  // The CPU, on which this task runs if nothing is known of it yet.
  Cpu& cpu_of(std::uint16_t cpu, std::uint32_t task);
  void push(Stack& stack, const KftCall& call);
  // Pops the calls that cannot be around `call`.
  void unwind(Stack& stack, const KftCall& call);
  // Pops the calls that ended by `clock` (us).
  void end_before(Stack& stack, std::uint64_t clock);
  void interrupt(Cpu& cpu, const KftCall& call);
  static std::uint16_t first_cpu(const Stack& stack, const KftCall& call);
  bool holds(const Stack& stack, const KftCall& call) const;
  void pop(Stack& stack, bool known);
  void switch_to(Cpu& cpu, std::uint32_t task, const KftCall& call);
  static void resume(Task& task, std::uint64_t clock);
  void drop_all(bool known);
  SpanPosition place(const Stack& stack, std::size_t depth, std::uint64_t clock) const;

  Profile& profile_;
  SpanObserver* observer_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, TypeIndex> types_;
  std::vector<Task> tasks_;
  std::unordered_map<std::int64_t, std::uint32_t> by_pid_;
  std::map<std::uint16_t, Cpu> cpus_;
  std::optional<KftCall> held_;  // held back until the next line tells whether it is an interrupt
  std::uint64_t last_ = 0;
  std::uint64_t backwards_ = 0;
};

}  // namespace fkt
