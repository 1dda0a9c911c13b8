// SPDX-License-Identifier: GPL-2.0-only
#include "lib/record/machine_checks.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "lib/base/parse.h"
#include "lib/base/read_file.h"

namespace fkt::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLoad = "sudo modprobe fkt";

// The file's content without the newline at its end; nothing if it cannot be read.
std::optional<std::string> text_of(const fs::path& path) {
  Result<std::string> text = read_file(path);
  if (!text) return std::nullopt;
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return std::move(*text);
}

fs::path at(const Machine& machine, const std::string& path) {
  return machine.root / path;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

bool is_loaded(const Machine& machine) {
  return is_there(at(machine, "sys/module/fkt"));
}

bool is_installed(const Machine& machine) {
  constexpr const char* kPlaces[] = {"/extra/fkt.ko", "/updates/fkt.ko", "/updates/dkms/fkt.ko"};
  return std::ranges::any_of(kPlaces, [&](const char* place) {
    return is_there(at(machine, "lib/modules/" + machine.release + place));
  });
}

// Returns whether the release is the version itself, or the version followed by anything but a
// digit.
bool is_release_of(std::string_view release, std::string_view version) {
  if (!release.starts_with(version)) return false;
  release.remove_prefix(version.size());
  return release.empty() || !std::isdigit(static_cast<unsigned char>(release.front()));
}

// The two numbers that a release begins with: "6.12.95" is {6, 12}; {0, 0}: there are none.
std::pair<unsigned, unsigned> version_of(std::string_view release) {
  unsigned major = 0, minor = 0;
  const bool has_major = parse_number(take_until(release, '.'), major);
  const std::size_t digits = std::min(release.find_first_not_of("0123456789"), release.size());
  if (!has_major || !parse_number(release.substr(0, digits), minor)) return {};
  return {major, minor};
}

bool is_supported(std::string_view release) {
  return version_of(release) >= version_of(kKernels.front());
}

Finding kernel(const Machine& machine) {
  if (!is_supported(machine.release)) {
    return {Verdict::blocked, "kernel",
            fmt::format("{}: FKT needs {} or newer", machine.release, kKernels.front()),
            "boot a newer one; fkt_record --user-only needs none"};
  }
  if (std::ranges::any_of(kKernels, [&](std::string_view tested) {
        return is_release_of(machine.release, tested);
      }))
    return {Verdict::good, "kernel", machine.release, ""};
  return {Verdict::note, "kernel",
          fmt::format("{}: FKT is tested on {}", machine.release, fmt::join(kKernels, ", ")), ""};
}

// The options that the kernel was built with, where distributions leave them.
std::optional<std::string> options_of(const Machine& machine) {
  for (const std::string& place :
       {"boot/config-" + machine.release, "lib/modules/" + machine.release + "/config",
        "lib/modules/" + machine.release + "/build/.config"}) {
    if (auto text = text_of(at(machine, place))) return text;
  }
  return std::nullopt;
}

Finding options(const Machine& machine) {
  static constexpr struct {
    const char* name;
    const char* without;  // what is not there then
    bool is_needed;
  } kOptions[] = {
      {"TRACEPOINTS", "the module cannot be built", true},
      {"KPROBES", "the module cannot be built", true},
      {"KALLSYMS", "the module finds no functions", true},
      {"DYNAMIC_FTRACE_WITH_REGS", "-i has no calls of functions, --kft nothing", false},
      {"UPROBES", "-i has no places in programs", false},
  };
  const auto text = options_of(machine);
  if (!text)
    return {Verdict::note, "options", "the kernel's options cannot be read: not known", ""};
  std::string lacking;
  bool is_blocked = false;
  for (const auto& option : kOptions) {
    if (("\n" + *text).find(fmt::format("\nCONFIG_{}=y", option.name)) != text->npos) continue;
    lacking += fmt::format("{}no CONFIG_{} ({})", lacking.empty() ? "" : ", ", option.name,
                           option.without);
    is_blocked = is_blocked || option.is_needed;
  }
  if (lacking.empty()) return {Verdict::good, "options", "the kernel has what FKT needs", ""};
  return {is_blocked ? Verdict::blocked : Verdict::note, "options", lacking,
          is_blocked ? "boot a kernel with these; fkt_record --user-only needs none" : ""};
}

// The files of dkms that say how its last build of FKT for this kernel failed, if it did.
std::optional<std::string> failed_build(const Machine& machine) {
  std::error_code ignored;
  for (const fs::directory_entry& version :
       fs::directory_iterator(at(machine, "var/lib/dkms/fkt"), ignored)) {
    const std::string place = "var/lib/dkms/fkt/" + version.path().filename().string() + "/";
    for (const std::string& log :
         {place + "build/make.log", place + machine.release + "/x86_64/log/make.log"}) {
      const auto text = text_of(at(machine, log));
      if (text && text->substr(0, text->find("\nmake ")).find(machine.release) != text->npos)
        return "/" + log;
    }
  }
  return std::nullopt;
}

bool has_dkms_source(const Machine& machine) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(at(machine, "usr/src"), ignored)) {
    if (entry.path().filename().string().starts_with("fkt-")) {
      return is_there(entry.path() / "dkms.conf");
    }
  }
  return false;
}

