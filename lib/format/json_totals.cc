// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/json_totals.h"

#include <nlohmann/json.hpp>

#include "lib/format/json_members.h"
#include "lib/format/limits.h"

namespace fkt {

using Json = nlohmann::json;

namespace {

CpuTotals cpu_totals_of(const Json& json) {
  CpuTotals cpu;
  get(json, "cpu", cpu.cpu);
  get(json, "events", cpu.events);
  get(json, "lost", cpu.lost);
  get(json, "discarded", cpu.discarded);
  get(json, "overwritten", cpu.overwritten);
  get(json, "pages", cpu.pages);
  get(json, "gap_from", cpu.gap_from);
  get(json, "gap_lost", cpu.gap_lost);
  return cpu;
}

}  // namespace

Json cpu_totals_json(const CpuTotals& cpu) {
  return {{"cpu", cpu.cpu},
          {"events", cpu.events},
          {"lost", cpu.lost},
          {"discarded", cpu.discarded},
          {"overwritten", cpu.overwritten},
          {"pages", cpu.pages},
          {"gap_from", cpu.gap_from},
          {"gap_lost", cpu.gap_lost}};
}

Json totals_json(const Totals& totals) {
  Json per_cpu = Json::array();
  for (const CpuTotals& cpu : totals.per_cpu) per_cpu.push_back(cpu_totals_json(cpu));
  const std::optional<int>& status = totals.workload_status;
  return {{"start_clock", totals.start_clock},
          {"stop_clock", totals.stop_clock},
          {"events", totals.events},
          {"lost", totals.lost},
          {"discarded", totals.discarded},
          {"overwritten", totals.overwritten},
          {"pages", totals.pages},
          {"bytes", totals.bytes},
          {"missed", totals.missed},
          {"clock_back", totals.clock_back},
          {"drain_ns", totals.drain_ns},
          {"stop_reason", totals.stop_reason},
          {"error", totals.error},
          {"workload_status", status ? Json(*status) : Json()},
          {"per_cpu", per_cpu}};
}

Totals totals_of(const Json& json) {
  Totals t;
  get(json, "start_clock", t.start_clock);
  get(json, "stop_clock", t.stop_clock);
  get(json, "recording_stop_clock", t.recording_stop_clock);
  get(json, "events", t.events);
  get(json, "lost", t.lost);
  get(json, "discarded", t.discarded);
  get(json, "overwritten", t.overwritten);
  get(json, "pages", t.pages);
  get(json, "bytes", t.bytes);
  get(json, "missed", t.missed);
  get(json, "clock_back", t.clock_back);
  get(json, "drain_ns", t.drain_ns);
  get(json, "stop_reason", t.stop_reason);
  get(json, "because", t.because);
  get(json, "source", t.source);
  get(json, "error", t.error);
  if (const auto status = json.find("workload_status");
      status != json.end() && status->is_number_integer()) {
    int value = 0;
    get(json, "workload_status", value);
    t.workload_status = value;
  }
  const auto per_cpu = json.find("per_cpu");
  if (per_cpu != json.end() && per_cpu->is_array()) {
    for (const Json& element : *per_cpu) {
      if (!element.is_object()) continue;
      const CpuTotals cpu = cpu_totals_of(element);
      if (cpu.cpu < kMaxCpus) t.per_cpu.push_back(cpu);
    }
  }
  return t;
}

}  // namespace fkt
