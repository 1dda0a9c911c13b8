// SPDX-License-Identifier: GPL-2.0-only
// Kernel symbols: names of addresses, from the file's own table.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.h"
#include "lib/format/sections.h"

namespace fkt {

// The names are views into the text that the symbol was read from.
struct Symbol {
  std::uint64_t address = 0;
  char type = 't';
  std::string_view name;
  std::string_view module;  // empty for the kernel itself
};

// Orders symbols by address; those of one address stay in their order.
void sort_by_address(std::vector<Symbol>& symbols);

// A kernel has 100,000 symbols or more, and few recordings' reports need one: they are parsed when
// the first is asked for. Copies share the table; any thread may ask.
class Symbols {
 public:
  Symbols() = default;
  // Takes a copy of an FKT_SEC_SYMBOLS section, whose checksum must match (else: damaged). If the
  // payload cannot be unpacked or is not a list of symbols, there are none.
  static Result<Symbols> of(const Section& section);
  // Parses the lines of such a section. Error (damaged): a line that does not begin with an
  // address.
  static Result<Symbols> parse(std::string text);

  bool empty() const { return all().empty(); }
  const std::vector<Symbol>& all() const;  // ascending by address
  // Returns the symbol at or closely before the address; nullptr when there is none.
  const Symbol* at(std::uint64_t address) const;
  // Returns "name+0x1c" or "name [module]"; the address in hexadecimal when at() finds no symbol.
  std::string name(std::uint64_t address) const;

 private:
  struct Table;
  std::shared_ptr<Table> table_;
};

}  // namespace fkt
