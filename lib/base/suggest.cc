// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/suggest.h"

#include <algorithm>
#include <limits>

namespace fkt {
namespace {

// Returns the edit distance, or any number that is not below `limit` where it is not. rows: three
// of the table's, the current one and the two before it, of which swaps need the older.
std::size_t distance_below(std::string_view a, std::string_view b, std::size_t limit,
                           std::vector<std::size_t> (&rows)[3]) {
  const std::size_t longer = std::max(a.size(), b.size()) - std::min(a.size(), b.size());
  if (longer >= limit) return longer;
  auto& [before2, before, row] = rows;
  for (std::vector<std::size_t>& each : rows) each.resize(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  std::size_t least_before = 0;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before2.swap(before);
    before.swap(row);
    row[0] = i;
    std::size_t least = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before2[j - 2] + 1);
      }
      least = std::min(least, row[j]);
    }
    // A row follows from the two before it, and is nowhere less than the lesser of them.
    if (std::min(least, least_before) >= limit) return limit;
    least_before = least;
  }
  return row[b.size()];
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> rows[3];
  return distance_below(a, b, std::numeric_limits<std::size_t>::max(), rows);
}

// Nothing is suggested for words of less than three letters: one wrong letter makes any other word.
NearestName::NearestName(std::string_view word)
    : word_(word), best_(word.size() < 3 ? 0 : word.size() / 3 + 1) {}

void NearestName::offer(std::string_view name) {
  const std::size_t distance = distance_below(word_, name, best_, rows_);
  if (distance >= best_) return;
  best_ = distance;
  found_ = name;
}

std::string NearestName::question() const {
  return found_ ? "; did you mean \"" + *found_ + "\"?" : "";
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  NearestName nearest(word);
  for (const std::string& name : names) nearest.offer(name);
  return nearest.question();
}

}  // namespace fkt
