// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/program_functions.h"

#include <algorithm>

#include "lib/instrument/function_name.h"
#include "lib/instrument/user_file.h"

namespace fkt {

std::vector<ProgramFunction> read_program_functions(const std::string& path) {
  const Result<UserFile> file = UserFile::open(path);
  if (!file) return {};
  std::vector<const UserFunction*> all;
  for (const UserFunction& function : file->functions()) all.push_back(&function);
  std::ranges::sort(all, [](const UserFunction* one, const UserFunction* other) {
    if (one->offset != other->offset) return one->offset < other->offset;
    if (one->name.size() != other->name.size()) return one->name.size() < other->name.size();
    return one->name < other->name;
  });
  std::vector<ProgramFunction> functions;
  for (const UserFunction* const one : all) {
    if (!functions.empty() && functions.back().offset == one->offset) {
      functions.back().bytes = std::max(functions.back().bytes, one->bytes);
    } else {
      functions.push_back({one->offset, one->bytes, function_name(one->name)});
    }
  }
  return functions;
}

}  // namespace fkt
