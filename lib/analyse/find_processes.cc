// SPDX-License-Identifier: GPL-2.0-only
#include "lib/analyse/find_processes.h"

#include <set>

#include "lib/analyse/tasks.h"
#include "lib/query/expression.h"
#include "lib/read/event_merge.h"

namespace fkt {
namespace {

// Returns the number of the process if it has the name as well, else that of the thread.
std::uint32_t number_of(const Tasks& tasks, TaskIndex task, std::string_view name) {
  const TaskIndex leader = tasks[task].leader;
  return tasks[leader != kNoTask && is_meant(tasks.name(leader), name) ? leader : task].tid;
}

}  // namespace

NamedProcesses find_processes(const Recording& recording, std::string_view name,
                              const Reading& reading) {
  Tasks tasks(recording.info());
  std::set<std::uint32_t> once, at_last;
  const auto note = [&](TaskIndex task, std::set<std::uint32_t>& found) {
    if (task == kNoTask || tasks[task].idle || !is_meant(tasks.name(task), name)) return;
    found.insert(number_of(tasks, task, name));
  };
  for (TaskIndex task = 0; task < tasks.size(); task++) note(task, once);
  constexpr std::uint64_t kReadingEvents = 1 << 18;
  std::uint64_t done = 0;
  for (const Event& event : recording.events()) {
    if (++done % kReadingEvents == 0 && reading) reading(done);
    if (event.is_gap()) continue;
    tasks.apply(event, tasks.running(event));
    if (event.id == FKT_E_FORK || event.id == FKT_E_RENAME) {
      note(tasks.find(event.arg & FKT_PID_MASK), once);
    }
  }
  std::set<std::string> names;
  for (TaskIndex task = 0; task < tasks.size(); task++) {
    note(task, at_last);
    if (!tasks[task].idle) names.emplace(tasks.name(task));
  }
  const std::set<std::uint32_t>& found = at_last.empty() ? once : at_last;
  return {{found.begin(), found.end()}, {names.begin(), names.end()}};
}

}  // namespace fkt
