// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/user_tasks.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/read_file.h"
#include "lib/base/text.h"
#include "lib/base/text_writer.h"
#include "lib/record/machine_sections.h"

namespace fkt::record {
namespace {

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

// Calls `take` with the text behind each line's name in a file as /proc/PID/status is.
void for_each_field(const std::string& path,
                    const std::function<void(std::string_view name, std::string_view text)>& take) {
  const Result<std::string> status = read_file(path);
  if (!status) return;
  for_each_line(*status, [&](std::string_view line, std::size_t) {
    const std::string_view name = take_until(line, ':');
    take(name, without_blanks(line));
    return true;
  });
}

// The number of a thread in its innermost pid namespace.
std::uint32_t innermost(const std::string& folder) {
  std::uint32_t number = 0;
  for_each_field(folder + "/status", [&](std::string_view name, std::string_view text) {
    if (name == "NSpid" && !parse_number(text.substr(text.rfind('\t') + 1), number)) number = 0;
  });
  return number;
}

struct Process {
  pid_t parent = 0;
  uid_t uid = 0;  // effective
};

Process process_of(pid_t tgid) {
  Process process;
  for_each_field(fmt::format("/proc/{}/status", tgid),
                 [&](std::string_view name, std::string_view text) {
                   if (name == "PPid" && !parse_number(text, process.parent)) process.parent = 0;
                   if (name != "Uid") return;
                   take_until(text, '\t');
                   if (!parse_number(take_until(text, '\t'), process.uid)) process.uid = 0;
                 });
  return process;
}

// The offset of CLOCK_MONOTONIC in the process's time namespace (ns).
std::int64_t monotonic_offset(const std::string& folder) {
  const Result<std::string> offsets = read_file(folder + "/timens_offsets");
  std::int64_t seconds = 0, ns = 0;
  if (!offsets) return 0;
  for_each_line(*offsets, [&](std::string_view line, std::size_t) {
    if (take_until(line, ' ') != "monotonic") return true;
    line = without_blanks(line);
    const std::string_view text = take_until(line, ' ');
    if (!parse_number(text, seconds) || !parse_number(without_blanks(line), ns)) seconds = ns = 0;
    return false;
  });
  return seconds * 1'000'000'000 + ns;
}

// The namespace of a process; empty: it cannot be told.
std::string time_namespace(const std::string& folder, const char* kind) {
  std::error_code error;
  return std::filesystem::read_symlink(folder + "/ns/" + kind, error);
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

bool descends(pid_t tgid, uid_t uid) {
  if (process_of(tgid).uid != uid) return false;
  // Parents that end meanwhile make their children this process's. The chain cannot be longer than
  // there are numbers.
  constexpr int kMost = 1 << 22;
  pid_t at = tgid;
  for (int steps = 0; steps < kMost && at > 1; steps++) {
    at = process_of(at).parent;
    if (at == ::getpid()) return true;
  }
  return false;
}

std::int64_t clock_offset(pid_t tgid) {
  // The kernel tells the offsets of the namespace that children get: that of most processes, too.
  const std::string folder = fmt::format("/proc/{}", tgid);
  const std::string its = time_namespace(folder, "time");
  const bool known = !its.empty() && its != time_namespace("/proc/self", "time") &&
                     its == time_namespace(folder, "time_for_children");
  return known ? monotonic_offset("/proc/self") - monotonic_offset(folder) : 0;
}

void UserTasks::look(pid_t tgid, pid_t tid) {
  const std::string line =
      task_line_of(static_cast<std::uint32_t>(tgid), static_cast<std::uint32_t>(tid));
  if (!line.empty()) lines_[tid] = line;
}

void UserTasks::call(pid_t tid, std::string_view name) {
  const auto known = lines_.find(tid);
  if (known == lines_.end()) return;
  TextWriter out;
  out.put(std::string_view(known->second).substr(0, known->second.rfind('\t') + 1));
  out.escaped(name);
  out.put('\n');
  known->second = out.view();
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
