// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/hit_results.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include <fkt/ioctl.h>

#include "lib/base/json_writer.h"
#include "lib/format/json.h"
#include "lib/format/json_members.h"

namespace fkt {
namespace {

using Json = nlohmann::json;

struct Reason {
  std::string_view word, text;
};

// By enum fkt_missed.
constexpr Reason kReasons[] = {
    {"memory", "memory could not be read"},
    {"nested", "too many at once on a CPU"},
    {"stale", "began before the recording or the instrument"},
    {"fields", "had not the fields that are described"},
    {"full", "the histogram had no room for their keys"},
    {"probe", "not seen by the kernel's probe"},
    {"room", "their record was too long"},
    {"thread", "their thread has no room for its flag, or they were in an interrupt"},
    {"entry", "returned, but their entry was not seen"},
    {"return", "never returned"},
    {"held", "callees of recorded calls for which there was no room"},
    {kMissedOwn, "of fkt_record and the module's own threads"},
    {"stack", "their stack was nearly used up"},
};

void put(JsonWriter& json, const HitHistogram& histogram) {
  const auto row = [&](const HitHistogram::Row& row) {
    json.object(
        "counts",
        [&] {
          json.array([&] {
            for (const auto& [bucket, count] : row.counts) json.row(bucket, count);
          });
        },
        "key", row.key, "sum", row.sum);
  };
  json.object([&] {
    json.members("key", histogram.key);
    json.key("rows").array([&] { std::ranges::for_each(histogram.rows, row); });
    json.members("unit", histogram.unit, "value", histogram.value, "width", histogram.width);
  });
}

void put(JsonWriter& json, const InstrumentResult& result) {
  json.object([&] {
    json.members("action", result.action, "calls", result.has_calls);
    json.key("cpus").array([&] {
      for (const InstrumentResult::OnCpu& on : result.cpus) {
        json.object([&] {
          json.members("cpu", on.cpu, "dropped", on.hits.dropped, "kept", on.hits.kept);
          json.key("missed").object([&] {
            for (const auto& [reason, count] : on.hits.missed) json.members(reason, count);
          });
        });
      }
    });
    if (result.histogram) put(json.key("histogram"), *result.histogram);
    json.members("layer", result.layer, "of", result.of, "places", result.places);
    if (result.is_removed) json.members("removed", true);
    json.members("text", result.text);
  });
}

Hits hits_of(const Json& json) {
  Hits hits;
  get(json, "kept", hits.kept);
  get(json, "dropped", hits.dropped);
  const auto missed = json.find("missed");
  if (missed == json.end() || !missed->is_object()) return hits;
  for (const auto& [word, count] : missed->items()) {
    if (count.is_number_unsigned()) hits.missed[word] = count.get<std::uint64_t>();
  }
  return hits;
}

HitHistogram::Row row_of(const Json& json) {
  HitHistogram::Row row;
  get(json, "key", row.key);
  get(json, "sum", row.sum);
  const auto counts = json.find("counts");
  if (counts == json.end() || !counts->is_array()) return row;
  for (const Json& pair : *counts) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned() ||
        !pair[1].is_number_unsigned()) {
      continue;
    }
    const auto bucket = pair[0].get<std::uint64_t>();
    if (bucket < FKT_HISTOGRAM_BUCKETS) {
      row.counts[static_cast<unsigned>(bucket)] = pair[1].get<std::uint64_t>();
    }
  }
  return row;
}

HitHistogram histogram_of(const Json& json) {
  HitHistogram histogram;
  get(json, "value", histogram.value);
  get(json, "unit", histogram.unit);
  get(json, "key", histogram.key);
  get(json, "width", histogram.width);
  for_each_object(json, "rows", [&](const Json& row) { histogram.rows.push_back(row_of(row)); });
  return histogram;
}

InstrumentResult result_of(const Json& json) {
  InstrumentResult result;
  get(json, "text", result.text);
  get(json, "action", result.action);
  get(json, "layer", result.layer);
  get(json, "places", result.places);
  get(json, "of", result.of);
  get(json, "calls", result.has_calls);
  get(json, "removed", result.is_removed);
  for_each_object(json, "cpus", [&](const Json& cpu) {
    InstrumentResult::OnCpu& on = result.cpus.emplace_back();
    get(cpu, "cpu", on.cpu);
    on.hits = hits_of(cpu);
  });
  const auto histogram = json.find("histogram");
  if (histogram != json.end() && histogram->is_object()) {
    result.histogram = histogram_of(*histogram);
  }
  return result;
}

}  // namespace

std::string missed_word(unsigned reason) {
  return reason < std::size(kReasons) ? std::string(kReasons[reason].word) : std::to_string(reason);
}

std::string_view missed_text(std::string_view word) {
  const Reason* const known = std::ranges::find(kReasons, word, &Reason::word);
  return known == std::end(kReasons) ? word : known->text;
}

std::uint64_t Hits::all_missed() const {
  const auto add = [](std::uint64_t sum, const auto& reason) { return sum + reason.second; };
  return std::accumulate(missed.begin(), missed.end(), std::uint64_t{0}, add) - own();
}

std::uint64_t Hits::own() const {
  const auto found = missed.find(std::string(kMissedOwn));
  return found == missed.end() ? 0 : found->second;
}

Hits& Hits::operator+=(const Hits& more) {
  kept += more.kept;
  dropped += more.dropped;
  for (const auto& [word, count] : more.missed) missed[word] += count;
  return *this;
}

std::uint64_t HitHistogram::Row::hits() const {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& bucket) { return sum + bucket.second; });
}

HitHistogram::Range HitHistogram::range(unsigned bucket) const {
  if (bucket == 0) return {};
  if (width != 0) {
    const std::uint64_t from = (bucket - 1) * width;
    if (bucket + 1 == FKT_HISTOGRAM_BUCKETS) return {from, {}};
    return {from, from + (width - 1)};
  }
  if (bucket == 1) return {0, 0};
  const std::uint64_t from = std::uint64_t{1} << (bucket - 2);
  return {from, from + (from - 1)};
}

Hits InstrumentResult::hits() const {
  Hits sum;
  for (const OnCpu& on : cpus) sum += on.hits;
  return sum;
}

std::string HitResults::to_json() const {
  return json_object([&](JsonWriter& json) {
    if (calls) json.members("inside_ns", calls->inside_ns);
    json.key("instruments").array([&] {
      for (const InstrumentResult& result : instruments) put(json, result);
    });
    if (!calls) return;
    json.members("shared", calls->shared, "taken", calls->taken, "too_short", calls->too_short,
                 "total_ns", calls->total_ns);
  });
}

HitResults hit_results_of(const nlohmann::json& json) {
  HitResults results;
  for_each_object(json, "instruments", [&](const Json& instrument) {
    results.instruments.push_back(result_of(instrument));
  });
  if (json.contains("too_short") || json.contains("taken")) {
    results.calls.emplace(HitResults::Calls{});
    get(json, "too_short", results.calls->too_short);
    get(json, "taken", results.calls->taken);
    get(json, "shared", results.calls->shared);
    get(json, "inside_ns", results.calls->inside_ns);
    get(json, "total_ns", results.calls->total_ns);
  }
  return results;
}

}  // namespace fkt
