// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/user/function_library.h"

#include <cstdlib>
#include <filesystem>

namespace fkt::record {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "lib/libfkt-func.so";
constexpr const char* kVariable = "LD_PRELOAD";

}  // namespace

Result<std::string> function_library_entry() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path library = program.parent_path().parent_path() / kLibrary;
  if (error || !fs::exists(library, error)) {
    return Error{ErrorCode::usage, "--functions: no file " + library.string() +
                                       ": `make tools` builds it, beside the tools"};
  }
  if (library.string().find_first_of(" :") != std::string::npos) {
    return Error{ErrorCode::usage, "--functions: " + library.string() +
                                       ": the dynamic linker takes no path with a blank or a "
                                       "colon in it; install FKT elsewhere"};
  }
  const char* const before = std::getenv(kVariable);
  const bool any = before != nullptr && *before != '\0';
  return std::string(kVariable) + '=' + library.string() + (any ? ":" + std::string(before) : "");
}

Status add_function_library(bool wanted, std::vector<std::string>& environment) {
  if (!wanted) return Done{};
  const auto entry = FKT_TRY(function_library_entry());
  environment.push_back(entry);
  return Done{};
}

}  // namespace fkt::record
