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

void put_cpu_totals(JsonWriter& json, const CpuTotals& cpu) {
  json.object("cpu", cpu.cpu, "discarded", cpu.discarded, "events", cpu.events, "gap_from",
              cpu.gap_from, "gap_lost", cpu.gap_lost, "lost", cpu.lost, "overwritten",
              cpu.overwritten, "pages", cpu.pages);
}

void put_totals(JsonWriter& json, const Totals& t) {
  json.members("bytes", t.bytes, "clock_back", t.clock_back, "discarded", t.discarded, "drain_ns",
               t.drain_ns, "error", t.error, "events", t.events);
  if (!t.lacks.empty()) json.members("lacks", t.lacks);
  json.members("lost", t.lost, "missed", t.missed, "overwritten", t.overwritten, "pages", t.pages);
  json.key("per_cpu").array([&] {
    for (const CpuTotals& cpu : t.per_cpu) put_cpu_totals(json, cpu);
  });
  json.members("start_clock", t.start_clock, "stop_clock", t.stop_clock, "stop_reason",
               t.stop_reason, "workload_status", t.workload_status);
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
  get(json, "lacks", t.lacks);
  if (const auto status = json.find("workload_status");
      status != json.end() && status->is_number_integer()) {
    int value = 0;
    get(json, "workload_status", value);
    t.workload_status = value;
  }
  for_each_object(json, "per_cpu", [&](const Json& element) {
    const CpuTotals cpu = cpu_totals_of(element);
    if (cpu.cpu < kMaxCpus) t.per_cpu.push_back(cpu);
  });
  return t;
}

}  // namespace fkt
