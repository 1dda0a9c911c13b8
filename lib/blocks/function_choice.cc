// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/function_choice.h"

#include <fnmatch.h>

#include <algorithm>

#include "lib/base/suggest.h"
#include "lib/query/lexer.h"

namespace fkt {
namespace {

bool is_name_pattern(const std::string& name) {
  return name.find_first_of("*?[") != name.npos;
}

}  // namespace

Result<std::vector<const CodeFunction*>> FunctionChoice::named(
    const std::vector<std::string>& names) const {
  std::vector<const CodeFunction*> found;
  for (const std::string& name : names) {
    const std::size_t before = found.size();
    if (is_name_pattern(name)) {
      for (const CodeFunction& function : image_.functions()) {
        if (fits(function, name)) found.push_back(&function);
      }
    } else {
      for (const CodeFunction* function : image_.named(name)) {
        if (function != nullptr && is_wanted(*function)) found.push_back(function);
      }
    }
    if (found.size() == before) return not_found(name);
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool FunctionChoice::fits(const CodeFunction& function, const std::string& pattern) const {
  const std::string name(function.name);
  return is_wanted(function) && name.find(".cold") == name.npos &&
         !CodeImage::is_missing(function) && ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

Error FunctionChoice::not_found(const std::string& name) const {
  NearestName nearest(name);
  for (const CodeFunction& function : image_.functions()) {
    if (is_wanted(function)) nearest.offer(function.name);
  }
  const std::string where = module_ ? " in the module " + in_quotes(*module_) : "";
  return {ErrorCode::usage, "there is no function " + in_quotes(name) + where + nearest.question()};
}

}  // namespace fkt
