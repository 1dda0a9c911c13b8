// SPDX-License-Identifier: GPL-2.0-only
// Tests TextWriter and TimeFormat, which format the lines of a dump.
#include "lib/base/text_writer.h"

#include <limits>

#include <catch2/catch.hpp>

#include "lib/base/time_format.h"

using namespace fkt;

namespace {

template <class Put>
std::string written(Put put) {
  TextWriter out;
  put(out);
  return std::string(out.view());
}

std::string number(std::uint64_t value) {
  return written([&](TextWriter& out) { out.number(value); });
}

std::string number_signed(std::int64_t value) {
  return written([&](TextWriter& out) { out.number_signed(value); });
}

}  // namespace

TEST_CASE("numbers have their digits, at every length") {
  std::uint64_t power = 1;
  for (int digits = 1; digits <= 20; digits++) {
    for (const std::uint64_t value : {power - 1, power, power + 1, power * 7}) {
      CHECK(number(value) == std::to_string(value));
    }
    if (digits < 20) power *= 10;
  }
  CHECK(number(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(number_signed(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(number_signed(-10) == "-10");
  CHECK(number_signed(99) == "99");
  CHECK(written([](TextWriter& out) { out.hex(0xfe0); }) == "0xfe0");
}

TEST_CASE("columns are filled, and never cut") {
  CHECK(written([](TextWriter& out) { out.right(123, 6); }) == "   123");
  CHECK(written([](TextWriter& out) { out.right(1234567, 6); }) == "1234567");
  CHECK(written([](TextWriter& out) { out.left("name", 6); }) == "name  ");
}

TEST_CASE("a writer keeps what it has when it grows, is cut back or moved") {
  TextWriter out;
  std::string all;
  for (int i = 0; i < 300; i++) {
    const std::string text(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
    out.put(text);
    all += text;
  }
  CHECK(out.view() == all);
  out.truncate(5);
  CHECK(out.view() == all.substr(0, 5));
  const TextWriter moved = std::move(out);
  CHECK(moved.view() == all.substr(0, 5));
  char* const at = out.room(3);  // NOLINT: a writer that was moved from is empty
  at[0] = 'x';
  out.added(1);
  CHECK(out.view() == "x");
}

TEST_CASE("times have the digits of their unit") {
  const auto text = [](TimeUnit unit, std::uint64_t ticks, double per_second) {
    return TimeFormat(unit, per_second).text(ticks);
  };
  CHECK(text(TimeUnit::cycles, 12345678901, 2.6e9) == "12345678901");
  CHECK(text(TimeUnit::ns, 1007, 1e9) == "1007");
  CHECK(text(TimeUnit::us, 1007, 1e9) == "1.007");
  CHECK(text(TimeUnit::us, 7, 1e9) == "0.007");
  CHECK(text(TimeUnit::us, 12'000'000, 1e9) == "12000.000");
  CHECK(text(TimeUnit::us, 42, 1e6) == "42");  // a tick is 1 us, so there are no decimals
  CHECK(text(TimeUnit::s, 5, 1e9) == "0.000000005");
  CHECK(text(TimeUnit::s, 61'020'000'000, 1e9) == "61.020000000");
  CHECK(written([](TextWriter& out) { TimeFormat(TimeUnit::us, 1e9).right(out, 1500, 8); }) ==
        "   1.500");
}
