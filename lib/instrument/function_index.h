// SPDX-License-Identifier: GPL-2.0-only
// The kernel's functions by name: a recording may have thousands of instruments, and a kernel
// 100,000 functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/name_index.h"
#include "lib/base/result.h"
#include "lib/format/symbols.h"

namespace fkt {

class FunctionIndex {
 public:
  // symbols: of the running kernel and its modules; they must outlive this object.
  explicit FunctionIndex(std::span<const Symbol> symbols);

  // Returns all functions, in the symbols' order.
  std::span<const Symbol* const> all() const { return functions_; }
  // Returns the functions with this name, in the symbols' order.
  std::vector<const Symbol*> named(std::string_view name) const;
  // Returns the address of the next symbol after an address, at which a function at that address
  // ends at the latest; the largest number if there is none.
  std::uint64_t next_symbol(std::uint64_t address) const;
  // Returns an Error (usage): there is no function with this name; it suggests a similar one.
  Error none_called(std::string_view name) const;

 private:
  auto name_of() const {
    return [this](std::uint32_t i) { return functions_[i]->name; };
  }

  std::span<const Symbol> symbols_;
  std::vector<const Symbol*> functions_;
  NameIndex names_;  // of functions_
};

}  // namespace fkt
