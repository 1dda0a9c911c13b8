// SPDX-License-Identifier: GPL-2.0-only
// The running kernel's symbols as fkt_record stores them: /proc/kallsyms with its modules, and what
// a System.map adds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/format/symbols.h"

namespace fkt {

struct KernelSymbols {
  std::vector<Symbol> symbols;  // ascending, with addresses of the running kernel
  std::vector<std::shared_ptr<const std::string>> texts;  // what the symbols' names are views into
  bool hidden = false;             // the kernel hides addresses from this user
  std::uint64_t kaslr_offset = 0;  // running minus linked addresses

  std::string system_map;             // path; empty: none was merged
  std::size_t added = 0;              // number of symbols that only System.map has
  std::size_t contradictions = 0;     // number of names with another address in System.map
  std::vector<std::string> examples;  // the first few names of these contradictions

  // Returns the payload of an FKT_SEC_SYMBOLS section.
  std::string to_lines() const;
};

// Parses the text of /proc/kallsyms. Lines of another form are skipped.
KernelSymbols parse_kallsyms(std::string text);
// Parses to_lines() of symbols to which no System.map was added. Lines of another form are skipped.
KernelSymbols parse_symbol_lines(std::string lines);

// Adds the symbols that the text of a System.map has and kallsyms lacks. path: name of the file in
// errors. Error: the text is not a System.map, is only a distribution's placeholder for one, or
// shares no symbol with kallsyms from which the KASLR offset can be computed.
Status merge_system_map(KernelSymbols& kernel, const std::string& path, std::string text);

}  // namespace fkt