// Of the kernels that the module is installed for, one other than this; "": there is none.
std::string other_kernel(const Machine& machine) {
  std::error_code ignored;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(at(machine, "lib/modules"), ignored)) {
    const std::string release = entry.path().filename().string();
    if (is_installed({machine.root, release, "", false})) return release;
  }
  return "";
}

Finding module(const Machine& machine) {
  if (is_loaded(machine)) return {Verdict::good, "module", "fkt is loaded", ""};
  if (is_installed(machine)) {
    return {Verdict::blocked, "module", "fkt is installed, but not loaded", kLoad};
  }
  if (!is_supported(machine.release)) {
    return {Verdict::blocked, "module", "fkt is not built for this kernel, and cannot be", ""};
  }
  const bool has_headers = is_there(at(machine, "lib/modules/" + machine.release + "/build"));
  const std::string headers = "sudo apt install linux-headers-" + machine.release;
  const std::string other = other_kernel(machine);
  const std::string missing = other.empty() ? "fkt is not built for this kernel"
                                            : "fkt is built for " + other + ", not for this kernel";
  if (has_dkms_source(machine)) {
    if (!has_headers) {
      return {Verdict::blocked, "module", missing + ", whose headers are missing",
              headers + " && " + kLoad};
    }
    if (const auto log = failed_build(machine)) {
      return {Verdict::blocked, "module", "dkms could not build fkt for this kernel",
              "less " + *log};
    }
    return {Verdict::blocked, "module", missing, "sudo dkms autoinstall && " + std::string(kLoad)};
  }
  const std::string build = std::string("make && sudo make install && ") + kLoad;
  if (has_headers) return {Verdict::blocked, "module", missing + "; its headers are there", build};
  return {Verdict::blocked, "module", missing + ", whose headers are missing too",
          headers + ", then " + build};
}

// Whether the firmware demands signatures: the variable's value is behind four bytes of attributes.
bool has_secure_boot(const Machine& machine) {
  const auto value = text_of(
      at(machine, "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"));
  return value && value->size() >= 5 && (*value)[4] == 1;
}

Finding signatures(const Machine& machine) {
  const std::string lockdown =
      text_of(at(machine, "sys/kernel/security/lockdown")).value_or("[none]");
  const bool enforced =
      text_of(at(machine, "sys/module/module/parameters/sig_enforce")).value_or("N") == "Y";
  const bool locked = lockdown.find("[none]") == lockdown.npos;
  if (!enforced && !locked) {
    return {Verdict::good, "signatures",
            has_secure_boot(machine) ? "Secure Boot, but the kernel takes unsigned modules"
                                     : "the kernel takes unsigned modules",
            ""};
  }
  std::string why = enforced ? "module signatures are enforced" : "";
  if (locked) why += (why.empty() ? "" : ", ") + ("lockdown: " + lockdown);
  if (has_secure_boot(machine)) why += ", Secure Boot";
  if (is_loaded(machine))
    return {Verdict::good, "signatures", why + "; fkt is loaded all the same", ""};
  // dkms has signed the modules with its own key.
  const char* const key = "var/lib/dkms/mok.pub";
  if (has_dkms_source(machine) && is_there(at(machine, key))) {
    return {Verdict::blocked, "signatures", why + ": a module whose key is not enrolled is refused",
            "sudo mokutil --import /" + std::string(key) + ", reboot, \"Enroll MOK\", " + kLoad};
  }
  return {Verdict::blocked, "signatures", why + ": an unsigned module is refused",
          "sign fkt.ko, fkt_calls.ko, fkt_records.ko, fkt_splices.ko and fkt_kft.ko with a key "
          "enrolled by mokutil "
          "--import"};
}

