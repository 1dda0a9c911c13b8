// SPDX-License-Identifier: GPL-2.0-only
// BurstOrder: puts the streams of all CPUs into the order in which what comes next in each is due:
// an event, or a burst, which is some events of one CPU and one thread that concern nothing outside
// of that CPU and thread. A burst is due when its last event is. So the CPUs are compared once per
// burst, not once per event, and the reader looks the task up once.
//
// If an event of another CPU that is due earlier may concern the thread, the burst is taken apart:
// its events are handed out one by one, in time order. So each CPU and each task has its events in
// time order; only the order of events of different CPUs and tasks may differ, by the duration of
// the longest burst.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/analyse/running_tasks.h"
#include "lib/analyse/tasks.h"
#include "lib/base/merge_heap.h"
#include "lib/format/event.h"

namespace fkt {

// A Stream has the events of one CPU, and these functions:
//   cpu()         its number
//   in_burst()    whether a burst comes next
//   pid(), from() of the burst: its thread, and when it begins (ticks)
//   due()         when the burst, or the event that comes next, is due (ticks)
//   take_apart()  the burst's events come next one by one; in_burst() is false now
template <class Stream>
class BurstOrder {
 public:
  // wake_ups: they concern the thread that is woken.
  explicit BurstOrder(bool wake_ups) : wake_ups_(wake_ups) {}

  // Adds a stream, which must outlive this object and begin with an event; begin() comes after the
  // last one.
  void add(Stream& stream) { heap_.push_back(waiting(stream)); }
  void begin() { make_least_heap(heap_); }

  bool empty() const { return heap_.empty(); }
  // The stream that is due next, and when (ticks). Precondition: !empty().
  Stream& front() const { return *heap_.front().source; }
  std::uint64_t due() const { return heap_.front().clock; }

  // Call before the burst in front is read.
  void disown() {
    if (front().pid() != 0) owners_[front().pid()] = nullptr;
  }
  // Call when the stream in front has moved on; more: it has not ended. If a thread seems to run on
  // two CPUs at once, both bursts are taken apart.
  void go_on(bool more) {
    if (!more) return pop_front(heap_);
    Stream& stream = front();
    if (stream.in_burst() && !own(stream)) {
      reorder();
    } else {
      replace_front(heap_, waiting(stream));
    }
  }

  // Take apart the bursts of threads that the event in front may concern; of this thread; the burst
  // of this stream. Streams are in order only after reorder().
  void disturb(const Event& event);
  void disturb(std::uint64_t pid) { disturb(pid, due()); }
  void take_apart(Stream& stream) {
    const std::uint32_t pid = stream.pid();
    if (pid != 0 && owners_[pid] == &stream) owners_[pid] = nullptr;
    stream.take_apart();
    changed_ = true;
  }
  // Takes apart all bursts that have begun at `clock` (ticks).
  void take_apart_begun(std::uint64_t clock) {
    for (const MergeSource<Stream>& entry : heap_) {
      Stream& stream = *entry.source;
      if (stream.in_burst() && stream.from() <= clock) take_apart(stream);
    }
  }
  // Returns whether bursts were taken apart since the last call; then another stream may be in
  // front.
  bool reorder() {
    if (!changed_) return false;
    for (MergeSource<Stream>& entry : heap_) entry = waiting(*entry.source);
    make_least_heap(heap_);
    changed_ = false;
    return true;
  }

 private:
  static MergeSource<Stream> waiting(Stream& stream) {
    return {stream.due(), stream.cpu(), &stream};
  }
  // Makes the stream the owner of its burst's thread. Returns false when another one was.
  bool own(Stream& stream) {
    const std::uint32_t pid = stream.pid();
    if (pid == 0) return true;  // an idle task is of one CPU
    if (pid >= owners_.size()) owners_.resize(pid + 1);
    if (owners_[pid] == nullptr) {
      owners_[pid] = &stream;
      return true;
    }
    take_apart(*owners_[pid]);
    take_apart(stream);
    return false;
  }
  // Takes apart the burst of the thread, unless it begins after `clock` (ticks). Mostly there is
  // none, which is why this is always inline.
  [[gnu::always_inline]] void disturb(std::uint64_t pid, std::uint64_t clock) {
    pid &= FKT_PID_MASK;
    if (pid >= owners_.size() || owners_[pid] == nullptr) return;
    Stream& owner = *owners_[pid];
    if (&owner != &front() && owner.from() <= clock) take_apart(owner);
  }

  const bool wake_ups_;
  bool changed_ = false;  // bursts were taken apart: the heap's order is not that of the streams
  std::vector<MergeSource<Stream>> heap_;
  std::vector<Stream*> owners_;  // by pid: the stream that waits with a burst of the thread
};

template <class Stream>
inline void BurstOrder<Stream>::disturb(const Event& event) {
  if (event.is_gap() || event.id == FKT_E_MASK) [[unlikely]]
    take_apart_begun(event.clock);
  if (event.id == kGapBegins) return;
  disturb(event.pid);
  if (is_wake_up(event.id) && wake_ups_) return disturb(event.arg);
  if (!may_change_tasks(event.id)) return;
  // The number of a new or freed thread belongs to another task from now on. So a burst of that
  // number is taken apart even if it begins later.
  const bool renumbers = event.id == FKT_E_FORK || event.id == FKT_E_PID_FREE;
  disturb(event.arg, renumbers ? ~std::uint64_t{0} : event.clock);
  if (event.words.empty()) return;
  disturb(event.words[0]);
  disturb(event.words[0] >> 32);
}

}  // namespace fkt
