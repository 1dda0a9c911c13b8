// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/function_index.h"

#include <algorithm>
#include <limits>

#include "lib/base/suggest.h"

namespace fkt {
namespace {

bool is_function(const Symbol& symbol) {
  return symbol.type == 't' || symbol.type == 'T' || symbol.type == 'w' || symbol.type == 'W';
}

}  // namespace

FunctionIndex::FunctionIndex(std::span<const Symbol> symbols) : symbols_(symbols) {
  for (const Symbol& symbol : symbols) {
    if (is_function(symbol)) functions_.push_back(&symbol);
  }
  names_ = NameIndex(static_cast<std::uint32_t>(functions_.size()), name_of());
}

std::vector<const Symbol*> FunctionIndex::named(std::string_view name) const {
  std::vector<const Symbol*> found;
  for (std::uint32_t i = names_.first(name, name_of()); i != NameIndex::kNone; i = names_.next(i)) {
    found.push_back(functions_[i]);
  }
  return found;
}

std::uint64_t FunctionIndex::next_symbol(std::uint64_t address) const {
  std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
  for (const Symbol& symbol : symbols_) {
    if (symbol.address > address) next = std::min(next, symbol.address);
  }
  return next;
}

Error FunctionIndex::none_called(std::string_view name) const {
  NearestName nearest(name);
  for (const Symbol* const function : functions_) {
    if (function->name != name) nearest.offer(function->name);  // else of another module
  }
  return {ErrorCode::usage,
          "no function is called \"" + std::string(name) + "\"" + nearest.question()};
}

}  // namespace fkt
