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

  // All functions, in the symbols' order.
  std::span<const Symbol* const> all() const { return functions_; }
  // Those that are called so, likewise.
  std::vector<const Symbol*> named(std::string_view name) const;
  // The address of the symbol behind an address: no function goes on there. The largest number if
  // there is none.
  std::uint64_t next_symbol(std::uint64_t address) const;
  // Error (usage): no function is called so, and which name may have been meant.
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
