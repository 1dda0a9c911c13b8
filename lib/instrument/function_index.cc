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
  first_.reserve(functions_.size());
  next_.resize(functions_.size(), kNone);
  // From the last one on, so that the first of a name is found first.
  for (auto i = static_cast<std::uint32_t>(functions_.size()); i-- > 0;) {
    const auto [found, is_new] = first_.try_emplace(functions_[i]->name, i);
    if (is_new) continue;
    next_[i] = found->second;
    found->second = i;
  }
}

std::vector<const Symbol*> FunctionIndex::named(std::string_view name) const {
  std::vector<const Symbol*> found;
  const auto first = first_.find(name);
  for (std::uint32_t i = first == first_.end() ? kNone : first->second; i != kNone; i = next_[i]) {
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
