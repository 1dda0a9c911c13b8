// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/sections/symbol_reader.h"

#include <utility>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "lib/base/read_file.h"
#include "lib/format/file_writer.h"
#include "lib/format/sections.h"

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

Result<std::string> encoded(const KernelSymbols& symbols) {
  Sections sections;
  FKT_TRY(sections.add(FKT_SEC_SYMBOLS, symbols.to_lines()));
  return sections.bytes();
}

Result<KernelSymbols> read_kallsyms() {
  auto text = FKT_TRY(read_file("/proc/kallsyms"));
  return parse_kallsyms(std::move(text));
}

// The symbols of a section that is_whole() (lib/record/symbol_cache.cc).
Result<KernelSymbols> decoded(std::string_view sections) {
  const SectionList list = walk_sections(as_bytes(sections), 0, sections.size());
  const auto payload = FKT_TRY(Payload::read(list.sections.front()));
  return parse_symbol_lines(std::string(payload.text()));
}

void tell_count(const KernelSymbols& symbols) {
  cli::warn(cli::with_commas(symbols.symbols.size()) + " kernel symbols");
}

}  // namespace

SymbolReader::SymbolReader(SymbolCache cache)
    : cache_(std::move(cache)), identity_(symbols_identity()) {
  if (identity_) kept_ = cache_.find(identity_->text);
}

// Only what belongs to the identity: a module may have been loaded meanwhile.
void SymbolReader::keep(const std::string& section) const {
  if (identity_ && symbols_identity() == identity_) cache_.keep(identity_->text, section);
}

const Result<KernelSymbols>& SymbolReader::symbols() {
  if (!symbols_) symbols_ = kept_ ? decoded(*kept_) : read_kallsyms();
  return *symbols_;
}

Result<bool> SymbolReader::are_hidden() {
  if (kept_) return false;
  if (!symbols()) return symbols().error();
  return symbols()->hidden;
}

Result<std::string> SymbolReader::section(const SymbolPlan& plan) {
  if (kept_ && plan.system_map.empty() && !plan.verbose) return *kept_;
  const Result<KernelSymbols>& kallsyms = symbols();
  if (!kallsyms || kallsyms->hidden) {
    cli::warn("no kernel symbols in the file: " +
              (kallsyms ? "the kernel hides its addresses from processes without CAP_SYSLOG"
                        : kallsyms.error().message));
  }
  if (!plan.system_map.empty()) return section_with_map(plan);
  if (plan.verbose) tell_count(kallsyms ? *kallsyms : KernelSymbols());
  if (!kallsyms || kallsyms->hidden) return no_symbols();
  if (kept_) return *kept_;
  Result<std::string> section = encoded(*kallsyms);
  if (section) keep(*section);
  return section;
}

Result<std::string> SymbolReader::section_with_map(const SymbolPlan& plan) {
  KernelSymbols symbols = this->symbols() ? *this->symbols() : parse_kallsyms("");
  auto map = FKT_TRY(read_file(plan.system_map));
  FKT_TRY(merge_system_map(symbols, plan.system_map, std::move(map)));
  tell_contradictions(symbols);
  if (plan.verbose) {
    cli::warn(plan.system_map + ": " + cli::with_commas(symbols.added) +
              " symbols that the kernel does not list");
    tell_count(symbols);
  }
  return encoded(symbols);
}

Result<std::string> no_symbols() {
  return encoded(parse_kallsyms(""));
}

}  // namespace fkt::record
