// SPDX-License-Identifier: GPL-2.0-only
// BurstApplier: applies all events of a burst to its thread and its CPU in one step. The result
// equals that of adding the events one by one, for the bursts that fit the open spans.
#pragma once

#include <cstdint>
#include <span>

#include "lib/analyse/analysis.h"
#include "lib/analyse/burst.h"

namespace fkt {

class BurstApplier {
 public:
  // The analysis must outlive it. states: TaskStates is followed too; then a burst fits only if its
  // task is already known to run on the CPU. observer: gets the charges outside a burst's whole
  // calls, and the end of the call that was open before it; may be nullptr.
  BurstApplier(Analysis& analysis, bool states, BurstObserver* observer)
      : follows_states_(states),
        observer_(observer),
        analysis_(analysis),
        tasks_(analysis.tasks_),
        spans_(analysis.spans_),
        cpu_accounting_(analysis.cpu_accounting_),
        profile_(analysis.profile_),
        window_(analysis.window_) {}

  // Applies the burst of `cpu`. loose: PageDigest::loose of its page. The durations of spans that
  // end in it are not added to the profile. Returns false, and changes nothing, if the burst does
  // not fit the current state.
  bool apply(const Burst& burst, std::uint32_t cpu, std::span<const ChildRecord> loose);
  // The analysis' profile, which lacks what was counted page by page.
  Profile& profile() { return profile_; }

 private:
  struct Target;  // references to the state of the task and the CPU, looked up once
  bool fits(const Burst& burst, const Target& target) const;
  void arrive(const Burst& burst, Target& target);
  void spend(const Burst::Part& part, std::uint64_t calls, std::uint64_t to, Target& target);
  void give(Target& target, std::uint64_t ticks, std::uint64_t selected);
  static void add_called(std::uint64_t ticks, Target& target);
  void add_children(const Burst::Part& part, Target& target);
  void exit_call(const Burst& burst, Target& target);
  void enter_call(const Burst& burst, Target& target);
  void leave(const Burst& burst, Target& target);

  void tell(const OpenSpan* call, CpuState state, std::uint64_t ticks, const Target& target) const;

  const bool follows_states_;
  BurstObserver* const observer_;
  Analysis& analysis_;
  Tasks& tasks_;
  SpanTracker& spans_;
  CpuAccounting& cpu_accounting_;
  Profile& profile_;
  const Window& window_;
};

}  // namespace fkt
