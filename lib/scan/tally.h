// SPDX-License-Identifier: GPL-2.0-only
// The sums that digested pages (lib/scan/digest.h) add to the statistics. These are only sums,
// minima and maxima, so each thread keeps a tally of its own, and the order in which pages are
// added does not matter.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lib/analyse/profile.h"
#include "lib/scan/child_sums.h"
#include "lib/scan/digest.h"

namespace fkt {

class Tally {
 public:
  // histograms: durations are kept for percentiles.
  Tally(const Catalogue& catalogue, bool histograms)
      : catalogue_(&catalogue), histograms_(histograms) {}

  // Adds a digest with PageDigest::counted, for which it is decided which bursts are taken.
  void add(const PageDigest& digest);
  void add_to(Profile& profile) const;

 private:
  // A histogram (lib/base/histogram.h) that takes little memory, because there may be tens of
  // thousands: counts of the buckets from `first` on, as far as there are values.
  struct Buckets {
    std::uint32_t first = 0;
    std::vector<std::uint16_t> counts;  // modulo 2^16: see full_
  };
  // As Spread, of the records' short durations.
  struct ShortSpread {
    std::uint64_t count = 0, sum = 0;
    std::uint32_t min = ~std::uint32_t{0}, max = 0;
    void add(std::uint32_t ticks) {
      count++;
      sum += ticks;
      min = std::min(min, ticks);
      max = std::max(max, ticks);
    }
    Spread spread() const {
      Spread spread;
      if (count > 0) spread = {count, sum, min, max};
      return spread;
    }
  };
  // One line of the processor's cache for all spans, and one for those with others in them.
  struct alignas(64) OfType {
    ShortSpread whole;              // of spans whose self time is their duration
    Buckets durations;              // of all
    alignas(64) ShortSpread total;  // of all other spans
    ShortSpread self;
    std::uint64_t sub = 0;  // as SpanStats::sub
  };
  OfType& of(TypeIndex type) {
    if (type >= known_) [[unlikely]]
      grow(type);
    return types_[type];
  }
  void add_duration(TypeIndex type, Buckets& buckets, std::uint32_t ticks) {
    if (!histograms_) return;
    const std::uint32_t bucket = Histogram::bucket_of(ticks), at = bucket - buckets.first;
    if (at >= buckets.counts.size()) [[unlikely]]
      make_room(buckets, bucket);
    if (++buckets.counts[bucket - buckets.first] == 0) [[unlikely]]
      full_.emplace_back(type, bucket);
  }
  static void make_room(Buckets& buckets, std::uint32_t bucket);
  // Always inline: a compiler may leave out a call whose only effect is on the caches.
  template <class Record>
  [[gnu::always_inline]] void fetch_ahead(std::span<const Record> spans, std::size_t at) const;
  void grow(TypeIndex type);
  void add(std::span<const SpanRecord> spans);
  void add(std::span<const NestedRecord> spans);
  void add(std::span<const ChildRecord> children);
  void add(const PageDigest& digest, const Burst& first, const Burst& last);

  const Catalogue* catalogue_;
  bool histograms_;
  std::array<std::uint64_t, 1 << FKT_ID_BITS> counts_{};  // as PageDigest::counts
  std::vector<OfType> types_;
  // An entry for each overflow of a bucket's count (2^16).
  std::vector<std::pair<TypeIndex, std::uint32_t>> full_;
  TypeIndex known_ = 0;  // size of types_
  ChildSums children_;
};

}  // namespace fkt
