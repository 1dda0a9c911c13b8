// SPDX-License-Identifier: GPL-2.0-only
// Registers as values of an instruction: regs.di is the register's value, regs.di[2] the third word
// of 8 bytes behind the address in it, regs.di[2][0] what that one points to.
#pragma once

#include "lib/base/result.h"
#include "lib/instrument/fetch.h"
#include "lib/query/field_path.h"

namespace fkt {

// What a path to a register begins with.
constexpr std::string_view kRegisterRoot = "regs";

// What the steps of the path, from `first` on, lead to: each goes through a pointer to words of 8
// bytes. start: where they begin. Error (usage): a step is not [N], or there are too many.
Result<Fetch> follow_words(Fetch start, const FieldPath& path, std::size_t first, TextRule text);

// path: its root is kRegisterRoot. Error (usage): there is no such register, or the path is none.
Result<Fetch> resolve_register(const FieldPath& path, TextRule text);

}  // namespace fkt
