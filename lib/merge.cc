// SPDX-License-Identifier: GPL-2.0-only
#include "lib/merge.h"

#include <algorithm>
#include <limits>

namespace fkt {
namespace {

constexpr std::uint64_t kForever = std::numeric_limits<std::uint64_t>::max();

// Puts `entry` into the heap in place of its front, in one way down; push and pop would be two.
template <class T>
void replace_front(std::vector<T>& heap, const T& entry) {
  std::size_t hole = 0;
  for (;;) {
    std::size_t child = 2 * hole + 1;
    if (child >= heap.size()) break;
    if (child + 1 < heap.size() && heap[child + 1] < heap[child]) ++child;
    if (!(heap[child] < entry)) break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = entry;
}

}  // namespace

void EventRange::start() {
  streams_.clear();
  heap_.clear();
  data_->integrity.events = 0;
  std::uint64_t from = selection_.from.value_or(0);
  std::uint64_t to = selection_.to.value_or(kForever);
  if (const std::optional<Cut>& cut = data_->info.cut) {
    from = std::max(from, cut->from);
    to = std::min(to, cut->to);
  }
  streams_.reserve(data_->by_cpu.size());  // their addresses must not change from here on
  for (const auto& [cpu, pages] : data_->by_cpu) {
    if (selection_.cpu && *selection_.cpu != cpu) continue;
    CpuStream& stream = streams_.emplace_back(*data_, pages, from, to);
    if (stream.advance()) heap_.push_back(waiting(stream));
  }
  std::ranges::make_heap(heap_, [](const Waiting& a, const Waiting& b) { return b < a; });
  pick();
  count();
}

// The current stream has ended: the earliest of those that wait comes next.
void EventRange::pick() {
  if (heap_.empty()) {
    current_ = nullptr;
    return;
  }
  current_ = heap_.front().stream;
  const Waiting last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) replace_front(heap_, last);
  set_limit();
}

// The current stream is no longer the earliest: it waits, and the earliest comes next.
void EventRange::requeue() {
  CpuStream* next = heap_.front().stream;
  replace_front(heap_, waiting(*current_));
  current_ = next;
  set_limit();
}

void EventRange::set_limit() {
  limit_ = kForever;
  if (heap_.empty()) return;
  const Waiting& other = heap_.front();
  // At the same time as the other one we come first only with the lower number.
  limit_ = other.clock + (current_->event().cpu < other.cpu);
}

}  // namespace fkt
