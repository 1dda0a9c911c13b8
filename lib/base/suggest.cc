// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/suggest.h"

#include <algorithm>

namespace fkt {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the table: the current one, and the two before it, of which swaps need the older.
  std::vector<std::size_t> before2(b.size() + 1), before(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before2.swap(before);
    before.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before2[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearest_name(std::string_view word,
                                        const std::vector<std::string>& names) {
  std::optional<std::string> nearest;
  if (word.size() < 3) return nearest;  // in so short a word one wrong letter makes any other word
  std::size_t best = word.size() / 3 + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(word, name);
    if (distance >= best) continue;
    best = distance;
    nearest = name;
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const std::optional<std::string> name = nearest_name(word, names);
  return name ? "; did you mean \"" + *name + "\"?" : "";
}

}  // namespace fkt
