// SPDX-License-Identifier: GPL-2.0-only
// Names that the kernel prints for the values of a tracepoint's field.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fkt {

struct ValueNames {
  using Name = std::pair<std::uint64_t, std::string>;  // value, or bits of a mask

  std::vector<Name> values;  // each is the name of one value
  // Bits that have names, in the order in which they are printed. 0: the name of no bits.
  std::vector<Name> flags;

  bool empty() const { return values.empty() && flags.empty(); }
  // Returns the number with this name.
  std::optional<std::uint64_t> find(std::string_view name) const;
  auto operator<=>(const ValueNames&) const = default;
};

}  // namespace fkt
