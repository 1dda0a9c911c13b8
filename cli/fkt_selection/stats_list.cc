// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/stats_list.h"

#include "lib/base/json_writer.h"

namespace fkt::cli {
namespace {

void list_types(JsonWriter& json, const WindowStats& stats, const SpanTypes& names) {
  for (TypeIndex type = 0; type < stats.types().size(); type++) {
    const SpanStats& of = stats.types()[type];
    if (of.total.count == 0) continue;
    json.object("count", of.total.count, "max", of.total.max, "min", of.total.min, "name",
                names[type].name, "p50", of.percentile(50), "p99", of.percentile(99), "total",
                of.total.sum);
  }
}

void list_tasks(JsonWriter& json, const TaskSums& sums) {
  const Tasks& names = sums.tasks;
  for (TaskIndex task = 0; task < sums.stats.tasks().size(); task++) {
    const WindowStats::OfTask& of = sums.stats.tasks()[task];
    if (names[task].idle || of.states[1] + of.states[2] == 0) continue;
    json.object([&] {
      if (sums.waits) json.members("blocked", of.states[3], "longest_wait", of.longest_wait);
      json.members("name", names.name(task));
      if (sums.waits) json.members("ready", of.states[2]);
      json.members("running", of.states[1], "tgid", names[task].tgid, "tid", names[task].tid);
      if (sums.waits) json.members("waits", of.waits);
    });
  }
}

void list_cpus(JsonWriter& json, const WindowStats& stats) {
  const std::vector<WindowStats::OfCpu> of_cpus = stats.cpus();
  for (std::size_t cpu = 0; cpu < of_cpus.size(); cpu++) {
    const WindowStats::OfCpu& of = of_cpus[cpu];
    if (of.busy + of.idle + of.interrupts == 0) continue;
    json.object("busy", of.busy, "cpu", cpu, "idle", of.idle, "interrupts", of.interrupts,
                "unknown", of.unknown);
  }
}

}  // namespace

std::string list_stats(const WindowStats& stats, const SpanTypes& types, const TaskSums& tasks,
                       bool has_cpus) {
  TextWriter out;
  JsonWriter json(out);
  json.object([&] {
    json.key("cpus").array([&] {
      if (has_cpus) list_cpus(json, stats);
    });
    json.members("events", stats.events());
    json.key("tasks").array([&] { list_tasks(json, tasks); });
    json.key("types").array([&] { list_types(json, stats, types); });
    json.members("waits", tasks.waits);
  });
  return out.take();
}

}  // namespace fkt::cli
