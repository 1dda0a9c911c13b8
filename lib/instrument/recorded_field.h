// SPDX-License-Identifier: GPL-2.0-only
// Describes the words of an event that a program emits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/instrument/event_layout.h"
#include "lib/instrument/fetch.h"
#include "lib/instrument/value_names.h"

namespace fkt {

// A value in the words of an event.
struct RecordedField {
  enum class Kind : std::uint8_t {
    number,
    signed_number,
    hexadecimal,
    address,
    device,
    bytes,
    ip6,  // 16 bytes
    text,
  };

  std::string name;  // as typed: "file.f_inode.i_ino", "ret"
  Kind kind = Kind::number;
  std::string shown_as;  // of a number (FetchedValue::shown_as)
  std::uint16_t first_word = 0, words = 1;
  std::uint32_t size = 0;             // of bytes
  std::uint8_t shift = 0, bits = 64;  // of a number: where it lies in the word
  ValueNames names{};                 // of the values
};

// The words that the program of a histogram emits.
struct MeasuredValue {
  RecordedField value;
  std::optional<RecordedField> key;
  bool is_time = false;  // the value: ticks
};

constexpr std::uint16_t kTextBytes = 32;      // of a recorded text whose size is not known
constexpr std::uint16_t kMostTextBytes = 64;  // of one whose array's size is known

// Return the number of bytes, a multiple of 8, that a recorded text takes; and that a text or
// number takes as a histogram's key.
std::uint16_t text_bytes(const Fetch& fetch);
std::uint16_t key_bytes(const Fetch& fetch);

// Returns how the second program of a call fetches word `number` that the first one has kept. like:
// how the value was fetched, for its sign and bits.
Fetch kept_word(std::uint16_t number, const Fetch& like);

// Returns how a number of a tracepoint's own record is shown, unless the user chooses otherwise.
RecordedField::Kind kind_of(const EventField& field, const Fetch& fetch);

}  // namespace fkt
