// SPDX-License-Identifier: GPL-2.0-only
// Writes JSON directly as text, for answers with 10^5 numbers.
#pragma once

#include <cstdint>
#include <string_view>

#include "lib/base/text_writer.h"

namespace fkt {

// Writes the members of an array or object, separated by commas.
class JsonWriter {
 public:
  // open, close: the brackets, [] or {}; the destructor writes the second one.
  JsonWriter(TextWriter& out, char open, char close) : out_(out), close_(close) { out_.put(open); }
  ~JsonWriter() { out_.put(close_); }
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;
  // Writes the comma before a member that the caller writes, unless it is the first one.
  void next() {
    if (!first_) out_.put(',');
    first_ = false;
  }
  // Writes the key of an object's member, escaped; the caller writes its value to `out`.
  void key(std::string_view name) {
    next();
    out_.json(name);
    out_.put(':');
  }
  // Write an array's member.
  void number(std::uint64_t value) {
    next();
    out_.number(value);
  }
  void number_signed(std::int64_t value) {
    next();
    out_.number_signed(value);
  }

 private:
  TextWriter& out_;
  char close_;
  bool first_ = true;
};

}  // namespace fkt
