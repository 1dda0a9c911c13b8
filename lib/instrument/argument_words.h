// SPDX-License-Identifier: GPL-2.0-only
// The registers of a function's arguments: the x86-64 calling convention of the System V ABI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/btf.h"

namespace fkt {

struct ArgumentWords {
  std::uint8_t first = 0;  // register: 0 to 5 are rdi, rsi, rdx, rcx, r8, r9
  std::uint8_t words = 0;  // registers; 0: none, the argument is on the stack or empty
};

struct ArgumentLayout {
  std::vector<ArgumentWords> arguments;
  // Why the function needs its caller's stack, where arguments are; empty: it does not. A
  // trampoline that calls through the function moves the stack, so it cannot take such a function.
  std::string on_stack;
};

// Returns the registers of the prototype's arguments. btf: has the prototype's types.
ArgumentLayout lay_out_arguments(const Btf& btf, const Prototype& prototype);
// Returns an Error (usage) if the function cannot be called through, with the reason.
Status may_call_through(const ArgumentLayout& layout);

}  // namespace fkt
