// SPDX-License-Identifier: GPL-2.0-only
#include "lib/instrument/registers.h"

#include <fkt/call_hit.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "lib/base/suggest.h"
#include "lib/query/expression.h"
#include "lib/query/lexer.h"

namespace fkt {
namespace {

// In the order of enum fkt_register.
constexpr std::string_view kNames[] = {"ax",  "bx",  "cx",  "dx",  "si",  "di",
                                       "bp",  "sp",  "r8",  "r9",  "r10", "r11",
                                       "r12", "r13", "r14", "r15", "ip",  "flags"};
static_assert(std::size(kNames) == FKT_REGISTERS);

// Bits of the register of flags, by the processor's names for them.
constexpr std::pair<std::string_view, unsigned> kStatusFlags[] = {
    {"cf", 0}, {"pf", 2}, {"zf", 6}, {"sf", 7}, {"of", 11}};

constexpr std::size_t kMostIndices = 8;
constexpr std::int32_t kWordBytes = 8;
constexpr std::uint32_t kMostIndex = 1U << 20;

}  // namespace

Result<Fetch> follow_words(Fetch start, const FieldPath& path, std::size_t first, TextRule text) {
  Fetch fetch = std::move(start);
  if (path.steps.size() > kMostIndices + first) {
    return at_column(path.column,
                     "too many pointers on the way: at most " + std::to_string(kMostIndices));
  }
  fetch.is_text = text == TextRule::always;
  for (std::size_t i = first; i < path.steps.size(); i++) {
    const FieldPath::Step& step = path.steps[i];
    if (!step.is_index()) {
      return at_column(step.column,
                       "a register has no members: write [N] for the word N behind the "
                       "address in it");
    }
    if (step.index > kMostIndex) return at_column(step.column, "too far away");
    if (fetch.load != 0) fetch.pointers.push_back(fetch.offset);
    fetch.left = fetch.right = 0;
    fetch.offset = static_cast<std::int32_t>(step.index) * kWordBytes;
    fetch.load = kWordBytes;
  }
  return fetch;
}

Result<Fetch> resolve_register(const FieldPath& path, TextRule text) {
  if (path.steps.empty()) return at_column(path.column, "which register? (as regs.di)");
  const FieldPath::Step& first = path.steps.front();
  for (const auto& [flag, bit] : kStatusFlags) {
    if (first.member != flag || path.steps.size() > 1) continue;
    Fetch fetch;
    fetch.index = FKT_REGISTER_FLAGS;
    fetch.left = static_cast<std::uint8_t>(63 - bit);
    fetch.right = 63;
    fetch.bits = 1;
    return fetch;
  }
  const auto* const name = std::ranges::find(kNames, first.member);
  if (name == std::end(kNames)) {
    return at_column(first.column,
                     "there is no register " + in_quotes(first.member) +
                         did_you_mean(first.member, {std::begin(kNames), std::end(kNames)}));
  }
  Fetch fetch;
  fetch.index = static_cast<std::uint8_t>(name - std::begin(kNames));
  return follow_words(std::move(fetch), path, 1, text);
}

}  // namespace fkt
