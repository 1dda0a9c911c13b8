// SPDX-License-Identifier: GPL-2.0-only
// One x86-64 instruction: where it goes on, and what must be known of it to put a jump in its
// place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <fkt/code_rules.h>

#include "lib/base/bytes.h"

namespace fkt {

inline constexpr std::uint64_t kLongestInstruction = 15;  // bytes

enum class Flow : std::uint8_t {
  next,           // to the following instruction
  conditional,    // there, or to `target`
  jump,           // to `target`
  indirect_jump,  // to an address in a register or in memory
  call,           // to `target`, and back
  indirect_call,  // and back
  returns,
  traps,  // ud2, int3, hlt
};

struct Instruction {
  std::uint64_t address = 0;
  std::uint64_t target = 0;  // of direct jumps and calls
  std::uint64_t table = 0;   // address of an array of pointers that it may read; 0: none
  std::uint8_t bytes = 0;
  Flow flow = Flow::next;
  bool is_nop = false;
  // It writes these without reading them, so that whatever runs just before it may use them: all
  // status flags; a whole general register.
  bool frees_flags = false;
  bool frees_register = false;
  // Why it may not run at another address (static text); nullptr: it may.
  const char* fixed = nullptr;
  // Why nothing in its whole function may be changed (static text): it changes what the code that
  // counts needs, as the segment base of per-CPU variables. nullptr: it does not.
  const char* unsafe = nullptr;

  std::uint64_t end() const { return address + bytes; }
  // True if the following instruction is not reached from this one.
  bool ends_path() const {
    return flow == Flow::jump || flow == Flow::indirect_jump || flow == Flow::returns ||
           flow == Flow::traps;
  }
};

// Decodes the instruction at the beginning of `code`, which lies at `address`. Nothing: these bytes
// are no instruction.
std::optional<Instruction> decode_instruction(ByteView code, std::uint64_t address);

// Returns the parts of the instruction at the beginning of `code` by which the module decides.
fkt_code code_parts(ByteView code);

// Returns the instruction in Intel's notation, with absolute addresses.
std::string instruction_text(ByteView code, std::uint64_t address);

}  // namespace fkt
