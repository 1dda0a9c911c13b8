// SPDX-License-Identifier: GPL-2.0-only
// Registers as values of an instruction: regs.di is the register's value, regs.di[2] the third word
// of 8 bytes behind the address in it, regs.di[2][0] what that one points to; regs.zf a flag, 0 or
// 1.
#pragma once

#include "lib/base/result.h"
#include "lib/instrument/fetch.h"
#include "lib/query/field_path.h"

namespace fkt {

// Root of a path to a register.
constexpr std::string_view kRegisterRoot = "regs";

// Returns how to fetch the value of the path's steps from `first` on, which start at `start`: each
// [N] loads word N (8 bytes) behind the pointer. Error (usage): not [N], or too many steps.
Result<Fetch> follow_words(Fetch start, const FieldPath& path, std::size_t first, TextRule text);

// Returns how to fetch the value of a path whose root is kRegisterRoot. Error (usage): no such
// register, or a step that follow_words() refuses.
Result<Fetch> resolve_register(const FieldPath& path, TextRule text);

}  // namespace fkt
