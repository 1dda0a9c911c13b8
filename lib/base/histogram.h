// SPDX-License-Identifier: GPL-2.0-only
// Histogram: counts durations in buckets whose width grows with the duration, so that percentiles
// of any number of values need a few kilobytes. Each octave has 32 buckets: a percentile is off by
// 1/64 (1.6 %) at most, and exact below 32 ticks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace fkt {

class Histogram {
 public:
  static constexpr unsigned kBits = 5;  // log2 of the buckets per octave

  void add(std::uint64_t ticks) { add_bucket(bucket_of(ticks), 1); }
  // Adds `count` values that fall into the bucket.
  void add_bucket(std::uint32_t bucket, std::uint64_t count) {
    if (bucket - first_ >= counts_.size()) [[unlikely]]
      make_room(bucket);
    std::uint32_t& low = counts_[bucket - first_];
    const std::uint64_t sum = low + count;
    low = static_cast<std::uint32_t>(sum);
    if (sum >> 32 != 0) [[unlikely]]
      high_.emplace_back(bucket, sum >> 32);
    count_ += count;
  }

  std::uint64_t count() const { return count_; }
  // Returns the smallest value that at least `percent` of all values do not exceed (nearest rank),
  // as the middle of its bucket (ticks); 0 if there are no values.
  std::uint64_t percentile(double percent) const;

  // Calls f(bucket, count) for every bucket that has values, in ascending order.
  template <class Function>
  void for_each(Function f) const {
    for (std::size_t i = 0; i < counts_.size(); i++) {
      if (in(i) > 0) f(first_ + static_cast<std::uint32_t>(i), in(i));
    }
  }

  // Adds the values that the other one has.
  void add(const Histogram& other) {
    other.for_each([&](std::uint32_t bucket, std::uint64_t count) { add_bucket(bucket, count); });
  }

  struct Row {
    std::uint64_t from = 0, to = 0;  // from <= value < to (ticks)
    std::uint64_t count = 0;
  };
  // Returns the counts between bounds of 1, 2 and 5 times the powers of ten of `unit` ticks, from
  // the first to the last row that has values; between finer bounds where many values lie in a
  // narrow range. A value that is within 1/64 of a bound may be in the row on its other side.
  std::vector<Row> rows(double unit) const;

  // Returns the bucket of a duration.
  static constexpr std::uint32_t bucket_of(std::uint64_t ticks) {
    if (ticks < 1U << kBits) return static_cast<std::uint32_t>(ticks);
    const auto octave = static_cast<unsigned>(std::bit_width(ticks)) - 1 - kBits;
    const auto part = static_cast<std::uint32_t>(ticks >> octave) & ((1U << kBits) - 1);
    return (octave + 1) << kBits | part;
  }
  // Returns the smallest value in the bucket.
  static constexpr std::uint64_t bottom(std::uint32_t bucket) {
    if (bucket < 1U << kBits) return bucket;
    const std::uint64_t part = (1U << kBits) | (bucket & ((1U << kBits) - 1));
    return part << ((bucket >> kBits) - 1);
  }
  // Returns the width of the bucket (ticks).
  static constexpr std::uint64_t width(std::uint32_t bucket) {
    return bucket < 1U << kBits ? 1 : std::uint64_t{1} << ((bucket >> kBits) - 1);
  }

 private:
  void make_room(std::uint32_t bucket);
  // Returns the number of values in the bucket at this position of counts_.
  std::uint64_t in(std::size_t position) const {
    std::uint64_t count = counts_[position];
    for (const auto& [bucket, high] : high_) {
      if (bucket - first_ == position) count += high << 32;
    }
    return count;
  }

  // Low 32 bits of the counts from bucket first_ on: 64 would double the memory of many histograms.
  std::vector<std::uint32_t> counts_;
  // Bucket and a part of its count, in units of 2^32. Entries of one bucket are added.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> high_;
  std::uint32_t first_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace fkt
