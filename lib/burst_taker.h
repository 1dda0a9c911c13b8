// SPDX-License-Identifier: GPL-2.0-only
// What the events of a burst do to its thread and its CPU, all at once: the same as adding each of
// them does, for those bursts that fit what is open.
#pragma once

#include <cstdint>
#include <span>

#include "lib/burst.h"
#include "lib/spans.h"
#include "lib/states.h"
#include "lib/tasks.h"

namespace fkt {

class BurstTaker {
 public:
  // All must outlive it.
  BurstTaker(Tasks& tasks, Spans& spans, States& states, Profile& profile, const Window& window)
      : tasks_(tasks), spans_(spans), states_(states), profile_(profile), window_(window) {}

  // loose: of the burst's page. What the spans that ended in it add to the profile is left out.
  // False: it does not fit, and nothing was changed.
  bool take(const Burst& burst, std::uint32_t cpu, std::span<const ChildRecord> loose);

 private:
  struct Place;  // whatever it changes, looked up once
  bool fits(const Burst& burst, const Place& place) const;
  void arrive(const Burst& burst, Place& place);
  void spend(const Burst::Part& part, std::uint64_t calls, std::uint64_t to, Place& place);
  void give(Place& place, std::uint64_t ticks, std::uint64_t selected);
  void add_children(const Burst::Part& part, Place& place);
  void exit_call(const Burst& burst, Place& place);
  void enter_call(const Burst& burst, Place& place);
  void leave(const Burst& burst, Place& place);

  Tasks& tasks_;
  Spans& spans_;
  States& states_;
  Profile& profile_;
  const Window& window_;
};

}  // namespace fkt
