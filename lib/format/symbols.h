// SPDX-License-Identifier: GPL-2.0-only
// Kernel symbols: names of addresses, from the file's own table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"

namespace fkt {

struct Symbol {
  std::uint64_t address = 0;
  char type = 't';
  std::string name;
  std::string module;  // empty for the kernel itself
};

class Symbols {
 public:
  // Parses the lines of FKT_SEC_SYMBOLS. Error (damaged): a line that does not begin with an
  // address.
  static Result<Symbols> parse(std::string_view lines);

  bool empty() const { return symbols_.empty(); }
  const std::vector<Symbol>& all() const { return symbols_; }
  // Returns the symbol at or closely before the address; nullptr when there is none.
  const Symbol* at(std::uint64_t address) const;
  // Returns "name+0x1c" or "name [module]"; the address in hexadecimal when at() finds no symbol.
  std::string name(std::uint64_t address) const;

 private:
  std::vector<Symbol> symbols_;  // ascending by address
};

}  // namespace fkt
