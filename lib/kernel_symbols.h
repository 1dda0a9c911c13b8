// SPDX-License-Identifier: GPL-2.0-only
// The running kernel's symbols, as fkt_record stores them: /proc/kallsyms with the modules', and
// what a System.map adds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/symbols.h"

namespace fkt {

struct KernelSymbols {
  std::vector<Symbol> symbols;     // ascending; addresses of the running kernel
  bool hidden = false;             // the kernel shows this user no addresses
  std::uint64_t kaslr_offset = 0;  // running minus linked addresses

  std::string system_map;             // path; empty: none was merged
  std::size_t added = 0;              // symbols that only System.map has
  std::size_t contradictions = 0;     // names whose address is another one there
  std::vector<std::string> examples;  // of contradictions, the first few

  // The payload of FKT_SEC_SYMBOLS.
  std::string to_lines() const;
};

// From the text of /proc/kallsyms.
KernelSymbols parse_kallsyms(std::string_view text);

// Adds what the text of a System.map has and kallsyms has not. `path` names it in errors: no
// System.map, a placeholder, or one that cannot be placed.
Status merge_system_map(KernelSymbols& kernel, const std::string& path, std::string_view text);

}  // namespace fkt
