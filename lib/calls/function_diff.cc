// SPDX-License-Identifier: GPL-2.0-only
#include "lib/calls/function_diff.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "lib/base/time_format.h"

namespace fkt {
namespace {

// Averages that differ by less may be in the same bucket of a histogram.
constexpr double kResolution = 1.0 / (1 << Histogram::kBits);

struct Function {
  FunctionRow row;
  const Histogram* times = nullptr;
};

std::map<std::string, Function> functions(const CallSource& source) {
  std::map<std::string, Function> found;
  const TypeNames types = source.types();
  for (FunctionRow& row : function_rows(source.profile(), types)) {
    Function& function = found[row.name];
    function.row = std::move(row);
  }
  for (TypeIndex type = 0; type < types.count; type++) {
    const auto function = found.find(std::string(types.name(type)));
    if (function != found.end()) function->second.times = &source.profile().stats(type).times;
  }
  return found;
}

DiffRow::Side side(const FunctionRow& row, double ticks_per_second) {
  const TimeFormat ns(TimeUnit::ns, ticks_per_second);
  const std::uint64_t time = ns.ns(row.time);
  return {row.count, row.whole, time, row.whole == 0 ? 0 : time / row.whole, ns.ns(row.p50)};
}

// Returns the time (ns) that the new calls took more than as many old calls would have.
std::int64_t extra_time(const DiffRow& row) {
  if (row.after.whole == 0) return -static_cast<std::int64_t>(row.before.time);
  if (row.before.whole == 0) return static_cast<std::int64_t>(row.after.time);
  const double each = static_cast<double>(row.before.time) / static_cast<double>(row.before.whole);
  return std::llround(static_cast<double>(row.after.time) -
                      each * static_cast<double>(row.after.whole));
}

bool differ(const DiffRow& row) {
  const auto before = static_cast<double>(row.before.average);
  return std::abs(static_cast<double>(row.after.average) - before) > before * kResolution;
}

}  // namespace

std::optional<RankTest> rank_test(const Histogram& first, const Histogram& second, double scale) {
  if (first.count() < kFewest || second.count() < kFewest) return std::nullopt;
  std::map<std::uint32_t, std::pair<double, double>> buckets;
  first.for_each([&](std::uint32_t bucket, std::uint64_t count) {
    const auto middle =
        static_cast<double>(Histogram::bottom(bucket) + Histogram::width(bucket) / 2);
    buckets[Histogram::bucket_of(static_cast<std::uint64_t>(middle * scale + 0.5))].first +=
        static_cast<double>(count);
  });
  second.for_each([&](std::uint32_t bucket, std::uint64_t count) {
    buckets[bucket].second += static_cast<double>(count);
  });
  const auto n1 = static_cast<double>(first.count()), n2 = static_cast<double>(second.count());
  const double n = n1 + n2;
  double below = 0, wins = 0, ties = 0;
  for (const auto& [bucket, counts] : buckets) {
    const auto& [old_calls, new_calls] = counts;
    wins += new_calls * (below + old_calls / 2);
    below += old_calls;
    const double tied = old_calls + new_calls;
    ties += tied * (tied * tied - 1);
  }
  const double variance = n1 * n2 / 12 * ((n + 1) - ties / (n * (n - 1)));
  RankTest test;
  test.slower = wins / (n1 * n2);
  if (variance > 0) {
    test.p = std::erfc(std::abs(wins - n1 * n2 / 2) / std::sqrt(variance) / std::sqrt(2.0));
  }
  return test;
}

double count_test(std::uint64_t first, std::uint64_t second, double ratio) {
  // The square root of such a count, shifted a little, is nearly normal with deviation 1/2
  // (Anscombe).
  const auto root = [](std::uint64_t count) {
    return std::sqrt(static_cast<double>(count) + 0.375);
  };
  const double z = 2 * (root(second) - std::sqrt(ratio) * root(first)) / std::sqrt(1 + ratio);
  return std::erfc(std::abs(z) / std::sqrt(2.0));
}

std::vector<DiffRow> function_diff(const CallSource& before, const CallSource& after, DiffBy by) {
  const auto old_ones = functions(before), new_ones = functions(after);
  const double scale = after.ticks_per_second() / before.ticks_per_second();
  std::map<std::string, DiffRow> rows;
  for (const auto& [name, function] : old_ones) {
    rows[name].before = side(function.row, before.ticks_per_second());
  }
  double tests = 0;
  for (const auto& [name, function] : new_ones) {
    DiffRow& row = rows[name];
    row.after = side(function.row, after.ticks_per_second());
    const auto old_one = old_ones.find(name);
    if (old_one == old_ones.end()) continue;
    if (const auto test = rank_test(*old_one->second.times, *function.times, scale)) {
      row.slower = test->slower;
      row.p = test->p;
      tests++;
    }
  }
  const double longer = by == DiffBy::sums ? 1
                                           : static_cast<double>(*after.duration()) /
                                                 static_cast<double>(*before.duration());
  std::vector<DiffRow> result;
  for (auto& [name, row] : rows) {
    row.name = name;
    row.extra = extra_time(row);
    row.change = static_cast<std::int64_t>(row.after.time - row.before.time);
    // Bonferroni correction: with as many tests as there are rows, some small p arise by chance.
    row.significant = row.p && *row.p * tests < kLevel && differ(row);
    row.count_p = count_test(row.before.count, row.after.count, longer);
    row.count_significant = row.count_p * static_cast<double>(rows.size()) < kLevel;
    result.push_back(std::move(row));
  }
  const auto growth = [longer](const DiffRow& row) {
    return static_cast<double>(row.after.time) - longer * static_cast<double>(row.before.time);
  };
  std::ranges::stable_sort(result, std::greater{}, growth);
  return result;
}

}  // namespace fkt
