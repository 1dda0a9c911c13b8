// SPDX-License-Identifier: GPL-2.0-only
// A tracepoint's own record as its file "format" in tracefs describes it: fields, where they are,
// and how the kernel prints them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/instrument/value_names.h"

namespace fkt {

// Returns the value of a name in an enumeration of the kernel's; nothing: it has no such name.
using Enumerators = std::function<std::optional<std::int64_t>(const std::string& enumeration,
                                                              std::string_view name)>;

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
  std::string enumeration;  // the name of a number's type; empty: it is none
  ValueNames names;         // of a number's values
};

struct EventLayout {
  std::string name;
  std::vector<EventField> fields;  // without those that all events have ("common_pid")

  // Parses the text of such a file. Error (damaged): it has another form.
  static Result<EventLayout> parse(std::string_view format, const Enumerators& enumerators = {});
  // Returns nullptr if there is no such field.
  const EventField* find(std::string_view field) const;
};

}  // namespace fkt
