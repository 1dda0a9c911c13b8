// SPDX-License-Identifier: GPL-2.0-only
// The stack that an event holds (fields of the types stack and ustack): its frames and their names.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lib/format/catalogue.h"
#include "lib/format/symbols.h"

namespace fkt {

// Returns whether the field is a stack.
inline bool is_stack(const Field& field) {
  return field.type == FieldType::stack || field.type == FieldType::ustack;
}

// Returns the addresses, the innermost frame first, without frames of the kernel that only call a
// tracepoint's probes. Valid as long as the event.
std::span<const std::uint64_t> frames_of(const Field& field, const Event& event,
                                         const Symbols& symbols);

// Returns the symbol of a frame's function; nullptr: it has none, or is of a user program.
// is_innermost: the address is not one that a call returns to.
const Symbol* function_of(const Field& field, std::uint64_t address, bool is_innermost,
                          const Symbols& symbols);

// Returns "vfs_read+0x5", or "0x7f12" for a frame without a symbol.
std::string frame_name(const Field& field, std::uint64_t address, bool is_innermost,
                       const Symbols& symbols);

}  // namespace fkt
