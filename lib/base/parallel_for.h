// SPDX-License-Identifier: GPL-2.0-only
// A loop whose iterations are shared by several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace fkt {

// Calls work(first, end) for pieces of [0, count) of `piece` numbers each (the last one may be
// shorter), from `threads` threads, one of which is the caller; returns after all calls. Pieces
// begin in ascending order, and several calls run at once. work must not throw.
template <class Work>
void parallel_for(std::size_t count, std::size_t piece, unsigned threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  const auto take_pieces = [&] {
    for (;;) {
      const std::size_t first = next.fetch_add(piece);
      if (first >= count) return;
      work(first, std::min(first + piece, count));
    }
  };
  const std::size_t pieces = (count + piece - 1) / piece;
  std::vector<std::jthread> helpers;  // joined at the end
  for (std::size_t i = 1; i < std::min<std::size_t>(threads, pieces); i++)
    helpers.emplace_back(take_pieces);
  take_pieces();
}

}  // namespace fkt
