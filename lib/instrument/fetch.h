// SPDX-License-Identifier: GPL-2.0-only
// How a program (fkt/program.h) reads a value: computed from a path through the kernel's types.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <fkt/program.h>

#include "lib/base/result.h"
#include "lib/instrument/btf.h"
#include "lib/query/field_path.h"

namespace fkt {

struct Fetch {
  // The source of the first value.
  fkt_from from = FKT_FROM_WORD;
  std::uint8_t index = 0;       // of the hit's word; enum fkt_context
  std::uint16_t parameter = 0;  // of FKT_FROM_CONTEXT
  std::uint64_t constant = 0;   // of FKT_FROM_CONST
  // Of memory: this word of the hit, shifted left, is added to the first value.
  struct Index {
    std::uint8_t word = 0, shift = 0;
    bool has_base = true;  // false: it begins at 0
  };
  std::optional<Index> indexed;
  // Offsets at which pointers are loaded, in this order.
  std::vector<std::int32_t> pointers;
  // The last step, as in fkt_insn. load: 0: the address, or the word itself.
  std::int32_t offset = 0;
  std::uint8_t load = 0, left = 0, right = 0;

  bool is_signed = false;
  std::uint8_t bits = 64;        // of the value
  bool is_text = false;          // the operand is a text's address
  std::uint32_t text_bytes = 0;  // of the array that the text is in; 0: not known
  // For a text in a tracepoint's own record: the low 16 bits of the field at `offset`, plus this
  // number, are the text's offset in the record.
  std::optional<std::int32_t> text_base;
  TypeId type = 0;
};

// The word of the hit at which a path begins.
struct FetchRoot {
  std::uint8_t word = 0, words = 1;  // a structure in registers may have two
  TypeId type = 0;
};

enum class TextRule : std::uint8_t {
  by_type,  // a text if the value's type is one (Btf::is_text)
  always,   // the text that it points to
  never,    // the number
};

// Returns how to fetch the value at the end of the path. text: whether it is a text or a number.
// Error (usage): the path does not exist, or its end is not a single value.
Result<Fetch> resolve_path(const Btf& btf, const FetchRoot& root, const FieldPath& path,
                           TextRule text);

// Returns an instruction whose operand is the last step of `fetch`; the instructions that push its
// pointers must precede it.
fkt_insn with_operand(fkt_op op, const Fetch& fetch);

}  // namespace fkt
