// SPDX-License-Identifier: GPL-2.0-only
// Checks NameIndex against a linear search.
#include "lib/base/name_index.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using fkt::NameIndex;

namespace {

// Returns all items of that name, in the order in which the index has them.
std::vector<std::uint32_t> found_in(const NameIndex& index, const std::vector<std::string>& names,
                                    const std::string& name) {
  const auto name_of = [&](std::uint32_t i) -> std::string_view { return names[i]; };
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = index.first(name, name_of); i != NameIndex::kNone; i = index.next(i)) {
    found.push_back(i);
  }
  return found;
}

}  // namespace

TEST_CASE("an index by name finds what a linear search finds") {
  std::vector<std::string> names;
  for (unsigned i = 0; i < 5000; i++) names.push_back("name" + std::to_string(i * i % 3001));
  const NameIndex index(static_cast<std::uint32_t>(names.size()),
                        [&](std::uint32_t i) -> std::string_view { return names[i]; });
  for (unsigned i = 0; i < 3100; i++) {
    const std::string name = "name" + std::to_string(i);
    std::vector<std::uint32_t> expected;
    for (std::uint32_t at = 0; at < names.size(); at++) {
      if (names[at] == name) expected.push_back(at);
    }
    REQUIRE(found_in(index, names, name) == expected);
  }
}

TEST_CASE("an index of nothing finds nothing") {
  const std::vector<std::string> names;
  CHECK(found_in(NameIndex(), names, "a").empty());
  const NameIndex empty(0, [](std::uint32_t) { return std::string_view(); });
  CHECK(found_in(empty, names, "").empty());
}
