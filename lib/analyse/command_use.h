// SPDX-License-Identifier: GPL-2.0-only
// Where the time of the recorded command went: what its tasks ran, what they waited for, and its
// slowest calls.
//
//   CommandUse use(analysis, 10);
//   analysis.watch(use);
//   scan(recording, analysis, {.activity = &use.activity(), .bursts = &use});
//   analysis.finish(true, recording_end(recording));
//   use.finish(analysis.end());
//
// Its tasks are the command's process and its descendants, or with fkt_record --pid that process.
// The times are those of lib/analyse/task_activity.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "lib/analyse/task_activity.h"
#include "lib/analyse/wait_kind.h"

namespace fkt {

class CommandUse : public BurstObserver {
 public:
  enum class What : std::uint8_t {
    runs,        // in `call`, or in user mode
    sleeps,      // in `call`, until the interrupt or task `waker` woke it
    waits_own,   // sleeps until a task of the command wakes it
    ready,       // waits for a CPU
    interrupts,  // while it ran
  };
  struct Part {
    What what = What::runs;
    TypeIndex call = kNoType;  // as TaskActivity::Period::call
    bool by_interrupt = false;
    std::uint32_t waker = TaskActivity::kNoWaker;
    std::uint64_t ticks = 0;
  };
  struct Call {
    std::uint64_t begin = 0, ticks = 0;
    TypeIndex type = kNoType;
    TaskIndex task = kNoTask;
    std::string name;  // of the task at its end; not escaped
  };

  // slowest: how many of the slowest calls are kept. analysis: tells this observer of the calls; it
  // outlives this object.
  CommandUse(const Analysis& analysis, std::size_t slowest);

  // Gets every event in order, after the analysis has applied it, or bursts.
  TaskActivity& activity() { return states_; }
  // Accounts the time up to `clock`, the end of the recording (ticks).
  void finish(std::uint64_t clock) { states_.finish(clock); }

  // Returns whether the recording is of a command or of a process.
  bool has_command() const { return pid_ != 0; }
  std::uint32_t pid() const { return pid_; }
  // Return the number of the command's tasks with known times, and the sum of these (ticks).
  std::size_t tasks() const;
  std::uint64_t ticks() const;
  std::vector<Part> parts() const;    // most time first
  std::vector<Call> slowest() const;  // longest first; system calls only
  // What the tasks slept for (ticks): by WaitKind, behind them waits for tasks of the command.
  const std::array<std::uint64_t, kWaitKinds + 1>& waits() const { return waits_; }
  const TaskActivity& states() const { return states_; }

  bool follows(std::uint32_t task) const override { return is_of_command(task); }
  bool wants(std::uint64_t ticks) const override {
    return slowest_.size() < most_ || (most_ > 0 && ticks >= slowest_.front().ticks);
  }
  void restart(const Checkpoint& checkpoint, const CheckpointMapping& places) override {
    states_.restart(checkpoint, places);
  }
  void reopen(OpenSpan& call, const SpanPosition& place) override { states_.reopen(call, place); }
  void begin(OpenSpan& call, const SpanPosition& place) override { states_.begin(call, place); }
  void end(const OpenSpan& call, Outcome outcome, const SpanPosition& place) override;
  void charge(const OpenSpan* call, std::uint32_t task, CpuState state,
              std::uint64_t ticks) override {
    states_.charge(call, task, state, ticks);
  }

 private:
  using Key = std::tuple<What, TypeIndex, bool, std::uint32_t>;

  bool is_of_command(TaskIndex task) const;
  void slept(TaskIndex task, const TaskActivity::Period& period);

  const Analysis& analysis_;
  const std::size_t most_;
  const std::uint64_t from_;  // ticks
  std::uint32_t pid_;
  TaskActivity states_;
  std::map<Key, std::uint64_t> sleeps_;
  std::array<std::uint64_t, kWaitKinds + 1> waits_{};
  std::vector<Call> slowest_;  // a heap with the shortest in front
};

}  // namespace fkt
