// SPDX-License-Identifier: GPL-2.0-only
#include "lib/base/suggest.h"

#include <catch2/catch.hpp>

using fkt::did_you_mean;
using fkt::edit_distance;

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
