// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_instrument/saved.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "lib/base/os_error.h"
#include "lib/base/read_file.h"
#include "lib/base/unique_fd.h"
#include "lib/base/write_file.h"
#include "lib/record/recorder_protocol.h"

namespace fkt::cli {
namespace {

constexpr const char* kMachine = "/etc/fkt/";
constexpr const char* kSuffix = ".instruments";
constexpr std::size_t kMost = InstrumentsAsk::kMostBytes;

// Returns the user's folder, with a slash at its end; empty: there is none.
std::string folder_of_user() {
  const char* const config = ::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return std::string(config) + "/fkt/";
  const char* const home = ::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.config/fkt/";
  return {};
}

bool is_path(const std::string& name) {
  return name.find('/') != std::string::npos;
}

}  // namespace

Result<std::string> read_saved(const std::string& name) {
  if (name == "-") return read_descriptor(STDIN_FILENO, "standard input", kMost);
  if (is_path(name)) return read_file(name, kMost);
  for (const std::string& folder : {folder_of_user(), std::string(kMachine)}) {
    if (folder.empty()) continue;
    const std::string path = folder + name + kSuffix;
    if (::access(path.c_str(), F_OK) == 0) return read_file(path, kMost);
  }
  return Error{ErrorCode::io, "no set \"" + name + "\" is saved (" + folder_of_user() + name +
                                  kSuffix + ", " + kMachine + "); ./" + name + " would be a file"};
}

Result<std::string> save(const std::string& name, const std::string& text) {
  const std::string folder = is_path(name) ? std::string() : folder_of_user();
  if (!is_path(name) && folder.empty()) {
    return Error{ErrorCode::io, "there is no HOME to save \"" + name + "\" in"};
  }
  const std::string path = is_path(name) ? name : folder + name + kSuffix;
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  // Replaced by rename: a reader finds either the old set or the new one.
  const std::string temporary = path + ".new";
  UniqueFd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) return os_failure(temporary);
  const Status written = write_all(file.get(), as_bytes(text), temporary);
  file.reset();
  if (written && ::rename(temporary.c_str(), path.c_str()) == 0) return path;
  const Error failure = written ? os_failure(path) : written.error();
  ::unlink(temporary.c_str());
  return failure;
}

}  // namespace fkt::cli