// What each task of this process is in that it can only leave through fkt_calls.
void add_calls_in_flight(const fs::path& process, std::vector<std::string>& calls) {
  std::error_code ignored;
  for (const fs::directory_entry& task : fs::directory_iterator(process / "task", ignored)) {
    const std::string stack = text_of(task.path() / "stack").value_or("");
    std::string callee;  // of the frame above: it returns to fkt_calls
    std::size_t begin = 0;
    while (begin < stack.size()) {
      const std::size_t end = std::min(stack.find('\n', begin), stack.size());
      std::string_view frame = std::string_view(stack).substr(begin, end - begin);
      begin = end + 1;
      if (const std::size_t space = frame.find(' '); space != frame.npos) {
        frame.remove_prefix(space + 1);
      }
      const std::string_view function = frame.substr(0, frame.find('+'));
      if (frame.ends_with("[fkt_calls]") && !callee.empty()) {
        calls.push_back(callee + " of " + text_of(task.path() / "comm").value_or("a task") + " (" +
                        task.path().filename().string() + ")");
      }
      callee = function;
    }
  }
}

// Calls that were traced and have not returned keep fkt_calls loaded. Nothing: there are none.
std::optional<Finding> calls(const Machine& machine) {
  const auto open = text_of(at(machine, "sys/module/fkt_calls/parameters/open"));
  if (!open || *open == "0") return std::nullopt;
  constexpr std::size_t kNamed = 5;
  std::vector<std::string> found;
  std::error_code ignored;
  for (const fs::directory_entry& process : fs::directory_iterator(at(machine, "proc"), ignored)) {
    const std::string name = process.path().filename().string();
    if (std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c); })) {
      add_calls_in_flight(process.path(), found);
    }
  }
  std::string text = *open + " traced calls have not returned, and keep the module loaded";
  if (found.empty()) {
    return Finding{Verdict::note, "fkt_calls", text,
                   machine.is_root ? "" : "sudo fkt_doctor says which tasks are in them"};
  }
  std::ranges::sort(found);
  const std::size_t more = found.size() - std::min(found.size(), kNamed);
  found.resize(found.size() - more);
  text += fmt::format(": {}", fmt::join(found, ", "));
  if (more > 0) text += fmt::format(", and {} more", more);
  return Finding{
      Verdict::note, "fkt_calls", text,
      "to unload it, end or wake these tasks: rmmod fkt_calls says only that it is in use"};
}

Finding device(const Machine& machine) {
  const fs::path node = at(machine, "dev/fkt");
  if (!is_there(node)) {
    // Without a module there is nothing to load; the check of the module says what to do.
    if (!is_loaded(machine) && !is_installed(machine)) {
      return {Verdict::blocked, "device", "there is no /dev/fkt, which comes with the module", ""};
    }
    return {Verdict::blocked, "device", "there is no /dev/fkt",
            is_loaded(machine) ? "pass it to the container (--device=/dev/fkt)" : kLoad};
  }
  if (access(node.c_str(), R_OK | W_OK) == 0)
    return {Verdict::good, "device", "/dev/fkt is open to you", ""};
  return {Verdict::blocked, "device", "/dev/fkt is not open to you",
          "sudo fkt_record ..., or join the group fkt (man fkt_record)"};
}

Finding clock(const Machine& machine) {
  const std::string source =
      text_of(at(machine, "sys/devices/system/clocksource/clocksource0/current_clocksource"))
          .value_or("not known");
  const std::string cpus = text_of(at(machine, "proc/cpuinfo")).value_or("");
  const bool steady =
      cpus.find("constant_tsc") != cpus.npos && cpus.find("nonstop_tsc") != cpus.npos;
  if (steady && source == "tsc")
    return {Verdict::good, "clock", "the TSC is constant and used", ""};
  if (steady) {
    return {Verdict::note, "clock",
            "the TSC is constant, but the kernel's clock source is " + source,
            "fkt_record --clock mono, if fkt_record refuses the TSC"};
  }
  return {Verdict::note, "clock", "the TSC is not constant and non-stop",
          "fkt_record --clock mono"};
}

// Returns what other tracers do, and how to end it.
class Busy {
 public:
  void add(const std::string& what, const std::string& remedy) {
    what_ += (what_.empty() ? "" : ", ") + what;
    if (!remedy.empty()) remedy_ += (remedy_.empty() ? "" : "; ") + remedy;
  }
  bool any() const { return !what_.empty(); }
  Finding finding() const {
    return {Verdict::note, "other tracers", what_ + ": what is measured is slower", remedy_};
  }

 private:
  std::string what_, remedy_;
};

