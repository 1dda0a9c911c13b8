// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/layer_mask.h"

#include <catch2/catch.hpp>

using fkt::parse_mask;

TEST_CASE("a mask is bits or names, or both") {
  const auto [text, mask] = GENERATE(table<const char*, std::uint64_t>({
      {"0x401", 0x401},
      {"0X401", 0x401},
      {"1025", 0x401},
      {"0", 0},
      {"system", 0x1},
      {"system,process", 0x401},
      {"process,system,process", 0x401},
      {"0x1,process", 0x401},
  }));
  CAPTURE(text);
  const auto result = parse_mask("-k", text);
  REQUIRE(result);
  CHECK(*result == mask);
}

TEST_CASE("what is no layer is refused by name") {
  const auto [text, message] = GENERATE(table<const char*, const char*>({
      {"sytem", "-k: no layer \"sytem\"; did you mean \"system\"?"},
      {"system,proces", "-k: no layer \"proces\"; did you mean \"process\"?"},
      {"", "-k: no layer \"\""},
      {"system,,process", "-k: no layer \"\""},
      {"0x", "-k: no layer \"0x\""},
      {"-1", "-k: no layer \"-1\" (fkt_record --layers shows them)"},
      {"99999999999999999999", "-k: no layer \"99999999999999999999\""},
      {"0x8000000000000401",
       "-k: no layer has bit 0x8000000000000000 of 0x8000000000000401 (all layers together are "},
  }));
  CAPTURE(text);
  const auto result = parse_mask("-k", text);
  REQUIRE_FALSE(result);
  CHECK(result.error().code == fkt::ErrorCode::usage);
  CHECK_THAT(result.error().message, Catch::Matchers::StartsWith(message));
}
