// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/symbols.h"

#include <algorithm>

#include "lib/base/parse.h"
#include "lib/base/text.h"

namespace fkt {
namespace {

// An address farther than this from the symbol before it is in no known symbol.
constexpr std::uint64_t kReach = 1 << 20;

// Among symbols of one address prefers a function's global name.
bool better(const Symbol& a, const Symbol& b) {
  const auto rank = [](char type) { return type == 'T' ? 0 : type == 't' || type == 'W' ? 1 : 2; };
  return rank(a.type) < rank(b.type);
}

}  // namespace

Result<Symbols> Symbols::parse(std::string_view lines) {
  Symbols symbols;
  std::size_t bad_line = 0;
  for_each_line(lines, [&](std::string_view line, std::size_t number) {
    if (line.starts_with('#')) return true;
    Symbol symbol;
    if (!parse_number(take_until(line, '\t'), symbol.address, 16)) {
      bad_line = number;
      return false;
    }
    const std::string_view type = take_until(line, '\t');
    if (!type.empty()) symbol.type = type.front();
    symbol.name = take_until(line, '\t');
    symbol.module = take_until(line, '\t');
    // Absolute symbols are constants and offsets of per-CPU variables, not addresses.
    if (symbol.type != 'A' && symbol.type != 'a') symbols.symbols_.push_back(std::move(symbol));
    return true;
  });
  if (bad_line > 0) {
    return Error{ErrorCode::damaged,
                 "symbols: line " + std::to_string(bad_line) + " does not begin with an address"};
  }
  std::ranges::stable_sort(symbols.symbols_, {}, &Symbol::address);
  return symbols;
}

const Symbol* Symbols::at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(symbols_, address, {}, &Symbol::address);
  if (after == symbols_.begin()) return nullptr;
  const std::uint64_t begin = std::prev(after)->address;
  if (address - begin >= kReach) return nullptr;
  const auto first = std::ranges::lower_bound(symbols_, begin, {}, &Symbol::address);
  return &*std::min_element(first, after, better);
}

std::string Symbols::name(std::uint64_t address) const {
  const Symbol* symbol = at(address);
  if (!symbol) return hex(address);
  std::string out = symbol->name;
  if (address > symbol->address) out += '+' + hex(address - symbol->address);
  if (!symbol->module.empty()) out += " [" + symbol->module + ']';
  return out;
}

}  // namespace fkt
