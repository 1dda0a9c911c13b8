// SPDX-License-Identifier: GPL-2.0-only
// Which functions of an image a command line means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/base/result.h"
#include "lib/blocks/code_image.h"

namespace fkt {

class FunctionChoice {
 public:
  // module: functions of this module alone; nothing: of all.
  FunctionChoice(const CodeImage& image, std::optional<std::string> module)
      : image_(image), module_(std::move(module)) {}

  // Returns the functions with these names, or that fit these patterns (*, ? and [ ]), each once,
  // in the order of their addresses. A pattern means functions that are there, and parts put aside
  // with those they belong to. Error (usage): a name means none.
  Result<std::vector<const CodeFunction*>> named(const std::vector<std::string>& names) const;

 private:
  bool is_wanted(const CodeFunction& function) const {
    return !module_ || function.module == *module_;
  }
  bool fits(const CodeFunction& function, const std::string& pattern) const;
  Error not_found(const std::string& name) const;

  const CodeImage& image_;
  std::optional<std::string> module_;
};

}  // namespace fkt
