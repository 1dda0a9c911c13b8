// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <vector>

namespace fkt {

// Sorts the values by key(value) and keeps the first of those with equal keys.
template <class T, class Key>
void sort_each_once(std::vector<T>& values, const Key& key) {
  std::ranges::stable_sort(values, {}, key);
  // Not std::ranges::unique: the subrange that it returns is more than clang 14 can compile.
  const auto is_same = [&](const T& a, const T& b) { return key(a) == key(b); };
  values.erase(std::unique(values.begin(), values.end(), is_same), values.end());
}

}  // namespace fkt
