// SPDX-License-Identifier: GPL-2.0-only
// How a program (fkt/program.h) gets at a value: found by following a path through the kernel's
// types.
#pragma once

#include <cstdint>
#include <vector>

#include <fkt/program.h>

#include "lib/base/result.h"
#include "lib/instrument/btf.h"
#include "lib/query/field_path.h"

namespace fkt {

struct Fetch {
  // Where it begins.
  fkt_from from = FKT_FROM_WORD;
  std::uint8_t index = 0;       // of the hit's word; enum fkt_context
  std::uint16_t parameter = 0;  // of FKT_FROM_CONTEXT
  // Offsets at which pointers are loaded, in this order.
  std::vector<std::int32_t> pointers;
  // The last step, as in fkt_insn. load: 0: the address, or the word itself.
  std::int32_t offset = 0;
  std::uint8_t load = 0, left = 0, right = 0;

  bool is_signed = false;
  std::uint8_t bits = 64;        // of the value
  bool is_text = false;          // the operand is a text's address
  std::uint32_t text_bytes = 0;  // of the array that the text is in; 0: not known
  TypeId type = 0;
};

// What follows a path from a word of the hit.
struct FetchRoot {
  std::uint8_t word = 0, words = 1;  // a structure in registers may have two
  TypeId type = 0;
};

enum class TextRule : std::uint8_t {
  by_type,  // what is a text by its type is one
  always,   // a text is wanted
  never,    // the number is wanted
};

// Error (usage): the path leads nowhere, or to what is no single value.
Result<Fetch> resolve_path(const Btf& btf, const FetchRoot& root, const FieldPath& path,
                           TextRule text);

// Returns the instruction with the operand that `fetch` ends with; the pointers are to be pushed
// before.
fkt_insn with_operand(fkt_op op, const Fetch& fetch);

}  // namespace fkt
