// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_paths/record_paths.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "cli/base/default_options.h"
#include "cli/base/run_command.h"
#include "lib/base/os_error.h"

namespace fkt::cli {

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  std::string path = std::filesystem::temp_directory_path(error).string();
  if (error) path = "/tmp";
  path += "/fkt_paths.XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return os_failure(path);
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

Result<int> record_paths(const FunctionPaths& paths, const PathsRequest& request) {
  // Layer process tells which thread is interrupted or calls.
  std::vector<std::string> words{
      path_of_tool("fkt_record"), "--no-defaults", "-q", "-f", request.file, "-k", "process"};
  if (request.only) words.emplace_back("--only");
  for (const std::string& place : paths.places()) {
    words.emplace_back("-i");
    words.push_back(place);
  }
  words.insert(words.end(), request.options.begin(), request.options.end());
  words.emplace_back("--");
  words.insert(words.end(), request.command.begin(), request.command.end());
  return run_command(words);
}

}  // namespace fkt::cli
