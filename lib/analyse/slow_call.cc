// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/slow_call.h"

#include <algorithm>

#include "lib/read/event_merge.h"

namespace fkt {
namespace {

constexpr std::uint64_t kReadEvents = 1 << 18;
// Requests that were completed before the call began: some of them were ahead of one that was not.
constexpr std::size_t kMostBefore = 8192;

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
      task_runs_(analysis_,
                 [this](const TaskRuns::Run& run) {
                   const Run kept{run.task, run.cpu, run.from, run.to};
                   runs_on_[run.cpu].push_back(kept);
                   runs_of_[run.task].push_back(kept);
                 }),
      locks_(analysis_) {
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
        points_.insert_or_assign(number, *step);
      }
    }
  }
  sources_.blocks = !points_.empty();
  sources_.locks = locks_.has_contention();
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
  locks_.add(event, place);
  Cpu& on = cpu(event.cpu);
  if (event.is_gap()) {
    disks_.lose();
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
  add_subject(event, *type, place);
  add_point(event, *type, place);
}

void SlowCall::add_point(const Event& event, const EventType& type, const Analysis::Found& place) {
  const Field* const key = type.field(FieldUse::key);
  if (key == nullptr || key->names != "tracepoint") return;
  const auto found = points_.find(EventType::value(*key, event).value_or(0));
  if (found == points_.end()) return;
  const DiskRequest* const done =
      disks_.add(event, type, found->second, place.task, [](TaskIndex) { return true; });
  if (done == nullptr) return;
  keep(*done);
  cpu(event.cpu) = {first_request_ + requests_.size() - 1,
                    analysis_.spans().interrupt_state(event.cpu) != CpuState::running};
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

void SlowCall::wake(const Event& event, TaskIndex running) {
  if (event.clock < span_.begin) return;
  const TaskIndex task = analysis_.tasks().find(event.arg & FKT_PID_MASK);
  if (task == kNoTask) return;
  const auto [at, is_new] = wakes_.try_emplace(std::pair(task, event.clock));
  if (!is_new) return;
  at->second.request = cpu(event.cpu).request;
  if (const LockWait* const wait = locks_.wait_of(task); wait != nullptr && running != kNoTask) {
    at->second.lock = *wait;
  }
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

std::optional<LockWait> SlowCall::lock(const PathWait& wait) const {
  const auto found = wakes_.find(std::pair(wait.task, wait.to));
  return found == wakes_.end() ? std::nullopt : found->second.lock;
}

}  // namespace fkt
