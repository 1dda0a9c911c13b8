// SPDX-License-Identifier: GPL-2.0-only
// A heap in a vector with its least element in front, for merging what several sources have next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fkt {

// A source whose next element is of that time and CPU. At one time, the lowest CPU number is first.
template <class Source>
struct Waiting {
  std::uint64_t clock;
  std::uint32_t cpu;
  Source* source;
  bool operator<(const Waiting& other) const {
    return clock != other.clock ? clock < other.clock : cpu < other.cpu;
  }
};

template <class T>
void make_least_heap(std::vector<T>& heap) {
  std::ranges::make_heap(heap, [](const T& a, const T& b) { return b < a; });
}

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

// Takes the front out. Precondition: there is one.
template <class T>
void pop_front(std::vector<T>& heap) {
  const T last = heap.back();
  heap.pop_back();
  if (!heap.empty()) replace_front(heap, last);
}

}  // namespace fkt
