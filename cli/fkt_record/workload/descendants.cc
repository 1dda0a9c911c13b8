// SPDX-License-Identifier: GPL-2.0-only
// Finds the descendants of the workload that still run.
#include <sys/prctl.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "cli/fkt_record/workload/workload.h"
#include "lib/base/parse.h"
#include "lib/base/read_file.h"

namespace fkt::record {
namespace {

namespace fs = std::filesystem;

struct Process {
  pid_t parent = 0;
  std::string comm;
  bool zombie = false;
};

std::map<pid_t, Process> all_processes() {
  std::map<pid_t, Process> all;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t pid = 0;
    if (!parse_number(std::string_view(name), pid)) continue;
    const Result<std::string> stat = read_file(entry->path() / "stat");
    if (!stat) continue;  // the process has exited
    const std::size_t open = stat->find('('), close = stat->rfind(')');
    if (close == std::string::npos || close + 2 >= stat->size()) continue;
    Process process;
    process.comm = stat->substr(open + 1, close - open - 1);
    std::string_view rest = std::string_view(*stat).substr(close + 2);
    process.zombie = take_until(rest, ' ') == "Z";
    if (parse_number(take_until(rest, ' '), process.parent)) all.emplace(pid, std::move(process));
  }
  return all;
}

// All descendants of this process, without zombies.
std::vector<Descendant> all_descendants() {
  const std::map<pid_t, Process> all = all_processes();
  const auto is_ours = [&all](pid_t pid) {
    // At most as many steps as there are processes: /proc is not read atomically, so the parents
    // may form a cycle.
    for (std::size_t steps = 0; steps < all.size(); ++steps) {
      const auto process = all.find(pid);
      if (process == all.end()) return false;
      if (process->second.parent == ::getpid()) return true;
      pid = process->second.parent;
    }
    return false;
  };
  std::vector<Descendant> out;
  for (const auto& [pid, process] : all) {
    if (!process.zombie && is_ours(pid)) out.push_back({pid, process.comm});
  }
  return out;
}

}  // namespace

Descendants::Descendants() {
  for (const Descendant& process : all_descendants()) before_.insert(process.pid);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

std::vector<Descendant> Descendants::find() const {
  std::vector<Descendant> left = all_descendants();
  std::erase_if(left, [this](const Descendant& d) { return before_.contains(d.pid); });
  return left;
}

}  // namespace fkt::record
