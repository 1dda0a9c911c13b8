// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/path_profile.h"

#include <algorithm>

namespace fkt {

void PathProfile::end_gap(std::uint64_t clock) {
  gaps_ -= gaps_ > 0 ? 1 : 0;
  last_gap_ = clock;
}

PathProfile::Known& PathProfile::known(std::uint64_t number) {
  const auto [found, is_new] = known_.try_emplace(number);
  Known& known = found->second;
  if (is_new) {
    known.row.number = number;
    const Path path = numbers_.path(number);
    std::ranges::copy_if(path.ways, std::back_inserter(known.watched),
                         [&](std::uint32_t way) { return numbers_.is_watched(way); });
    known.is_end = !numbers_.is_cut(path.ways.back());
  }
  return known;
}

// Adds the path with this sum, if it has the ways that were taken and ends as it should.
bool PathProfile::add_part(std::uint64_t sum, std::uint64_t ticks, bool is_end) {
  if (sum >= numbers_.paths()) return false;
  Known& path = known(sum);
  if (path.is_end != is_end || path.watched != watched_) return false;
  parts_.push_back({&path, ticks});
  watched_.clear();
  return true;
}

// Finds the paths of the ways in call_.
bool PathProfile::read_parts(std::uint64_t begin, std::uint64_t end) {
  parts_.clear();
  watched_.clear();
  std::uint64_t sum = numbers_.sum_at(0);
  for (const Taken& taken : call_) {
    sum += numbers_.added_by(taken.way);
    watched_.push_back(taken.way);
    if (!numbers_.is_cut(taken.way)) continue;
    if (!add_part(sum, taken.clock - begin, false)) return false;
    begin = taken.clock;
    sum = numbers_.sum_at(numbers_.ways()[taken.way].to);
  }
  return add_part(sum, std::max(begin, end) - begin, true);
}

void PathProfile::end_call(std::uint64_t thread, std::uint64_t begin, std::uint64_t end) {
  std::vector<Taken>& taken = taken_[thread];
  // What the calls in this one have taken is gone already.
  const auto first = std::ranges::lower_bound(taken, begin, {}, &Taken::clock);
  const auto behind = std::ranges::upper_bound(taken, end, {}, &Taken::clock);
  call_.assign(first, behind);
  taken.erase(first, behind);
  if (gaps_ > 0 || (last_gap_ != 0 && last_gap_ >= begin)) {
    sums_.calls_in_gaps++;
    return;
  }
  if (!read_parts(begin, end)) {
    sums_.calls_unclear++;
    return;
  }
  sums_.calls++;
  sums_.ticks += end - begin;
  sums_.ways += call_.size();
  for (const Part& part : parts_) {
    Row& row = part.path->row;
    row.times++;
    row.ticks += part.ticks;
    row.longest = std::max(row.longest, part.ticks);
  }
  std::ranges::sort(parts_, {}, &Part::path);
  const auto same =
      std::unique(parts_.begin(), parts_.end(),
                  [](const Part& one, const Part& other) { return one.path == other.path; });
  std::for_each(parts_.begin(), same, [&](const Part& part) {
    Row& row = part.path->row;
    row.calls++;
    row.call_ticks += end - begin;
    if (row.calls == 1 || end - begin > row.longest_call) {
      row.longest_call = end - begin;
      row.longest_call_at = begin;
    }
  });
}

std::vector<PathProfile::Row> PathProfile::rows() const {
  std::vector<Row> rows;
  for (const auto& [number, known] : known_) {
    if (known.row.times > 0) rows.push_back(known.row);
  }
  return rows;
}

PathProfile::Sums PathProfile::sums() const {
  Sums sums = sums_;
  for (const auto& [thread, taken] : taken_) sums.ways_outside += taken.size();
  return sums;
}

}  // namespace fkt
