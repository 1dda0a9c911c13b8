// SPDX-License-Identifier: GPL-2.0-only
// Kernel symbols: address to name, for the file's own table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/result.h"

namespace fkt {

struct Symbol {
  std::uint64_t address = 0;
  char type = 't';
  std::string name;
  std::string module;  // empty: the kernel itself
};

class Symbols {
 public:
  // Lines as FKT_SEC_SYMBOLS has them.
  static Result<Symbols> parse(std::string_view lines);

  bool empty() const { return symbols_.empty(); }
  const std::vector<Symbol>& all() const { return symbols_; }
  // The symbol at or before the address, or nullptr.
  const Symbol* at(std::uint64_t address) const;
  // "name+0x1c" or "name [module]"; the bare hexadecimal address when nothing fits.
  std::string name(std::uint64_t address) const;

 private:
  std::vector<Symbol> symbols_;  // ascending
};

}  // namespace fkt
