// SPDX-License-Identifier: GPL-2.0-only
// Reads the running kernel's symbols, for the file and for the instruments.
#pragma once

#include <optional>
#include <string>

#include "lib/base/result.h"
#include "lib/record/kernel_symbols.h"
#include "lib/record/symbol_cache.h"

namespace fkt::record {

struct SymbolPlan {
  std::string system_map;  // path; empty: none
  bool verbose = false;    // print the number of symbols
};

// Takes the symbols from the cache (lib/record/symbol_cache.h) if they have not changed since they
// were put there, and reads them from the kernel otherwise.
class SymbolReader {
 public:
  explicit SymbolReader(SymbolCache cache = SymbolCache());

  // Returns the kernel's symbols, read by the first call. Error (io): /proc/kallsyms cannot be
  // read.
  const Result<KernelSymbols>& symbols();
  // Returns whether the kernel hides its addresses from this user. Reads no symbols if the cache
  // has them. Error: as symbols().
  Result<bool> are_hidden();
  // Returns the section for the file, encoded (Sections::bytes()): symbols(), none if that failed,
  // and those that the System.map adds. Prints a warning if the kernel's are missing or contradict
  // the System.map. Error: the System.map cannot be read, or is not one.
  Result<std::string> section(const SymbolPlan& plan);

 private:
  Result<std::string> section_with_map(const SymbolPlan& plan);
  void keep(const std::string& section) const;

  SymbolCache cache_;
  std::optional<SymbolsIdentity> identity_;  // of the symbols when this object was made
  std::optional<std::string> kept_;          // the section that the cache has
  std::optional<Result<KernelSymbols>> symbols_;
};

// Returns an encoded section without symbols.
Result<std::string> no_symbols();

}  // namespace fkt::record
