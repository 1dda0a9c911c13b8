// SPDX-License-Identifier: GPL-2.0-only
#include "lib/timeline/run_merge.h"

#include <algorithm>

#include "lib/analyse/who_runs.h"
#include "lib/format/clocks.h"
#include "lib/read/trace_data.h"

namespace fkt {

QuietWords::QuietWords(const Catalogue& catalogue, const Meanings& meanings) {
  for (const EventType& type : catalogue.events()) {
    // WordTable takes events of this form for switches (lib/read/page_decoder.h).
    const bool as_switch = (type.id & ~0xfU) == FKT_E_SWITCH_R;
    const bool changes_tasks = type.id >= FKT_E_SWITCH_R && type.id <= FKT_E_RENAME;
    const bool any_task = changes_tasks || is_wake_up(type.id) || type.id == FKT_E_MASK;
    const Meaning& meaning = meanings[type.id];
    quiet_[type.id] = type.words && !as_switch && !any_task && !meaning.async && !meaning.late;
  }
  for (const PairType& pair : catalogue.pairs()) {
    const bool quiet = quiet_[pair.begin] && quiet_[pair.end];
    for (std::uint32_t i = 0; i < pair.count; i++) quiet_[pair.first + i] = quiet;
  }
}

RunMerge::RunMerge(const Trace& trace, const Meanings& meanings, std::uint64_t longest,
                   const PageTaker& taker)
    : data_(*trace.data_),
      quiet_(data_.info.catalogue, meanings),
      longest_(longest),
      ahead_(data_, 0, kForever, taker) {
  data_.integrity.events = 0;
  lanes_.reserve(data_.by_cpu.size());  // the heap points into it: no reallocation from here on
  for (const auto& [cpu, pages] : data_.by_cpu) {
    Lane& lane = lanes_.emplace_back(CpuStream(data_, pages, 0, kForever, nullptr), cpu);
    lane.stream.read_from(&ahead_);
    if (!lane.stream.advance()) continue;
    begin(lane);
    heap_.push_back(waiting(lane));
  }
  make_least_heap(heap_);
}

// The lane's stream has moved on to an event: decides what is handed out next.
bool RunMerge::begin(Lane& lane) {
  const Event& event = lane.stream.event();
  lane.events = 1;
  lane.due = event.clock;
  if (lane.alone > 0) {
    lane.alone--;
    return true;
  }
  return !makes_runs_ || !quiet_[event.id] || find_run(lane);
}

// A run must be of the thread that is known to run: else its first event changes more than its own
// CPU and task.
bool RunMerge::find_run(Lane& lane) {
  const Event& event = lane.stream.event();
  if (event.pid != lane.runs || event.pid > FKT_PID_MASK) return true;
  const std::uint64_t until = event.clock + std::min(longest_, kForever - event.clock);
  const PageDecoder::Ahead ahead = lane.stream.look_ahead(quiet_, kMostEvents, until);
  if (ahead.events + 1 < kFewestEvents) return true;
  if (event.pid != 0) {  // an idle task is of one CPU
    if (event.pid >= owners_.size()) owners_.resize(event.pid + 1);
    if (owners_[event.pid] != nullptr) {  // the thread seems to run on two CPUs at once
      lane.alone = ahead.events;
      take_apart(*owners_[event.pid]);
      return false;
    }
    owners_[event.pid] = &lane;
  }
  lane.events = ahead.events + 1;
  lane.made_begins = ahead.made_begins + is_made_begin(event.id);
  lane.due = ahead.end;
  return true;
}

void RunMerge::take_apart(Lane& lane) {
  if (!lane.in_run()) return;
  const Event& event = lane.stream.event();
  if (event.pid != 0) owners_[event.pid] = nullptr;
  lane.alone = lane.events - 1;
  lane.events = 1;
  lane.due = event.clock;
}

// Reorders the heap after other lanes than the one in front have changed.
void RunMerge::rebuild() {
  for (MergeSource<Lane>& entry : heap_) entry = waiting(*entry.source);
  make_least_heap(heap_);
}

void RunMerge::next() {
  Lane& lane = *heap_.front().source;
  const Event& last = lane.stream.event();
  if (lane.in_run()) {
    if (last.pid != 0) owners_[last.pid] = nullptr;
    data_.integrity.events += lane.events - lane.made_begins;
  } else if (last.is_gap()) {
    lane.runs = kUnknown;
  } else {
    lane.runs = is_switch(last.id) ? last.arg & FKT_PID_MASK : last.pid;
    data_.integrity.events += !is_made_begin(last.id);
  }
  lane.events = 1;
  if (!lane.stream.advance()) {
    pop_front(heap_);
  } else if (begin(lane)) {
    replace_front(heap_, waiting(lane));
  } else {
    rebuild();
  }
  while (!heap_.empty() && disturbs() && take_apart_others()) {
  }
}

// Returns whether what is due is an event that may concern the thread of a waiting run.
bool RunMerge::disturbs() const {
  const Lane& lane = *heap_.front().source;
  const Event& event = lane.stream.event();
  if (lane.in_run()) return false;
  if (is_owned(event.pid)) return true;
  if (quiet_[event.id]) return false;
  if (event.is_gap() || event.id == FKT_E_MASK || is_owned(event.arg)) return true;
  if (event.words.empty()) return false;
  return is_owned(event.words[0]) || is_owned(event.words[0] >> 32);
}

// Takes apart the runs that have begun before what is due. Returns false when there are none.
bool RunMerge::take_apart_others() {
  bool any = false;
  for (const MergeSource<Lane>& entry : heap_) {
    Lane& lane = *entry.source;
    if (!lane.in_run() || lane.stream.event().clock > heap_.front().clock) continue;
    take_apart(lane);
    any = true;
  }
  if (any) rebuild();
  return any;
}

void RunMerge::settle() {
  makes_runs_ = false;
  for (const MergeSource<Lane>& entry : heap_) take_apart(*entry.source);
  rebuild();
}

}  // namespace fkt
