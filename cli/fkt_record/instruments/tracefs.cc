// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/tracefs.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "lib/base/unique_fd.h"
#include "lib/record/machine_sections.h"

namespace fkt::record {
namespace {

constexpr const char* kTracefs[] = {"/sys/kernel/tracing/", "/sys/kernel/debug/tracing/"};

// Error (io): kernel lockdown forbids function tracing, or ftrace disabled itself after an error.
Status check_ftrace(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // Not EACCES, which is for users without a capability.
  if (!fd && errno == EPERM) {
    return Error{ErrorCode::io,
                 "-i: the kernel is locked down (confidentiality) and lets nobody trace functions"};
  }
  if (!fd && errno == ENODEV) {
    return Error{ErrorCode::io,
                 "-i: ftrace has switched itself off after an error (see the kernel's log), until "
                 "the next boot"};
  }
  return Done{};
}

}  // namespace

Result<std::string> available_functions() {
  const Status open = check_ftrace(std::string(kTracefs[0]) + "available_filter_functions");
  if (!open) return open.error();
  Result<std::string> text = tracefs_file("available_filter_functions");
  if (text) return text;
  return Error{ErrorCode::io, text.error().message +
                                  ": -i needs the list of functions that can be traced (mount -t "
                                  "tracefs nodev /sys/kernel/tracing)"};
}

std::string unprobed_functions() {
  Result<std::string> text = read_file("/sys/kernel/debug/kprobes/blacklist");
  return text ? std::move(*text) : std::string{};
}

Result<std::vector<std::string>> tracefs_folders(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const char* const tracefs : kTracefs) {
    std::vector<std::string> names;
    fs::directory_iterator entry(tracefs + folder, error), end;
    for (; !error && entry != end; entry.increment(error)) {
      if (entry->is_directory()) names.push_back(entry->path().filename().string());
    }
    if (!error) return names;
  }
  return Error{ErrorCode::io, kTracefs[0] + folder + ": " + error.message() +
                                  ": -i needs the list of tracepoints (mount -t tracefs nodev "
                                  "/sys/kernel/tracing)"};
}

Result<std::string> tracefs_file(const std::string& path) {
  Result<std::string> text = read_file(kTracefs[0] + path);
  return text ? std::move(text) : read_file(kTracefs[1] + path);
}

}  // namespace fkt::record
