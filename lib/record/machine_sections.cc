// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/machine_sections.h"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <optional>

#include <fmt/core.h>

#include "lib/base/parse.h"
#include "lib/base/read_file.h"
#include "lib/base/text_writer.h"
#include "lib/base/version.h"
#include "lib/format/json.h"

namespace fkt {
namespace {

namespace fs = std::filesystem;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
}

// Returns the file's only line, trimmed; an empty string when it cannot be read (a thread that has
// ended, a file that the kernel does not have): the recording then contains less.
std::string line_of(const std::string& path) {
  const Result<std::string> text = read_file(path);
  return text ? std::string(trimmed(*text)) : "";
}

std::string cpu_model() {
  const Result<std::string> text = read_file("/proc/cpuinfo");
  std::string model;
  if (!text) return model;
  for_each_line(*text, [&model](std::string_view line, std::size_t) {
    if (trimmed(take_until(line, ':')) == "model name") model = trimmed(line);
    return model.empty();
  });
  return model;
}

// Calls `function` for each directory in `path` whose name is a number.
template <class Function>
void for_each_number(const std::string& path, Function function) {
  std::error_code error;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    std::uint32_t number = 0;
    if (parse_number(std::string_view(name), number)) function(number);
  }
}

bool belongs_to(const std::string& folder, const std::optional<std::uint32_t>& owner) {
  struct stat is {};
  return !owner || (::stat(folder.c_str(), &is) == 0 && is.st_uid == *owner);
}

// Writes a thread's line; the thread may end meanwhile, then there is none.
void add_task(TextWriter& out, const TaskRules& rules, std::uint32_t tgid, std::uint32_t tid) {
  const std::string folder = fmt::format("/proc/{}/task/{}", tgid, tid);
  const Result<std::string> stat = read_file(folder + "/stat");
  if (!stat) return;
  // "1 (name) S 0 ...": the name may contain any characters, also ") ".
  const std::size_t open = stat->find('('), close = stat->rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return;
  std::string comm = stat->substr(open + 1, close - open - 1);
  // stat escapes special characters of the name, comm does not.
  if (comm.find('\\') != std::string::npos) {
    if (Result<std::string> raw = read_file(folder + "/comm"); raw && !raw->empty()) {
      comm = raw->substr(0, raw->size() - 1);
    }
  }
  std::string_view rest = std::string_view(*stat).substr(close + 1);
  take_until(rest, ' ');  // the space
  take_until(rest, ' ');  // the state
  std::uint32_t parent = 0;
  if (!parse_number(take_until(rest, ' '), parent)) return;
  const auto known_tid = rules.number(tid), known_tgid = rules.number(tgid);
  if (!known_tid || !known_tgid) return;
  out.number(*known_tid);
  out.put('\t');
  out.number(*known_tgid);
  out.put('\t');
  out.number(parent == 0 ? 0 : rules.number(parent).value_or(0));
  out.put('\t');
  out.escaped(comm);
  out.put('\n');
}

// " 24:   1   0  IO-APIC 5-edge  ACPI:Ged" or "NMI:  0  0  Non-maskable interrupts".
void add_interrupt(TextWriter& out, std::string_view line) {
  const std::string name(trimmed(take_until(line, ':')));
  std::uint64_t sum = 0, count = 0;
  for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
    const std::string_view rest = line;
    if (!parse_number(take_until(line, ' '), count)) {
      line = rest;
      break;
    }
    sum += count;
  }
  // The line of a numbered interrupt begins with chip and pin; sysfs has the devices alone.
  std::uint32_t number = 0;
  std::string devices(line);
  if (parse_number(std::string_view(name), number)) {
    devices = line_of("/sys/kernel/irq/" + name + "/actions");
  }
  out.put(name);
  out.put('\t');
  out.escaped(devices);
  out.put('\t');
  out.number(sum);
  out.put('\n');
}

}  // namespace

std::string machine_json(std::uint32_t cpus) {
  utsname name{};
  ::uname(&name);
  const std::uint64_t pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  return json_object("cpu_model", cpu_model(), "cpus", cpus, "machine", name.machine,
                     "memory_bytes", pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)),
                     "nodename", name.nodename, "online", line_of("/sys/devices/system/cpu/online"),
                     "release", name.release, "sysname", name.sysname, "tool_version", kVersion,
                     "version", name.version);
}

std::string clocks_json(fkt_clock_source source, const fkt_clocks& start) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return json_object(
      "khz", start.khz, "source", source == FKT_CLOCK_MONO ? "mono" : "tsc", "start",
      [&](JsonWriter& json) { put_clock_pair(json, start); }, "zone", local.tm_gmtoff);
}

std::string task_line_of(std::uint32_t tgid, std::uint32_t tid) {
  TextWriter out;
  add_task(out, {[](std::uint32_t number) { return std::optional(number); }, {}}, tgid, tid);
  return std::string(out.view());
}

void for_each_process(const TaskRules& rules,
                      const std::function<void(std::uint32_t, std::uint32_t)>& visit) {
  for_each_number("/proc", [&](std::uint32_t tgid) {
    if (!belongs_to(fmt::format("/proc/{}", tgid), rules.owner)) return;
    if (const std::optional<std::uint32_t> number = rules.number(tgid)) visit(tgid, *number);
  });
}

std::string task_lines(const TaskRules& rules) {
  TextWriter out;
  for_each_process(rules, [&](std::uint32_t tgid, std::uint32_t) {
    for_each_number(fmt::format("/proc/{}/task", tgid),
                    [&](std::uint32_t tid) { add_task(out, rules, tgid, tid); });
  });
  return std::string(out.view());
}

std::string interrupt_lines() {
  TextWriter out;
  const Result<std::string> text = read_file("/proc/interrupts");
  if (!text) return "";
  for_each_line(*text, [&out](std::string_view line, std::size_t number) {
    if (number > 1) add_interrupt(out, line);  // the first line names the CPUs
    return true;
  });
  return std::string(out.view());
}

std::vector<std::string> kernel_lacks() {
  std::vector<std::string> lacks;
  const Result<std::string> text = read_file("/sys/module/fkt/parameters/lacks");
  for_each_line(text ? *text : "", [&lacks](std::string_view line, std::size_t) {
    if (!line.empty()) lacks.emplace_back(line);
    return true;
  });
  return lacks;
}

std::size_t tracepoints_left_out() {
  const Result<std::string> text = read_file("/sys/module/fkt/parameters/left_out");
  return text ? static_cast<std::size_t>(std::ranges::count(*text, '\n')) : 0;
}

std::string syscall_lines() {
  return std::string(
#define FKT_SYSCALL(abi, number, name) #abi "\t" #number "\t" #name "\n"
#include "lib/format/syscalls.def"
  );
}

}  // namespace fkt
