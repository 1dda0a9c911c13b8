// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/sections/symbol_reader.h"

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "lib/record/machine_sections.h"

namespace fkt::record {
namespace {

void tell_contradictions(const KernelSymbols& symbols) {
  if (symbols.contradictions == 0) return;
  std::string names;
  for (const std::string& name : symbols.examples) names += (names.empty() ? "" : ", ") + name;
  if (symbols.examples.size() < symbols.contradictions) names += ", ...";
  cli::warn(symbols.system_map + ": " + cli::with_commas(symbols.contradictions) +
            " symbols have another address in the running kernel (" + names +
            "): is it this kernel's?");
}

}  // namespace

Result<KernelSymbols> read_kallsyms() {
  Result<std::string> text = read_file("/proc/kallsyms");
  if (!text) return text.error();
  return parse_kallsyms(std::move(*text));
}

Result<KernelSymbols> symbols_for_file(Result<KernelSymbols> kallsyms, const SymbolPlan& plan) {
  if (!kallsyms || kallsyms->hidden) {
    cli::warn("no kernel symbols in the file: " +
              (kallsyms ? "the kernel hides its addresses from who lacks CAP_SYSLOG"
                        : kallsyms.error().message));
  }
  KernelSymbols symbols = kallsyms ? std::move(*kallsyms) : parse_kallsyms("");
  if (!plan.system_map.empty()) {
    Result<std::string> map = read_file(plan.system_map);
    if (!map) return map.error();
    const Status merged = merge_system_map(symbols, plan.system_map, std::move(*map));
    if (!merged) return merged.error();
    tell_contradictions(symbols);
    if (plan.verbose) {
      cli::warn(plan.system_map + ": " + cli::with_commas(symbols.added) +
                " symbols that the kernel does not list");
    }
  }
  if (plan.verbose) cli::warn(cli::with_commas(symbols.symbols.size()) + " kernel symbols");
  return symbols;
}

}  // namespace fkt::record
