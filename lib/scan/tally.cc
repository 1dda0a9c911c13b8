// SPDX-License-Identifier: GPL-2.0-only
#include "lib/scan/tally.h"

namespace fkt {
namespace {

constexpr std::uint32_t kStep = 1U << Histogram::kBits;  // buckets of an octave
// With tens of thousands of types, the sums of most are in no cache when their span comes. So the
// sums of a type are prefetched this many spans earlier, its bucket and its child sum later on.
constexpr std::size_t kTypeAhead = 32, kBucketAhead = 16, kChildAhead = 16;

}  // namespace

void Tally::add(const PageDigest& digest) {
  for (std::size_t id = 0; id < counts_.size(); id++) counts_[id] += digest.counts[id];
  // Consecutive bursts that were taken have adjacent spans: add them together.
  const RawVector<Burst>& bursts = digest.bursts;
  for (std::uint32_t first = 0; first < bursts.size();) {
    std::uint32_t end = first;
    while (end < bursts.size() && bursts[end].taken) end++;
    if (end > first) add(digest, bursts[first], bursts[end - 1]);
    first = end + 1;
  }
}

// Adds the spans of the bursts from `first` to `last`.
void Tally::add(const PageDigest& digest, const Burst& first, const Burst& last) {
  add(digest.spans.part(first.first_span, last.end_span));
  add(digest.nested.part(first.first_nested, last.end_nested));
  add(digest.children.part(first.first_child, last.end_child));
}

void Tally::grow(TypeIndex type) {
  types_.resize(type + 1);
  known_ = type + 1;
}

// Makes room for the bucket, by whole octaves.
void Tally::make_room(Buckets& buckets, std::uint32_t bucket) {
  std::uint32_t& first = buckets.first;
  std::vector<std::uint16_t>& counts = buckets.counts;
  const std::uint32_t begin = bucket / kStep * kStep;
  if (counts.empty()) first = begin;
  if (begin < first) {
    counts.insert(counts.begin(), first - begin, 0);
    first = begin;
  }
  if (bucket - first >= counts.size()) counts.resize(begin + kStep - first);
}

template <class Record>
[[gnu::always_inline]] inline void Tally::fetch_ahead(std::span<const Record> spans,
                                                      std::size_t at) const {
  if (at + kTypeAhead >= spans.size()) return;
  const TypeIndex far = spans[at + kTypeAhead].type, near = spans[at + kBucketAhead].type;
  if (far < known_) {
    const auto* const line = reinterpret_cast<const std::byte*>(&types_[far]);
    __builtin_prefetch(line, 1);
    if constexpr (sizeof(Record) > sizeof(SpanRecord)) __builtin_prefetch(line + 64, 1);
  }
  if (near >= known_ || !histograms_) return;
  const Buckets& buckets = types_[near].durations;
  const std::uint32_t bucket = Histogram::bucket_of(spans[at + kBucketAhead].ticks);
  if (bucket - buckets.first < buckets.counts.size()) {
    __builtin_prefetch(&buckets.counts[bucket - buckets.first], 1);
  }
}

void Tally::add(std::span<const SpanRecord> spans) {
  for (std::size_t at = 0; at < spans.size(); at++) {
    fetch_ahead(spans, at);
    const SpanRecord& span = spans[at];
    OfType& type = of(span.type);
    type.whole.add(span.ticks);
    add_duration(span.type, type.durations, span.ticks);
  }
}

void Tally::add(std::span<const NestedRecord> spans) {
  for (std::size_t at = 0; at < spans.size(); at++) {
    fetch_ahead(spans, at);
    const NestedRecord& span = spans[at];
    OfType& type = of(span.type);
    type.total.add(span.ticks);
    type.self.add(span.self);
    type.sub += span.sub;
    add_duration(span.type, type.durations, span.ticks);
  }
}

void Tally::add(std::span<const ChildRecord> children) {
  for (std::size_t at = 0; at < children.size(); at++) {
    if (at + kChildAhead < children.size()) children_.fetch(children[at + kChildAhead]);
    children_.add(children[at]);
  }
}

void Tally::add_to(Profile& profile) const {
  std::array<std::uint64_t, 1 << FKT_ID_BITS> counts = counts_;
  for (const PairType& pair : catalogue_->pairs()) {
    for (std::uint32_t id = pair.first; id < pair.first + std::uint32_t{pair.count}; id++) {
      counts[pair.begin] += counts[id];
      counts[pair.end] += counts[id];
      counts[id] = 0;
    }
  }
  for (std::size_t id = 0; id < counts.size(); id++) {
    if (is_made_begin(static_cast<std::uint16_t>(id))) continue;
    profile.count(static_cast<std::uint16_t>(id), counts[id]);
  }
  std::vector<ChildList> children(types_.size());
  children_.for_each([&](const ChildRecord& sum) {
    if (sum.around >= children.size()) children.resize(sum.around + 1);
    children[sum.around].add(sum.type, sum.count, sum.ticks);
  });
  for (TypeIndex type = 0; type < types_.size(); type++) {
    const OfType& of = types_[type];
    SpanStats stats;
    stats.total = stats.self = of.whole.spread();
    stats.total.add(of.total.spread());
    stats.self.add(of.self.spread());
    stats.entries = stats.total.count;
    stats.outcomes[static_cast<std::size_t>(Outcome::complete)] = stats.total.count;
    stats.self_whole = stats.self.sum;
    stats.sub = of.sub;
    stats.children = std::move(children[type]);
    for (std::uint32_t at = 0; at < of.durations.counts.size(); at++) {
      const std::uint16_t count = of.durations.counts[at];
      if (count > 0) stats.times.add_bucket(of.durations.first + at, count);
    }
    if (stats.total.count > 0) profile.add(type, stats);
  }
  for (const auto& [type, bucket] : full_) {
    SpanStats stats;
    stats.times.add_bucket(bucket, std::uint64_t{1} << 16);
    profile.add(type, stats);
  }
}

}  // namespace fkt
