// SPDX-License-Identifier: GPL-2.0-only
// Paths from an argument through structures and pointers to a value:
// file.f_path.dentry.d_name.name, table[3].next. A "." follows pointers, too, and "->" may be
// written instead. Behind a pointer whose type does not tell what it leads to, the structure's name
// stands in braces: req{io_kiocb}.opcode.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"

namespace fkt {

struct FieldPath {
  struct Step {
    std::string member{};     // empty: it is an index, or leads to a structure
    std::string structure{};  // what the pointer leads to
    std::uint32_t index = 0;  // of an array's element, or of what a pointer points to
    std::size_t column = 0;   // in the line that the user typed

    bool is_index() const { return member.empty() && structure.empty(); }
    // The step as it is shown, with "." for every pointer.
    std::string text() const;
  };

  std::string root;
  std::vector<Step> steps;
  std::size_t column = 0;  // of the root

  // column: of the text's first character. Error (usage): what is wrong and in which column.
  static Result<FieldPath> parse(std::string_view text, std::size_t column);

  // The path with "." for every pointer, as it is shown.
  std::string text() const;
};

}  // namespace fkt
