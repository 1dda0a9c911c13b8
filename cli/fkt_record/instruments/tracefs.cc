// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/tracefs.h"

#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "lib/base/read_file.h"
#include "lib/base/unique_fd.h"
#include "lib/format/file_writer.h"
#include "lib/format/sections.h"
#include "lib/record/symbol_cache.h"

namespace fkt::record {
namespace {

constexpr const char* kTracefs[] = {"/sys/kernel/tracing/", "/sys/kernel/debug/tracing/"};

// Error (io): kernel lockdown forbids function tracing, or ftrace disabled itself after an error.
Status check_ftrace(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // EPERM comes from kernel lockdown: without the permission to read the file, open() fails with
  // EACCES.
  if (!fd && errno == EPERM) {
    return Error{ErrorCode::io,
                 "-i: the kernel is locked down (confidentiality) and does not allow tracing"};
  }
  if (!fd && errno == ENODEV) {
    return Error{ErrorCode::io,
                 "-i: ftrace has switched itself off after an error (see the kernel's log), until "
                 "the next boot"};
  }
  return Done{};
}

// Returns the payload of a section from a SymbolCache.
std::optional<std::string> payload_of(const std::optional<std::string>& sections) {
  if (!sections) return {};
  const SectionList list = walk_sections(as_bytes(*sections), 0, sections->size());
  const Result<Payload> payload = Payload::read(list.sections.front());
  if (!payload) return {};
  return std::string(payload->text());
}

// Only what belongs to the identity is kept: a module may have been loaded meanwhile.
void keep(const SymbolCache& cache, const SymbolsIdentity& identity, const std::string& text) {
  Sections sections;
  if (sections.add(FKT_SEC_SYMBOLS, text) && symbols_identity() == identity) {
    cache.keep(identity.text, sections.bytes());
  }
}

}  // namespace

Result<std::string> available_functions() {
  FKT_TRY(check_ftrace(std::string(kTracefs[0]) + "available_filter_functions"));
  // Kept in a cache, because the kernel looks up a name for each of 50,000 addresses.
  const SymbolCache cache("/run/fkt", "functions");
  const std::optional<SymbolsIdentity> identity = symbols_identity();
  if (identity) {
    if (std::optional<std::string> kept = payload_of(cache.find(identity->text)))
      return std::move(*kept);
  }
  Result<std::string> text = tracefs_file("available_filter_functions");
  if (text && identity) keep(cache, *identity, *text);
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

std::string system_call_format(std::string_view call) {
  Result<std::string> text =
      tracefs_file("events/syscalls/sys_enter_" + std::string(call) + "/format");
  return text ? std::move(*text) : std::string{};
}

Result<std::string> tracefs_file(const std::string& path) {
  Result<std::string> text = read_file(kTracefs[0] + path);
  return text ? std::move(text) : read_file(kTracefs[1] + path);
}

}  // namespace fkt::record
