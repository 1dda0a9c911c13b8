// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/stats_list.h"

#include <nlohmann/json.hpp>

#include "lib/format/json.h"

namespace fkt::cli {
namespace {

using nlohmann::json;

json list_types(const WindowStats& stats, const SpanTypes& names) {
  json types = json::array();
  for (TypeIndex type = 0; type < stats.types().size(); type++) {
    const SpanStats& of = stats.types()[type];
    if (of.total.count == 0) continue;
    types.push_back({{"name", names[type].name},
                     {"count", of.total.count},
                     {"total", of.total.sum},
                     {"min", of.total.min},
                     {"p50", of.percentile(50)},
                     {"p99", of.percentile(99)},
                     {"max", of.total.max}});
  }
  return types;
}

json list_tasks(const TaskSums& sums) {
  const Tasks& names = sums.tasks;
  json tasks = json::array();
  for (TaskIndex task = 0; task < sums.stats.tasks().size(); task++) {
    const WindowStats::OfTask& of = sums.stats.tasks()[task];
    if (names[task].idle || of.states[1] + of.states[2] == 0) continue;
    json row = {{"tid", names[task].tid},
                {"tgid", names[task].tgid},
                {"name", names.name(task)},
                {"running", of.states[1]}};
    if (sums.waits) {
      row["ready"] = of.states[2];
      row["blocked"] = of.states[3];
      row["waits"] = of.waits;
      row["longest_wait"] = of.longest_wait;
    }
    tasks.push_back(std::move(row));
  }
  return tasks;
}

json list_cpus(const WindowStats& stats, bool has_cpus) {
  json cpus = json::array();
  if (!has_cpus) return cpus;
  const std::vector<WindowStats::OfCpu> of_cpus = stats.cpus();
  for (std::size_t cpu = 0; cpu < of_cpus.size(); cpu++) {
    const WindowStats::OfCpu& of = of_cpus[cpu];
    if (of.busy + of.idle + of.interrupts == 0) continue;
    cpus.push_back({{"cpu", cpu},
                    {"busy", of.busy},
                    {"idle", of.idle},
                    {"interrupts", of.interrupts},
                    {"unknown", of.unknown}});
  }
  return cpus;
}

}  // namespace

std::string list_stats(const WindowStats& stats, const SpanTypes& types, const TaskSums& tasks,
                       bool has_cpus) {
  return dump_json({{"events", stats.events()},
                    {"types", list_types(stats, types)},
                    {"cpus", list_cpus(stats, has_cpus)},
                    {"tasks", list_tasks(tasks)},
                    {"waits", tasks.waits}});
}

}  // namespace fkt::cli
