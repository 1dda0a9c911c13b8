// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/lock_waits.h"

#include <algorithm>
#include <array>

#include "lib/analyse/disk_requests.h"
#include "lib/format/stack_frames.h"

namespace fkt {
namespace {

// futex(2): the bits of its second argument that say which operation it is; those that wait, and
// those that wake; and the value of a mutex of glibc while a thread waits for it.
constexpr std::uint64_t kFutexOperation = 0x7f, kFutexWait = 0, kMutexContended = 2;
constexpr std::uint64_t kWaiting[] = {kFutexWait, 6, 9, 11, 13};  // LOCK_PI, WAIT_BITSET, ...
constexpr std::uint64_t kWaking[] = {1, 7, 10};                   // UNLOCK_PI, WAKE_BITSET
constexpr std::int64_t kAgain = -11;

// Functions of the kernel, and of programs, that return with the lock that is their first argument,
// and those that give it free.
constexpr std::string_view kTaking[] = {
    "mutex_lock",     "down_",          "rt_mutex_lock",   "ww_mutex_lock",
    "_raw_spin_lock", "_raw_read_lock", "_raw_write_lock", "queued_spin_lock_slowpath"};
constexpr std::string_view kUserTaking[] = {"pthread_mutex_lock", "pthread_mutex_trylock"};
constexpr std::string_view kFreeing[] = {"mutex_unlock",     "up_read",          "up_write",
                                         "rt_mutex_unlock",  "ww_mutex_unlock",  "_raw_spin_unlock",
                                         "_raw_read_unlock", "_raw_write_unlock"};
constexpr std::string_view kUserFreeing[] = {"pthread_mutex_unlock"};

template <class Names>
bool begins_with_one(std::string_view function, const Names& names) {
  return std::ranges::any_of(names, [&](std::string_view n) { return function.starts_with(n); });
}

template <class Operations>
bool is_one(const CallWords& futex, const Operations& operations) {
  return std::ranges::find(operations, futex[1] & kFutexOperation) != std::end(operations);
}

// Returns the first value of a call's event, besides its key and its times.
std::optional<std::uint64_t> first_argument(const EventType& type, const Event& event) {
  const std::span<const Field> values = type.values_of(event);
  return values.empty() ? std::nullopt : EventType::value(values.front(), event);
}

}  // namespace

LockWaits::LockWaits(const Analysis& analysis) : analysis_(analysis) {
  for (const EventType& type : analysis.info().catalogue.events()) {
    const Field* const key = type.field(FieldUse::key);
    const Catalogue::NameTable* const names =
        key && key->names == "tracepoint" ? analysis.info().catalogue.names(*key) : nullptr;
    if (names == nullptr) continue;
    for (const auto& [number, name] : *names) {
      if (name == "contention_begin" || name == "contention_end") {
        points_.insert_or_assign(number, name == "contention_begin");
      }
    }
  }
}

void LockWaits::add(const Event& event, const Analysis::Found& place) {
  if (event.is_gap()) {
    contended_.clear();
    futexes_.clear();
    waking_.clear();
    held_since_.clear();
    return;
  }
  const EventType* const type = analysis_.info().catalogue.find(event.id);
  if (type == nullptr) return;
  if (is_wake_up(event.id)) return wake(event, place.task);
  if (place.task == kNoTask) return;
  if (event.id == FKT_E_STACK || event.id == FKT_E_USER_STACK) {
    return add_stack(event, *type, place.task);
  }
  if (type->kind == "syscall") {
    return type->role == Role::begin ? begin_call(event, *type, place.task)
                                     : end_call(event, *type, place.task);
  }
  if (type->made_of != 0) {
    if (place.step.closed) add_function(event, *type, place);
    return;
  }
  const Field* const key = type->field(FieldUse::key);
  if (key == nullptr || key->names != "tracepoint") return;
  const auto point = points_.find(EventType::value(*key, event).value_or(0));
  if (point != points_.end()) add_contention(event, *type, place.task, point->second);
}

TypeIndex LockWaits::outermost(TaskIndex task) const {
  const std::vector<TypeIndex> calls = analysis_.spans().path(task);
  return calls.empty() ? kNoType : calls.front();
}

// A mutex is contended twice where a thread spins before it sleeps: the first time counts.
void LockWaits::add_contention(const Event& event, const EventType& type, TaskIndex task,
                               bool begins) {
  std::vector<LockWait>& waits = contended_[task];
  const std::uint64_t address = field_value(type, event, "lock");
  const auto found = std::ranges::find(waits, address, &LockWait::address);
  if (begins) {
    if (found != waits.end()) return;
    waits.push_back({.address = address,
                     .flags = field_value(type, event, "flags"),
                     .task = task,
                     .begin = event.clock,
                     .in = outermost(task)});
    return;
  }
  const auto result = static_cast<std::int64_t>(field_value(type, event, "ret"));
  if (result == 0) hold(task, address, event.clock, false);
  if (found == waits.end()) return;
  found->end = event.clock;
  found->result = result;
  if (waited_) waited_(*found);
  waits.erase(found);
}

void LockWaits::begin_call(const Event& event, const EventType& type, TaskIndex task) {
  futexes_.erase(task);
  waking_.erase(task);
  const std::optional<CallWords> words = call_words(type, event);
  if (!words) return;
  has_arguments_ = true;
  const TypeIndex call = analysis_.spans().innermost(task);
  if (call == kNoType || analysis_.types()[call].name != "sys_futex") return;
  const std::uint64_t address = words->front();
  if (is_one(*words, kWaking)) waking_.insert_or_assign(task, address);
  if (!is_one(*words, kWaiting)) return;
  const bool is_mutex =
      ((*words)[1] & kFutexOperation) == kFutexWait && (*words)[2] == kMutexContended;
  futexes_[task] = {.address = address,
                    .futex = true,
                    .mutex = is_mutex,
                    .task = task,
                    .begin = event.clock,
                    .in = outermost(task)};
  // The task that waits for a mutex has not got it, whatever its last wait has returned.
  if (is_mutex) held_since_.erase(LockOf(task, address));
}

// A task whose FUTEX_WAIT returns has the mutex from now on. If another task took the mutex first,
// the woken task calls FUTEX_WAIT again, and begin_call() takes this back.
void LockWaits::end_call(const Event& event, const EventType& type, TaskIndex task) {
  // A FUTEX_WAKE that has woken no task releases the lock when the call ends.
  if (const auto waking = waking_.find(task); waking != waking_.end()) {
    free(task, waking->second, event.clock);
    waking_.erase(waking);
  }
  const auto found = futexes_.find(task);
  if (found == futexes_.end()) return;
  LockWait& wait = found->second;
  wait.result = static_cast<std::int64_t>(field_value(type, event, "ret"));
  wait.end = event.clock;
  if (wait.mutex) hold(task, wait.address, event.clock, true);
  // It did not wait where the value was another one already.
  if (waited_ && wait.result != kAgain) waited_(wait);
  futexes_.erase(found);
}

// A function that takes locks, or gives them free, has returned.
void LockWaits::add_function(const Event& event, const EventType& type,
                             const Analysis::Found& place) {
  // A program's function stands behind its file: "libc.so.6:pthread_mutex_lock".
  std::string_view name = analysis_.types()[place.step.type].name;
  name.remove_prefix(name.rfind(':') + 1);
  const bool of_user = begins_with_one(name, kUserTaking) || begins_with_one(name, kUserFreeing);
  const bool takes = begins_with_one(name, kTaking) || begins_with_one(name, kUserTaking);
  const bool frees = begins_with_one(name, kFreeing) || begins_with_one(name, kUserFreeing);
  if (!takes && !frees) return;
  const std::optional<std::uint64_t> lock = first_argument(type, event);
  if (!lock) return;
  const std::uint64_t began = event.clock - std::min(event.clock, place.step.duration);
  if (frees) return free(place.task, *lock, began);
  // The wait in it has ended before, and says it more exactly.
  const auto known = held_since_.find(LockOf(place.task, *lock));
  if (known == held_since_.end() || known->second.clock < began) {
    hold(place.task, *lock, event.clock, of_user);
  }
}

void LockWaits::add_stack(const Event& event, const EventType& type, TaskIndex task) {
  LockWait* const wait = find_wait(task);
  if (wait == nullptr || !wait->stack.empty()) return;
  const auto field = std::ranges::find_if(type.fields, is_stack);
  if (field == type.fields.end()) return;
  const auto frames = frames_of(*field, event, analysis_.info().symbols);
  wait->stack.assign(frames.begin(), frames.end());
  wait->of_user = event.id == FKT_E_USER_STACK;
}

LockWait* LockWaits::find_wait(TaskIndex task) {
  const auto found = contended_.find(task);
  if (found != contended_.end() && !found->second.empty()) return &found->second.back();
  const auto futex = futexes_.find(task);
  return futex == futexes_.end() ? nullptr : &futex->second;
}

// An interrupt that wakes a task, as a timer's, gives no lock free.
void LockWaits::wake(const Event& event, TaskIndex waker) {
  const TaskIndex task = analysis_.tasks().find(event.arg & FKT_PID_MASK);
  LockWait* const wait = task == kNoTask ? nullptr : find_wait(task);
  if (wait == nullptr || waker == kNoTask || wait->holder != kNoTask) return;
  if (analysis_.spans().innermost_interrupt(event.cpu) != kNoType) return;
  wait->holder = waker;
  wait->call = outermost(waker);
  const auto held = held_since_.find(LockOf(waker, wait->address));
  if (held == held_since_.end()) return;
  wait->since = held->second.clock;
  free(waker, wait->address, event.clock);
}

void LockWaits::hold(TaskIndex task, std::uint64_t address, std::uint64_t clock, bool user) {
  held_since_.insert_or_assign(LockOf(task, address), Since{clock, user});
}

void LockWaits::free(TaskIndex task, std::uint64_t address, std::uint64_t clock) {
  const auto found = held_since_.find(LockOf(task, address));
  if (found == held_since_.end()) return;
  if (held_) held_({address, found->second.user, task, found->second.clock, clock});
  held_since_.erase(found);
}

}  // namespace fkt
