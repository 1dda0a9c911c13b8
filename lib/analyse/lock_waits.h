// SPDX-License-Identifier: GPL-2.0-only
// LockWaits: each wait for a lock, and how long locks were held, as far as a recording has it: of
// the kernel's locks from the layer lock (contention_begin, contention_end), of futexes from the
// arguments of futex(2), and from calls of functions that take locks and give them free. The locks
// of fkt_print --locks and of fkt_print --why are these.
//
//   LockWaits waits(analysis);
//   waits.tell([&](const LockWait& wait) { ... }, [&](const LockHold& hold) { ... });
//   for (const Event& event : recording.events()) waits.add(event, analysis.add(event));
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/analyse/analysis.h"
#include "lib/format/call_arguments.h"

namespace fkt {

struct LockWait {
  std::uint64_t address = 0;
  bool futex = false, mutex = false;   // mutex: one of the C library
  std::uint64_t flags = 0;             // of a lock of the kernel: LCB_F_...
  TaskIndex task = kNoTask;            // that waited
  std::uint64_t begin = 0, end = 0;    // ticks
  std::int64_t result = 0;             // 0: it got the lock, or was woken
  TypeIndex in = kNoType;              // the outermost call in which it waited
  std::vector<std::uint64_t> stack{};  // recorded meanwhile: addresses, the innermost first
  bool of_user = false;                // the stack is that of the program
  // The task that woke it, and so had held the lock; kNoTask: not known.
  TaskIndex holder = kNoTask;
  TypeIndex call = kNoType;  // of the holder: the outermost one in which it gave the lock free
  std::optional<std::uint64_t> since{};  // when the holder is known to have got it (ticks)
};

// A lock that a task is known to have had.
struct LockHold {
  std::uint64_t address = 0;
  bool user = false;  // of a program
  TaskIndex task = kNoTask;
  std::uint64_t begin = 0, end = 0;  // ticks
};

class LockWaits {
 public:
  using Waited = std::function<void(const LockWait&)>;
  using Held = std::function<void(const LockHold&)>;

  // analysis: outlives this object.
  explicit LockWaits(const Analysis& analysis);
  // Has waits told when they end, and locks when they are given free.
  void tell(Waited waited, Held held) {
    waited_ = std::move(waited);
    held_ = std::move(held);
  }

  // Adds an event of which Analysis::add() returned `place`.
  void add(const Event& event, const Analysis::Found& place);
  // Returns the wait that the task is in; nullptr: none is known.
  const LockWait* wait_of(TaskIndex task) { return find_wait(task); }
  // Whether the recording has events of contention; of futexes: has had arguments of system calls.
  bool has_contention() const { return !points_.empty(); }
  bool has_arguments() const { return has_arguments_; }

 private:
  using LockOf = std::pair<TaskIndex, std::uint64_t>;  // task, address of a lock
  struct Since {
    std::uint64_t clock = 0;
    bool user = false;
  };

  void add_contention(const Event& event, const EventType& type, TaskIndex task, bool begins);
  void begin_call(const Event& event, const EventType& type, TaskIndex task);
  void end_call(const Event& event, const EventType& type, TaskIndex task);
  void add_function(const Event& event, const EventType& type, const Analysis::Found& place);
  void add_stack(const Event& event, const EventType& type, TaskIndex task);
  void wake(const Event& event, TaskIndex waker);
  void hold(TaskIndex task, std::uint64_t address, std::uint64_t clock, bool user);
  void free(TaskIndex task, std::uint64_t address, std::uint64_t clock);
  TypeIndex outermost(TaskIndex task) const;
  LockWait* find_wait(TaskIndex task);

  const Analysis& analysis_;
  Waited waited_;
  Held held_;
  bool has_arguments_ = false;
  std::map<std::uint64_t, bool> points_;  // number of a tracepoint; true: contention_begin
  // The locks of the kernel that a task waits for; interrupts on it wait for further ones.
  std::unordered_map<TaskIndex, std::vector<LockWait>> contended_;
  std::unordered_map<TaskIndex, LockWait> futexes_;
  std::unordered_map<TaskIndex, std::uint64_t> waking_;  // the futex of a call that wakes
  std::map<LockOf, Since> held_since_;
};

}  // namespace fkt
