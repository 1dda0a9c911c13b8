// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/suggest.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using fkt::did_you_mean;
using fkt::edit_distance;
using fkt::NearestName;

TEST_CASE("edit distance counts letters inserted, dropped, replaced and swapped") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("system", "system") == 0);
  CHECK(edit_distance("sytem", "system") == 1);
  CHECK(edit_distance("systtem", "system") == 1);
  CHECK(edit_distance("sistem", "system") == 1);
  CHECK(edit_distance("ssytem", "system") == 1);
  CHECK(edit_distance("prcoes", "process") == 2);
}

TEST_CASE("a near name is suggested, a far one is not") {
  const std::vector<std::string> names = {"system", "process", "fkt"};
  CHECK(did_you_mean("sytsem", names) == "; did you mean \"system\"?");
  CHECK(did_you_mean("proces", names) == "; did you mean \"process\"?");
  CHECK(did_you_mean("network", names).empty());
  CHECK(did_you_mean("", names).empty());
  CHECK(did_you_mean("x", {}).empty());
}

TEST_CASE("a short word does not become another one altogether") {
  CHECK(did_you_mean("-Z", {"-f"}).empty());
  CHECK(did_you_mean("ls", {"fs"}).empty());
}

TEST_CASE("the nearest of many names is the first with the least distance") {
  std::mt19937 random(1);
  const auto word = [&] {
    std::string made(3 + random() % 8, ' ');
    for (char& letter : made) letter = "abc"[random() % 3];
    return made;
  };
  for (int turn = 0; turn < 300; turn++) {
    const std::string wanted = word();
    std::vector<std::string> names(50);
    std::ranges::generate(names, word);
    std::size_t best = wanted.size() / 3 + 1;
    std::optional<std::string> expected;
    for (const std::string& name : names) {
      if (edit_distance(wanted, name) >= best) continue;
      best = edit_distance(wanted, name);
      expected = name;
    }
    NearestName nearest(wanted);
    for (const std::string& name : names) nearest.offer(name);
    CHECK(nearest.found() == expected);
  }
}
