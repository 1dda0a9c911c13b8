// SPDX-License-Identifier: GPL-2.0-only
// Finds in the line "print fmt" of a tracepoint's file "format" the names of its fields' values,
// and whether fields are addresses or hexadecimal numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "lib/instrument/event_layout.h"

namespace fkt {

// print: the text after "print fmt: ". Parts in an unknown form are ignored. enumerators: the
// values of names that are not numbers there; may be empty.
void apply_print_format(std::string_view print, std::span<EventField> fields,
                        const Enumerators& enumerators);

// Returns the value of an expression of constants in C: numbers, casts, and the operators
// | & ^ ~ << >> + - *.
std::optional<std::uint64_t> constant_value(std::string_view expression);

}  // namespace fkt
