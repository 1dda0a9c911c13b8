// SPDX-License-Identifier: GPL-2.0-only
// Writes JSON directly as text, for answers with 10^5 numbers.
#pragma once

#include <cstdint>
#include <string_view>

#include "lib/base/writer.h"

namespace fkt::cli {

// Writes the members of an array or object, separated by commas.
class Members {
 public:
  Members(Writer& out, char open, char close) : out_(out), close_(close) { out_.put(open); }
  ~Members() { out_.put(close_); }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;
  void next() {
    if (!first_) out_.put(',');
    first_ = false;
  }
  void key(std::string_view name) {
    next();
    out_.json(name);
    out_.put(':');
  }
  void number(std::uint64_t value) {
    next();
    out_.number(value);
  }
  void number_signed(std::int64_t value) {
    next();
    out_.number_signed(value);
  }

 private:
  Writer& out_;
  char close_;
  bool first_ = true;
};

}  // namespace fkt::cli
