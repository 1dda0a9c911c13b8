// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/module_file.h"

#include <sys/utsname.h>

#include <filesystem>
#include <system_error>

#include "lib/base/parse.h"
#include "lib/base/read_file.h"
#include "lib/instrument/module_probe.h"

namespace fkt::record {

std::string file_of_module(std::string_view modules_dep, const std::string& folder,
                           std::string_view module) {
  std::string path;
  for_each_line(modules_dep, [&](std::string_view line, std::size_t) {
    const std::string_view file = line.substr(0, line.find(':'));
    if (module_of_file(file) == module) path = file;
    return path.empty();
  });
  return path.empty() || path.starts_with('/') ? path : folder + "/" + path;
}

namespace {

std::string modules_folder() {
  utsname name{};
  ::uname(&name);
  return std::string("/lib/modules/") + name.release;
}

}  // namespace

bool may_come(std::string_view module) {
  std::error_code error;
  if (std::filesystem::exists("/sys/module/" + std::string(module), error)) return false;
  const std::string folder = modules_folder();
  const Result<std::string> list = read_file(folder + "/modules.dep");
  return list && !file_of_module(*list, folder, module).empty();
}

Result<std::string> read_module_file(const std::string& path) {
  if (!path.ends_with(".ko")) {
    return Error{ErrorCode::usage,
                 path + ": what is compressed is not looked into: load the module first"};
  }
  return read_file(path, kMostBinary);
}

Result<std::string> read_module(std::string_view module, std::string& path) {
  const std::string folder = modules_folder();
  const Result<std::string> list = read_file(folder + "/modules.dep");
  path = list ? file_of_module(*list, folder, module) : "";
  if (!path.empty()) return read_module_file(path);
  return Error{ErrorCode::usage, "the module " + std::string(module) + " is not loaded, and " +
                                     folder + " has none of that name"};
}

}  // namespace fkt::record