// ftrace's own buffer, and those that trace-cmd -B and others have made. folder: of tracefs.
void find_ftrace(const fs::path& folder, const std::string& name, Busy& busy) {
  const auto tracer = text_of(folder / "current_tracer");
  const auto set = text_of(folder / "set_event");
  const std::string whose = name.empty() ? "ftrace's" : "ftrace's instance " + name + ":";
  const std::string place =
      "/sys/kernel/tracing/" + (name.empty() ? std::string() : "instances/" + name + "/");
  if (tracer && *tracer != "nop") {
    busy.add(whose + " tracer is " + *tracer, "echo nop > " + place + "current_tracer");
  }
  if (set && !set->empty()) busy.add(whose + " events are on", "echo > " + place + "set_event");
}

// Modules of tracers that have probes in the kernel while they are loaded.
void find_modules(const Machine& machine, Busy& busy) {
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(at(machine, "sys/module"), none)) {
    const std::string name = entry.path().filename().string();
    const bool stap = name.starts_with("stap_");
    if (name == "lttng_tracer") busy.add("LTTng's modules are loaded", "lttng list");
    if (name == "scap" || name == "falco" || stap) {
      busy.add((stap ? "SystemTap's module " : "sysdig's module ") + name + " is loaded",
               "rmmod " + name);
    }
  }
}

Finding tracers(const Machine& machine) {
  Busy busy;
  find_modules(machine, busy);
  for (const char* folder : {"sys/kernel/tracing", "sys/kernel/debug/tracing"}) {
    const fs::path tracefs = at(machine, folder);
    if (!text_of(tracefs / "current_tracer")) continue;
    find_ftrace(tracefs, "", busy);
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(tracefs / "instances", none)) {
      find_ftrace(entry.path(), entry.path().filename().string(), busy);
    }
    // FKT's own probes exist only while it records.
    const auto functions = text_of(tracefs / "enabled_functions");
    if (functions && !functions->empty()) {
      const auto count = std::ranges::count(*functions, '\n') + 1;
      busy.add(fmt::format("{} functions have probes (kprobes, BPF, ftrace)", count),
               "cat /sys/kernel/tracing/enabled_functions");
    }
    if (busy.any()) return busy.finding();
    return {Verdict::good, "other tracers", "ftrace is idle, and no function has a probe", ""};
  }
  if (busy.any()) return busy.finding();
  return {Verdict::note, "other tracers", "tracefs cannot be read: not known",
          machine.is_root ? "mount -t tracefs nodev /sys/kernel/tracing" : "sudo fkt_doctor"};
}

Finding types(const Machine& machine) {
  if (is_there(at(machine, "sys/kernel/btf/vmlinux"))) {
    return {Verdict::good, "kernel types",
            "the kernel describes them (BTF): -i takes arguments by name", ""};
  }
  return {Verdict::note, "kernel types",
          "the kernel does not describe them (no BTF): -i has no arguments by name", ""};
}

// What the loaded module says that it cannot record here; nothing: all of it.
std::optional<Finding> lacks(const Machine& machine) {
  const std::string parameters = "sys/module/fkt/parameters/";
  std::string text;
  for (const char c : text_of(at(machine, parameters + "lacks")).value_or("")) {
    text += c == '\n' ? std::string(", ") : std::string(1, c);
  }
  const std::string left_out = text_of(at(machine, parameters + "left_out")).value_or("");
  if (!left_out.empty()) {
    text += fmt::format("{}the fields of {} classes of tracepoints", text.empty() ? "" : ", ",
                        std::ranges::count(left_out, '\n') + 1);
  }
  if (text.empty()) return std::nullopt;
  return Finding{Verdict::note, "not shown", "this kernel does not show: " + text,
                 left_out.empty() ? "" : "cat /" + parameters + "left_out"};
}

}  // namespace

std::vector<Finding> check_machine(const Machine& machine) {
  std::vector<Finding> findings = {kernel(machine),     options(machine), module(machine),
                                   signatures(machine), device(machine),  clock(machine),
                                   tracers(machine),    types(machine)};
  if (auto missing = lacks(machine)) findings.push_back(std::move(*missing));
  if (auto in_flight = calls(machine)) findings.push_back(std::move(*in_flight));
  return findings;
}

Machine this_machine() {
  utsname names{};
  Machine machine;
  if (uname(&names) == 0) machine.release = names.release;
  machine.is_root = ::geteuid() == 0;
  return machine;
}

std::string why_no_device(const Machine& machine) {
  // Keys matter once there is a module to load.
  std::vector<Finding (*)(const Machine&)> checks = {kernel, options, module, device};
  if (is_installed(machine)) checks.insert(checks.begin() + 2, signatures);
  for (const auto check : checks) {
    const Finding finding = check(machine);
    if (finding.verdict != Verdict::blocked) continue;
    return finding.found + (finding.remedy.empty() ? "" : " (" + finding.remedy + ")");
  }
  return "it went just now";
}

}  // namespace fkt::doctor
