// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/slow_call.h"

#include <algorithm>

#include "lib/read/event_merge.h"

namespace fkt {
namespace {

constexpr std::uint64_t kReadEvents = 1 << 18;
// Requests that were completed before the call began: some of them were ahead of one that was not.
constexpr std::size_t kMostBefore = 8192;

// futex(2): the bits of its second argument that say which operation it is; FUTEX_WAIT; and the
// value of a mutex of glibc while a thread waits for it.
constexpr std::uint64_t kFutexOperation = 0x7f, kFutexWait = 0, kMutexContended = 2;

// Functions of the kernel that return with the lock that is their first argument.
constexpr std::string_view kLockCalls[] = {"mutex_lock", "down_", "rt_mutex_lock", "ww_mutex_lock"};
// Functions of programs that do.
constexpr std::string_view kUserLockCalls[] = {"pthread_mutex_lock", "pthread_mutex_trylock"};

bool enters_system_call(std::uint16_t id) {
  return id == FKT_E_SYS_ENTRY || id == FKT_E_SYS_ENTRY_LONG || id == FKT_E_SYS_ENTRY_ARGS ||
         id == FKT_E_SYS_ENTRY_PATH;
}
bool leaves_system_call(std::uint16_t id) {
  return id == FKT_E_SYS_EXIT || id == FKT_E_SYS_EXIT_LONG;
}

bool takes_lock(std::string_view function) {
  const auto begins = [&](std::string_view name) { return function.starts_with(name); };
  return std::ranges::any_of(kLockCalls, begins) || std::ranges::any_of(kUserLockCalls, begins);
}

bool waits_for_mutex(const std::array<std::uint64_t, 6>& futex) {
  return (futex[1] & kFutexOperation) == kFutexWait && futex[2] == kMutexContended;
}

// Returns the first value of a call's event, besides its key and its times.
std::optional<std::uint64_t> first_argument(const EventType& type, const Event& event) {
  const std::span<const Field> values = type.values_of(event);
  return values.empty() ? std::nullopt : EventType::value(values.front(), event);
}

}  // namespace

Selection SlowCall::selection_of() const {
  Selection selection;
  selection.from = span_.begin;
  selection.to = end_ + 1;  // the call's end belongs to it
  return selection;
}

SlowCall::SlowCall(const Recording& recording, const FoundSpan& span, const Reading& reading)
    : span_(span),
      end_(span.begin + span.duration),
      analysis_(recording.info(), selection_of()),
      states_(analysis_),
      task_runs_(analysis_, [this](const TaskRuns::Run& run) {
        const Run kept{run.task, run.cpu, run.from, run.to};
        runs_on_[run.cpu].push_back(kept);
        runs_of_[run.task].push_back(kept);
      }) {
  states_.keep_history();
  find_sources();
  analysis_.watch(*this);
  read(recording, reading);
  for (const auto& [key, request] : disks_.open()) keep(request);
  functions_.assign(in_.begin(), in_.end());
  std::ranges::stable_sort(functions_, std::greater{}, &Child::ticks);
  const bool on_task = !span_.async && !span_.interrupt;
  if (on_task && sources_.switches && !too_much()) {
    path_ = critical_path(states_, analysis_.tasks(), span_.index, span_.begin, end_);
  }
}

void SlowCall::find_sources() {
  const RecordingInfo& info = analysis_.info();
  sources_.switches = records_switches(info.command.mask);
  for (const EventType& type : info.catalogue.events()) {
    const Field* const key = type.field(FieldUse::key);
    const Catalogue::NameTable* const names = key ? info.catalogue.names(*key) : nullptr;
    if (names == nullptr) continue;
    for (const auto& [number, name] : *names) {
      if (key->names == "function") sources_.files |= name == "vfs_open";
      if (key->names != "tracepoint") continue;
      if (const DiskRequests::Step* const step = DiskRequests::step_of(name)) {
        points_.insert_or_assign(number, KnownPoint{Point::disk, *step});
      } else if (name == "contention_begin") {
        points_.insert_or_assign(number, KnownPoint{Point::lock_begin});
      } else if (name == "contention_end") {
        points_.insert_or_assign(number, KnownPoint{Point::lock_end});
      }
    }
  }
  for (const auto& [number, point] : points_) {
    (point.point == Point::disk ? sources_.blocks : sources_.locks) = true;
  }
}

void SlowCall::read(const Recording& recording, const Reading& reading) {
  std::uint64_t done = 0;
  for (const Event& event :
       recording.events({.from = {}, .to = analysis_.selection().to, .cpu = {}})) {
    const Analysis::Found& place = analysis_.add(event);
    states_.add(event, place);
    task_runs_.add(event, place);
    add(event, place);
    if (++done % kReadEvents == 0 && reading) reading(done);
  }
  analysis_.finish(false, recording_end(recording));
  states_.finish(end_);
  task_runs_.finish(end_);
}

SlowCall::Cpu& SlowCall::cpu(std::uint32_t number) {
  if (number >= cpus_.size()) cpus_.resize(number + 1);
  return cpus_[number];
}

void SlowCall::add(const Event& event, const Analysis::Found& place) {
  Cpu& on = cpu(event.cpu);
  if (event.is_gap()) {
    disks_.lose();
    contended_.clear();
    held_since_.clear();
    on = {};
    return;
  }
  // What follows the interrupt, or the switch, is no consequence of the request's completion.
  const bool left =
      on.in_interrupt && analysis_.spans().interrupt_state(event.cpu) == CpuState::running;
  if (left || is_switch(event.id)) on = {};
  const EventType* const type = analysis_.info().catalogue.find(event.id);
  if (type == nullptr) return;
  if (event.id == FKT_E_NAME) return names_.add(event, *type);
  if (is_wake_up(event.id)) return wake(event, place.task);
  if (place.task == kNoTask) return;
  if (enters_system_call(event.id)) add_arguments(event, *type, place.task);
  if (leaves_system_call(event.id)) add_futex_return(event, place.task);
  add_subject(event, *type, place);
  if (type->made_of == 0) return add_point(event, *type, place);
  if (place.step.closed) add_lock_call(event, *type, place);
}

void SlowCall::add_point(const Event& event, const EventType& type, const Analysis::Found& place) {
  const Field* const key = type.field(FieldUse::key);
  if (key == nullptr || key->names != "tracepoint") return;
  const auto found = points_.find(EventType::value(*key, event).value_or(0));
  if (found == points_.end()) return;
  const std::uint64_t lock = field_value(type, event, "lock");
  switch (found->second.point) {
    case Point::disk: {
      const DiskRequest* const done =
          disks_.add(event, type, found->second.step, place.task, [](TaskIndex) { return true; });
      if (done == nullptr) return;
      keep(*done);
      cpu(event.cpu) = {first_request_ + requests_.size() - 1,
                        analysis_.spans().interrupt_state(event.cpu) != CpuState::running};
      return;
    }
    case Point::lock_begin:
      contended_.insert_or_assign(place.task, lock);
      return;
    case Point::lock_end:
      contended_.erase(place.task);
      if (field_value(type, event, "ret") == 0) {
        held_since_.insert_or_assign(LockOf(place.task, lock), event.clock);
      }
      return;
  }
}

void SlowCall::keep(const DiskRequest& request) {
  if (request.completed != 0 && request.completed < span_.begin &&
      requests_.size() >= kMostBefore) {
    requests_.pop_front();
    first_request_++;
  }
  requests_.push_back(request);
}

// The outermost function that tells it counts: what it calls may be about other files.
void SlowCall::add_subject(const Event& event, const EventType& type,
                           const Analysis::Found& place) {
  if (place.task != span_.index || event.clock < span_.begin) return;
  if (const Field* const path = type.field(event, "path");
      path != nullptr && path_argument_.empty()) {
    path_argument_ = EventType::text(*path, event);
  }
  if (!place.step.closed) return;
  const std::uint64_t began = event.clock - place.step.duration;
  if (began < span_.begin) return;
  const bool is_own = began == span_.begin && place.step.duration == span_.duration;
  if (is_own && analysis_.types()[place.step.type].name == span_.name) {
    own_words_.assign(event.words.begin(), event.words.end());
    own_event_ = event;
    own_event_->words = own_words_;
  }
  const bool earlier_file = !file_ || began < file_since_;
  if (const auto file = IoUse::file_of(type, event); file.number != 0 && earlier_file) {
    file_ = file;
    file_since_ = began;
  }
  const std::string_view name = analysis_.types()[place.step.type].name;
  const auto socket = IoUse::socket_of(type, event, IoUse::protocol_of(name));
  if (socket.number != 0 && (!socket_ || began < socket_since_)) {
    socket_ = socket;
    socket_since_ = began;
  }
}

void SlowCall::add_arguments(const Event& event, const EventType& type, TaskIndex task) {
  futexes_.erase(task);
  if (type.field(event, "a0") == nullptr) return;
  sources_.arguments = true;
  std::array<std::uint64_t, 6> values{};
  constexpr std::string_view kNames[] = {"a0", "a1", "a2", "a3", "a4", "a5"};
  for (std::size_t i = 0; i < values.size(); i++) values[i] = field_value(type, event, kNames[i]);
  if (task == span_.index && event.clock == span_.begin) arguments_ = values;
  const TypeIndex call = analysis_.spans().innermost(task);
  if (call == kNoType || analysis_.types()[call].name != "sys_futex") return;
  futexes_[task] = values;
  if (waits_for_mutex(values)) held_since_.erase(LockOf(task, values[0]));
}

// A task whose FUTEX_WAIT returns has the mutex from now on. If another task took the mutex first,
// the woken task calls FUTEX_WAIT again, and add_arguments() takes this back.
void SlowCall::add_futex_return(const Event& event, TaskIndex task) {
  const auto found = futexes_.find(task);
  if (found == futexes_.end()) return;
  if (waits_for_mutex(found->second)) {
    held_since_.insert_or_assign(LockOf(task, found->second[0]), event.clock);
  }
  futexes_.erase(found);
}

// A function that takes locks has returned.
void SlowCall::add_lock_call(const Event& event, const EventType& type,
                             const Analysis::Found& place) {
  if (!takes_lock(analysis_.types()[place.step.type].name)) return;
  const std::optional<std::uint64_t> lock = first_argument(type, event);
  if (lock) held_since_.insert_or_assign(LockOf(place.task, *lock), event.clock);
}

std::optional<SlowCall::Lock> SlowCall::lock_of(TaskIndex task, TaskIndex waker) {
  Lock lock;
  if (const auto found = contended_.find(task); found != contended_.end()) {
    lock.address = found->second;
  } else if (const auto futex = futexes_.find(task); futex != futexes_.end()) {
    lock.address = futex->second[0];
    lock.futex = true;
    lock.mutex = waits_for_mutex(futex->second);
  } else {
    return {};
  }
  const std::vector<TypeIndex> calls = analysis_.spans().path(waker);
  if (!calls.empty()) lock.call = calls.front();
  const auto held = held_since_.find(LockOf(waker, lock.address));
  if (held != held_since_.end()) {
    lock.since = held->second;
    held_since_.erase(held);
  }
  return lock;
}

void SlowCall::wake(const Event& event, TaskIndex running) {
  if (event.clock < span_.begin) return;
  const TaskIndex task = analysis_.tasks().find(event.arg & FKT_PID_MASK);
  if (task == kNoTask) return;
  const auto [at, is_new] = wakes_.try_emplace(std::pair(task, event.clock));
  if (!is_new) return;
  at->second.request = cpu(event.cpu).request;
  if (running != kNoTask) at->second.lock = lock_of(task, running);
}

void SlowCall::restart(const Checkpoint& checkpoint, const CheckpointMapping& places) {
  states_.restart(checkpoint, places);
  task_runs_.restart(checkpoint, places);
}

void SlowCall::end(const OpenSpan& call, Outcome outcome, const SpanPosition& place) {
  states_.end(call, outcome, place);
  if (outcome != Outcome::complete || place.interrupt || place.task != span_.index) return;
  const bool inside = call.begin >= span_.begin && place.depth > 0 && place.clock <= end_;
  if (inside && place.clock - call.begin < span_.duration) {
    in_.add(call.type, 1, place.clock - call.begin);
  }
}

const DiskRequest* SlowCall::request(TaskIndex task, std::uint64_t to) const {
  const auto wake = wakes_.find(std::pair(task, to));
  if (wake == wakes_.end() || wake->second.request == kNoRequest) return nullptr;
  const std::uint64_t number = wake->second.request - first_request_;
  return number < requests_.size() ? &requests_[number] : nullptr;
}

const DiskRequest* SlowCall::own_request() const {
  const auto own = std::ranges::find_if(requests_, [&](const DiskRequest& request) {
    return request.issued == span_.begin && request.completed == end_;
  });
  return span_.async && own != requests_.end() ? &*own : nullptr;
}

std::vector<const DiskRequest*> SlowCall::ahead_of(const DiskRequest& request) const {
  std::vector<const DiskRequest*> ahead;
  const std::uint64_t queued = request.queued != 0 ? request.queued : request.issued;
  for (const DiskRequest& other : requests_) {
    const bool was_there = other.completed == 0 || other.completed > queued;
    // A flush before and behind a write, and that write itself, are of one bio.
    const bool of_same = other.task == request.task && other.queued == queued;
    if (other.device == request.device && other.issued < request.issued && was_there && !of_same) {
      ahead.push_back(&other);
    }
  }
  return ahead;
}

std::vector<SlowCall::Ran> SlowCall::ran_meanwhile(const PathStep& step) const {
  std::vector<Ran> all;
  const auto own = runs_of_.find(step.task);
  if (own == runs_of_.end()) return all;
  const auto got = std::ranges::lower_bound(own->second, step.to, {}, &Run::from);
  if (got == own->second.end()) return all;
  std::map<TaskIndex, std::uint64_t> sums;
  std::uint64_t left = step.to - step.from;
  const std::vector<Run>& on = runs_on_.at(got->cpu);
  for (auto run = std::ranges::upper_bound(on, step.from, {}, &Run::to);
       run != on.end() && run->from < step.to; ++run) {
    const std::uint64_t from = std::max(run->from, step.from), to = std::min(run->to, step.to);
    sums[run->task] += to - from;
    left -= std::min(left, to - from);
  }
  for (const auto& [task, ticks] : sums) all.push_back({got->cpu, task, ticks});
  if (left > 0) all.push_back({got->cpu, kNoTask, left});
  std::ranges::stable_sort(all, std::greater{}, &Ran::ticks);
  return all;
}

std::optional<SlowCall::Lock> SlowCall::lock(const PathWait& wait) const {
  const auto found = wakes_.find(std::pair(wait.task, wait.to));
  return found == wakes_.end() ? std::nullopt : found->second.lock;
}

}  // namespace fkt
