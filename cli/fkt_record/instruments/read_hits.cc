// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/read_hits.h"

namespace fkt::record {
namespace {

Hits hits_of(const fkt_hit_counts& counts) {
  Hits hits{.kept = counts.kept, .dropped = counts.dropped, .missed = {}};
  for (unsigned i = 0; i < FKT_MISSED_REASONS; i++) {
    if (counts.missed[i] != 0) hits.missed[missed_word(i)] = counts.missed[i];
  }
  return hits;
}

Result<InstrumentResult> result_of(const Device& device, const InstrumentSetup::Part& part,
                                   std::uint32_t number) {
  const auto cpus = FKT_TRY(device.hit_counts_by_cpu(number));
  InstrumentResult result{.text = part.text,
                          .action = std::string(action_name(part.action)),
                          .layer = part.layer,
                          .places = part.places,
                          .of = part.of,
                          .has_calls = part.place.is_call(),
                          .is_removed = part.is_removed,
                          .cpus = {},
                          .histogram = {}};
  for (const fkt_hit_counts& counts : cpus) {
    result.cpus.push_back({counts.cpu, hits_of(counts)});
  }
  if (!part.histogram) return result;
  const auto rows = FKT_TRY(device.histogram(number));
  result.histogram = part.histogram->result(rows);
  return result;
}

}  // namespace

std::uint64_t recorded_hits(const Device& device, const InstrumentSetup& setup) {
  std::uint64_t recorded = 0;
  const auto parts = setup.parts();
  for (std::uint32_t i = 0; i < parts.size(); i++) {
    if (parts[i].action != Action::Kind::record) continue;
    const Result<fkt_hit_counts> counts = device.hit_counts(i);
    if (counts) recorded += counts->kept;
  }
  return recorded;
}

Result<HitResults> read_hits(const Device& device, const InstrumentSetup& setup) {
  HitResults results;
  const auto parts = setup.parts();
  for (std::uint32_t i = 0; i < parts.size(); i++) {
    auto result = FKT_TRY(result_of(device, parts[i], i));
    results.instruments.push_back(std::move(result));
  }
  if (!setup.has_calls() || parts.empty()) return results;
  const auto all = FKT_TRY(device.hit_counts(0));
  results.calls =
      HitResults::Calls{all.too_short, all.taken, all.shared, all.inside_ns, all.total_ns};
  return results;
}

}  // namespace fkt::record
