// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/symbols.h"

#include <algorithm>
#include <mutex>
#include <span>

#include <fmt/core.h>

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

// Parses lines into `out`. Returns the number of the first line that does not begin with an
// address, else 0.
std::size_t parse_lines(std::string_view lines, std::vector<Symbol>& out) {
  std::size_t bad_line = 0;
  out.reserve(lines.size() / 40);
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
    if (symbol.type != 'A' && symbol.type != 'a') out.push_back(symbol);
    return true;
  });
  sort_by_address(out);
  return bad_line;
}

}  // namespace

void sort_by_address(std::vector<Symbol>& symbols) {
  if (std::ranges::is_sorted(symbols, {}, &Symbol::address)) return;
  std::ranges::stable_sort(symbols, {}, &Symbol::address);
}

struct Symbols::Table {
  fkt_section_header header{};
  std::string text;  // until the symbols are parsed: the section's payload as stored
  std::once_flag parsed;
  std::vector<Symbol> symbols;  // views into text

  void parse() {
    const Section section{header, std::as_bytes(std::span(text)), 0};
    const Result<Payload> payload = Payload::read(section);
    std::string unpacked(payload ? payload->text() : std::string_view());
    text = std::move(unpacked);
    if (parse_lines(text, symbols) > 0) symbols.clear();
  }
};

Result<Symbols> Symbols::of(const Section& section) {
  FKT_TRY(check_section(section));
  Symbols symbols;
  symbols.table_ = std::make_shared<Table>();
  symbols.table_->header = section.header;
  symbols.table_->text = as_text(section.stored);
  return symbols;
}

Result<Symbols> Symbols::parse(std::string text) {
  Symbols symbols;
  symbols.table_ = std::make_shared<Table>();
  Table& table = *symbols.table_;
  table.text = std::move(text);
  std::size_t bad_line = 0;
  std::call_once(table.parsed, [&] { bad_line = parse_lines(table.text, table.symbols); });
  if (bad_line > 0) {
    return Error{ErrorCode::damaged,
                 fmt::format("symbols: line {} does not begin with an address", bad_line)};
  }
  return symbols;
}

const std::vector<Symbol>& Symbols::all() const {
  static const std::vector<Symbol> none;
  if (!table_) return none;
  std::call_once(table_->parsed, [this] { table_->parse(); });
  return table_->symbols;
}

const Symbol* Symbols::at(std::uint64_t address) const {
  const std::vector<Symbol>& symbols = all();
  const auto after = std::ranges::upper_bound(symbols, address, {}, &Symbol::address);
  if (after == symbols.begin()) return nullptr;
  const std::uint64_t begin = std::prev(after)->address;
  if (address - begin >= kReach) return nullptr;
  const auto first = std::ranges::lower_bound(symbols, begin, {}, &Symbol::address);
  return &*std::min_element(first, after, better);
}

std::string Symbols::name(std::uint64_t address) const {
  const Symbol* symbol = at(address);
  if (!symbol) return hex(address);
  std::string out(symbol->name);
  if (address > symbol->address) out += '+' + hex(address - symbol->address);
  if (!symbol->module.empty()) out.append(" [").append(symbol->module) += ']';
  return out;
}

}  // namespace fkt
