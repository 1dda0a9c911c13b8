// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/user_tasks.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/read_file.h"
#include "lib/base/text.h"
#include "lib/record/machine_sections.h"

namespace fkt::record {
namespace {

// The number of a thread in its innermost pid namespace.
std::uint32_t innermost(const std::string& folder) {
  const Result<std::string> status = read_file(folder + "/status");
  std::uint32_t number = 0;
  if (!status) return 0;
  for_each_line(*status, [&](std::string_view line, std::size_t) {
    if (!line.starts_with("NSpid:")) return true;
    return !parse_number(line.substr(line.rfind('\t') + 1), number);
  });
  return number;
}

}  // namespace

std::optional<pid_t> find_thread(pid_t tgid, std::uint32_t tid) {
  const std::string folder = fmt::format("/proc/{}/task", tgid);
  if (innermost(fmt::format("{}/{}", folder, tid)) == tid) return static_cast<pid_t>(tid);
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    pid_t here = 0;
    if (innermost(entry.path()) == tid && parse_number(entry.path().filename().string(), here)) {
      return here;
    }
  }
  return std::nullopt;
}

bool thread_lives(pid_t tgid, pid_t tid) {
  return ::syscall(SYS_tgkill, tgid, tid, 0) == 0 || errno != ESRCH;
}

void UserTasks::look(pid_t tgid, pid_t tid) {
  const std::string line =
      task_line_of(static_cast<std::uint32_t>(tgid), static_cast<std::uint32_t>(tid));
  if (!line.empty()) lines_[tid] = line;
}

std::string UserTasks::lines(const std::string& others) const {
  std::string out;
  for (const auto& [tid, line] : lines_) out += line;
  for_each_line(others, [&](std::string_view line, std::size_t) {
    std::string_view rest = line;
    pid_t tid = 0;
    if (parse_number(take_until(rest, '\t'), tid) && !lines_.contains(tid)) {
      out += std::string(line) + '\n';
    }
    return true;
  });
  return out;
}

}  // namespace fkt::record
