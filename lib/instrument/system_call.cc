// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/system_call.h"

#include <string>
#include <utility>

#include "lib/base/parse.h"

namespace fkt {
namespace {

constexpr std::size_t kMostArguments = 6;

// Returns the type of a number as it is passed; 0: it is not known, or a pointer.
TypeId number_type(std::string_view declared, const Btf& btf) {
  if (declared.starts_with("const ")) declared.remove_prefix(6);
  if (declared == "long") declared = "long int";
  return declared.ends_with('*') ? 0 : btf.number_type(std::string(declared));
}

// Returns the argument of "int dfd", "const char * filename".
Prototype::Argument argument(std::string_view declaration, const Btf& btf) {
  const std::size_t end = declaration.rfind(' ');
  const std::string_view name = declaration.substr(end + 1);
  std::string_view type = declaration.substr(0, end);
  Prototype::Argument made{std::string(name), number_type(type, btf), {}};
  if (type.ends_with(" *")) {
    made.declaration = std::string(type).append(name);
  } else {
    made.declaration = declaration;
  }
  return made;
}

}  // namespace

// Fields that are no arguments: those of all events, the call's number, and texts from the
// program's memory, which newer kernels append.
void add_call_arguments(Prototype& function, std::string_view format, const Btf& btf) {
  constexpr std::string_view kField = "\tfield:";
  std::vector<Prototype::Argument>& arguments = function.in_registers.emplace();
  for (std::size_t i = 0; format.empty() && i < kMostArguments; i++) {
    arguments.push_back({{}, 0, "arg" + std::to_string(i + 1)});
  }
  for_each_line(format, [&](std::string_view line, std::size_t) {
    const std::size_t end = line.find(';');
    if (!line.starts_with(kField) || end == line.npos) return true;
    const std::string_view declaration = line.substr(kField.size(), end - kField.size());
    const bool is_own = declaration.find(" common_") == declaration.npos &&
                        !declaration.ends_with("__syscall_nr") &&
                        !declaration.starts_with("__data_loc ");
    if (is_own && arguments.size() < kMostArguments)
      arguments.push_back(argument(declaration, btf));
    return true;
  });
}

}  // namespace fkt
