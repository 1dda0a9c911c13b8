// SPDX-License-Identifier: GPL-2.0-only
// A heap in a vector with its least element in front, for merging sources that are sorted by time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fkt {

// A source with the time and CPU of its next element. At equal times the lower CPU number comes
// first.
template <class Source>
struct MergeSource {
  std::uint64_t clock;
  std::uint32_t cpu;
  Source* source;
  // Without branches, because which source is earlier cannot be predicted.
  bool operator<(const MergeSource& other) const {
    return (clock < other.clock) | ((clock == other.clock) & (cpu < other.cpu));
  }
};

template <class T>
void make_least_heap(std::vector<T>& heap) {
  std::ranges::make_heap(heap, [](const T& a, const T& b) { return b < a; });
}

// Replaces the front by `entry` and restores the heap in one pass; pop and push would be two.
// Always inline, so that `entry` is in registers: the processor would wait for a copy of it from
// memory to which its members were written just before.
template <class T>
[[gnu::always_inline]] inline void replace_front(std::vector<T>& heap, const T& entry) {
  std::size_t hole = 0;
  for (;;) {
    std::size_t child = 2 * hole + 1;
    if (child >= heap.size()) break;
    if (child + 1 < heap.size()) child += heap[child + 1] < heap[child];
    if (!(heap[child] < entry)) break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = entry;
}

// Removes the front. Precondition: the heap is not empty.
template <class T>
void pop_front(std::vector<T>& heap) {
  const T last = heap.back();
  heap.pop_back();
  if (!heap.empty()) replace_front(heap, last);
}

}  // namespace fkt
