// SPDX-License-Identifier: GPL-2.0-only
// Tests TextWriter and TimeFormat, which format the lines of a dump.
#include "lib/base/text_writer.h"

#include <limits>

#include <catch2/catch.hpp>

#include "lib/base/parse.h"
#include "lib/base/time_format.h"
#include "lib/base/utf8.h"

using namespace fkt;

namespace {

template <class Put>
std::string written_by(Put put) {
  TextWriter out;
  put(out);
  return std::string(out.view());
}

std::string number(std::uint64_t value) {
  return written_by([&](TextWriter& out) { out.number(value); });
}

std::string number_signed(std::int64_t value) {
  return written_by([&](TextWriter& out) { out.number_signed(value); });
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
  CHECK(written_by([](TextWriter& out) { out.hex(0xfe0); }) == "0xfe0");
}

TEST_CASE("a terminal is given harmless characters alone, and the name can be had back") {
  const auto escaped = [](std::string_view text) {
    return written_by([&](TextWriter& out) { out.escaped(text); });
  };
  CHECK(escaped("plain text, longer than eight bytes: é 日本語 👩‍💻") ==
        "plain text, longer than eight bytes: é 日本語 👩‍💻");
  CHECK(escaped("nl\nin\x1b[31m\x7f") == "nl\\x0ain\\x1b[31m\\x7f");
  CHECK(escaped("back\\slash, behind eight bytes") == "back\\x5cslash, behind eight bytes");
  CHECK(escaped("\xc2\x9b"
                "31m\xc2\x85") == "\\xc2\\x9b31m\\xc2\\x85");  // C1
  CHECK(
      escaped("\u202e\u2066\u200b\u2028\ufeff\uffff") ==
      "\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x80\\x8b\\xe2\\x80\\xa8\\xef\\xbb\\xbf\\xef\\xbf\\xbf");
  // No UTF-8: alone, cut short, too long, a surrogate, above the last code point.
  for (const std::string_view bad :
       {"\xff", "\xe6\x97", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    CHECK(escaped(bad).find_first_not_of("\\x0123456789abcdef") == std::string::npos);
    CHECK(unescaped(escaped(bad)) == bad);
  }
  std::string all;
  for (int byte = 0; byte < 256; byte++) all += static_cast<char>(byte);
  for (int byte = 0; byte < 256; byte++)
    all += "\xe6" + std::string(1, static_cast<char>(byte)) + "\xa5";
  CHECK(unescaped(escaped(all)) == all);
  CHECK(written_by([](TextWriter& out) { out.escaped("a;b\\;", ";"); }) == "a\\x3bb\\x5c\\x3b");
  CHECK(written_by([](TextWriter& out) { out.message("no \\x1b in \"\x1b\\\"\n"); }) ==
        "no \\x1b in \"\\x1b\\\"\\x0a");
}

TEST_CASE("JSON and CSV have the name itself") {
  const auto json = [](std::string_view text) {
    return written_by([&](TextWriter& out) { out.json(text); });
  };
  CHECK(json("\x1b\"\\\xc2\x9b\xff日") == R"("\u001b\"\\\u009b\ufffd日")");
  CHECK(json("\u202e\U000e0041") == R"("\u202e\udb40\udc41")");
  CHECK(written_by([](TextWriter& out) { out.json_text("{\n \"a\xc2\x9b\": \"\x7f\"}\n"); }) ==
        "{\n \"a\\u009b\": \"\\u007f\"}\n");
  const auto csv = [](std::string_view text) {
    return written_by([&](TextWriter& out) { out.csv(text); });
  };
  CHECK(csv("a\x1b\xc2\x9b") == "a\x1b\xc2\x9b");
  CHECK(csv("bad\xff,\"") == "\"bad\xef\xbf\xbd,\"\"\"");
  CHECK(csv(std::string_view("nul\0", 4)) == "nul\xef\xbf\xbd");
}

TEST_CASE("columns are those of a terminal, not bytes or characters") {
  CHECK(columns_of("plain") == 5);
  CHECK(columns_of("日本語") == 6);
  CHECK(columns_of("é") == 1);
  CHECK(columns_of("e\u0301x") == 2);
  CHECK(columns_of("") == 0);
  CHECK(first_columns("日本語", 5) == "日本");
  CHECK(first_columns("ae\u0301x", 2) == "ae\u0301");
  CHECK(first_columns("abc", 9) == "abc");
  CHECK(written_by([](TextWriter& out) { out.left("日本", 6); }) == "日本  ");
  CHECK(written_by([](TextWriter& out) { out.right("é", 3); }) == "  é");
}

TEST_CASE("columns are filled, and never cut") {
  CHECK(written_by([](TextWriter& out) { out.right(123, 6); }) == "   123");
  CHECK(written_by([](TextWriter& out) { out.right(1234567, 6); }) == "1234567");
  CHECK(written_by([](TextWriter& out) { out.left("name", 6); }) == "name  ");
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
  CHECK(written_by([](TextWriter& out) { TimeFormat(TimeUnit::us, 1e9).right(out, 1500, 8); }) ==
        "   1.500");
}
