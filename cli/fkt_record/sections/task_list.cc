// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/sections/task_list.h"

#include <unistd.h>

#include <filesystem>

#include "lib/record/mapped_files.h"

namespace fkt::record {
namespace {

// Returns true if /proc is mounted for this process's pid namespace.
bool proc_is_ours() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self", error);
  return !error && self == std::to_string(::getpid());
}

}  // namespace

Result<TaskList> TaskList::of(const Device& device) {
  const auto status = FKT_TRY(device.status());
  const bool own_only = !(status.flags & FKT_STATUS_ALL);
  Numbers numbers = Numbers::equal;
  if (status.flags & FKT_STATUS_PID_NAMESPACE) numbers = Numbers::translated;
  if (!proc_is_ours()) numbers = Numbers::unknown;
  return TaskList(device.fd(), numbers, own_only);
}

std::uint32_t TaskList::number(pid_t tid) const {
  if (tid <= 0) return 0;
  const auto here = static_cast<std::uint32_t>(tid);
  return numbers_ == Numbers::equal ? here : Device::number_of(device_, here);
}

TaskRules TaskList::rules() const {
  TaskRules rules;
  rules.number = [this](std::uint32_t tid) -> std::optional<std::uint32_t> {
    if (numbers_ == Numbers::equal) return tid;
    const std::uint32_t number = Device::number_of(device_, tid);
    return number == 0 ? std::nullopt : std::optional(number);
  };
  if (own_only_) rules.owner = ::geteuid();
  return rules;
}

std::string TaskList::lines() const {
  return numbers_ == Numbers::unknown ? "" : task_lines(rules());
}

std::string TaskList::maps() const {
  return numbers_ == Numbers::unknown ? "" : map_lines(rules());
}

std::string TaskList::remark() const {
  switch (numbers_) {
    case Numbers::equal:
      return "";
    case Numbers::translated:
      return "in this pid namespace processes have other numbers than in the file and in "
             "conditions (pid, tid), which have the machine's; only processes of the namespace are "
             "listed by name";
    case Numbers::unknown:
      return "/proc is not that of this pid namespace: processes that already run have no names in "
             "the file";
  }
  return "";
}

}  // namespace fkt::record
