// SPDX-License-Identifier: GPL-2.0-only
// A tracepoint's own record as its file "format" in tracefs describes it: fields, where they are,
// and how the kernel prints them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/value_names.h"

namespace fkt {

struct EventField {
  enum class Form : std::uint8_t {
    number,          // of `size` bytes
    array,           // of numbers of `element` bytes
    text,            // an array of characters
    text_elsewhere,  // the field has offset and length of a text: __data_loc, __rel_loc
    other,           // an array of another length in each record
  };
  enum class Shown : std::uint8_t { decimal, hex, address, device };

  std::string name;
  Form form = Form::number;
  Shown shown = Shown::decimal;
  bool is_signed = false;
  bool is_relative = false;  // text_elsewhere: the offset counts from behind the field
  std::uint32_t offset = 0, size = 0, element = 0;  // bytes
  ValueNames names;                                 // of a number's values
};

struct EventLayout {
  std::string name;
  std::vector<EventField> fields;  // without those that all events have ("common_pid")

  // Parses the text of such a file. Error (damaged): it has another form.
  static Result<EventLayout> parse(std::string_view format);
  // Returns nullptr if there is no such field.
  const EventField* find(std::string_view field) const;
};

}  // namespace fkt
