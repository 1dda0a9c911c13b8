// SPDX-License-Identifier: GPL-2.0-only
// What digested pages (lib/digest.h) add to the statistics. All of it is sums, least and greatest
// values: each thread keeps a tally of its own, and the order in which pages come makes no
// difference.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/burst.h"
#include "lib/profile.h"

namespace fkt {

class Tally {
 public:
  // histograms: durations are kept for percentiles.
  Tally(const Catalogue& catalogue, bool histograms)
      : catalogue_(&catalogue), histograms_(histograms) {}

  // A digest that is counted, and whose bursts are taken or not by now.
  void add(const PageDigest& digest);
  void add_to(Profile& profile) const;

 private:
  struct OfType {
    Spread whole;                        // of those whose own time is all of it
    Spread total, own;                   // of the others
    std::vector<std::uint64_t> buckets;  // of total
    std::vector<Child> children;
  };
  OfType& of(TypeIndex type) {
    if (type >= known_) [[unlikely]]
      grow(type);
    return types_[type];
  }
  void grow(TypeIndex type);
  void keep(OfType& type, std::uint32_t ticks);
  void add(std::span<const SpanRecord> spans);
  void add(const NestedRecord& span);
  void add(const PageDigest& digest, const Burst& first, const Burst& last);

  const Catalogue* catalogue_;
  bool histograms_;
  std::array<std::uint64_t, 1 << FKT_ID_BITS> counts_{};  // as PageDigest::counts
  std::vector<OfType> types_;
  TypeIndex known_ = 0;  // so many of them
};

}  // namespace fkt
