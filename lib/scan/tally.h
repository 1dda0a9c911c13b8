// SPDX-License-Identifier: GPL-2.0-only
// What digested pages (lib/scan/digest.h) add to the statistics. These are only sums, minima and
// maxima, so each thread keeps a tally of its own, and the order in which pages are added does not
// matter.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/analyse/profile.h"
#include "lib/scan/burst.h"

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
    void add(std::uint32_t bucket) {
      const std::uint32_t at = bucket - first;
      if (at >= counts.size()) [[unlikely]]
        return add_far(bucket);
      if (++counts[at] == 0) [[unlikely]]
        full.push_back(bucket);
    }
    void add_far(std::uint32_t bucket);
    void add_to(Histogram& histogram) const;

    std::uint32_t first = 0;
    std::vector<std::uint32_t> counts;
    std::vector<std::uint32_t> full;  // a bucket for each time that its count came to 2^32
  };
  struct OfType {
    Spread whole;           // of spans whose own time is their duration
    Buckets durations;      // of all
    Spread total, own;      // of all other spans
    std::uint64_t sub = 0;  // as SpanStats::sub
    ChildList children;
  };
  OfType& of(TypeIndex type) {
    if (type >= known_) [[unlikely]]
      grow(type);
    return types_[type];
  }
  void grow(TypeIndex type);
  void add(std::span<const SpanRecord> spans);
  void add(const NestedRecord& span);
  void add(const PageDigest& digest, const Burst& first, const Burst& last);

  const Catalogue* catalogue_;
  bool histograms_;
  std::array<std::uint64_t, 1 << FKT_ID_BITS> counts_{};  // as PageDigest::counts
  std::vector<OfType> types_;
  TypeIndex known_ = 0;  // size of types_
};

}  // namespace fkt
