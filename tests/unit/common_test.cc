// SPDX-License-Identifier: GPL-2.0-only
#include "cli/common.h"

#include <catch2/catch.hpp>

#include "cli/fkt_record/request.h"

using namespace fkt::cli;

TEST_CASE("sizes are powers of 1024") {
  const auto [text, bytes] = GENERATE(table<const char*, std::uint64_t>({
      {"0", 0},
      {"4096", 4096},
      {"16k", 16384},
      {"16K", 16384},
      {"1.5M", 1572864},
      {"2G", 2147483648},
      {"1T", 1099511627776},
  }));
  CAPTURE(text);
  const auto size = parse_size("-s", text);
  REQUIRE(size);
  CHECK(*size == bytes);
}

TEST_CASE("durations are ns, seconds without a unit") {
  const auto [text, ns] = GENERATE(table<const char*, std::uint64_t>({
      {"10", 10'000'000'000},
      {"10s", 10'000'000'000},
      {"0.25", 250'000'000},
      {"250ms", 250'000'000},
      {"7us", 7'000},
      {"7ns", 7},
      {"2m", 120'000'000'000},
      {"1.5h", 5'400'000'000'000},
  }));
  CAPTURE(text);
  const auto duration = parse_duration("--duration", text);
  REQUIRE(duration);
  CHECK(*duration == ns);
}

TEST_CASE("other numbers are refused with the option and the text") {
  for (const char* text : {"", "k", "-1", "1x", "1 k", "1kk", "nan", "inf", "1e3", "99999999T"}) {
    CAPTURE(text);
    const auto size = parse_size("-s", text);
    REQUIRE_FALSE(size);
    CHECK(size.error().code == fkt::ErrorCode::usage);
    CHECK_THAT(size.error().message,
               Catch::Matchers::StartsWith("-s: \"" + std::string(text) + "\" is not a size"));
    CHECK_FALSE(parse_duration("--duration", text));
  }
  CHECK_FALSE(parse_whole("-p", "17", 1, 16));
  CHECK_FALSE(parse_whole("-p", "0", 1, 16));
  CHECK_FALSE(parse_whole("-p", "3x", 1, 16));
  CHECK(*parse_whole("-p", "16", 1, 16) == 16);
}

TEST_CASE("numbers for people") {
  CHECK(with_commas(0) == "0");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(1000) == "1,000");
  CHECK(with_commas(1234567) == "1,234,567");
  CHECK(bytes_text(1) == "1 byte");
  CHECK(bytes_text(999) == "999 bytes");
  CHECK(bytes_text(1234567) == "1.2 MB");
  CHECK(bytes_text(999'960) == "1.0 MB");
}

namespace {

fkt::record::Parsed parse(std::vector<const char*> words) {
  words.insert(words.begin(), "fkt_record");
  return fkt::record::parse_command_line(static_cast<int>(words.size()), words.data());
}

}  // namespace

TEST_CASE("fkt_record's options end where the command begins") {
  const auto parsed = parse({"-fout", "-q", "--duration=2", "-p", "4", "ls", "-f", "x", "--only"});
  REQUIRE(parsed.request);
  CHECK(parsed.request->file == "out");
  CHECK(parsed.request->quiet);
  CHECK(parsed.request->duration_ns == 2'000'000'000);
  CHECK(parsed.request->pow_pages == 4);
  CHECK(parsed.request->filter == FKT_FILTER_NONE);
  CHECK(parsed.request->command == std::vector<std::string>{"ls", "-f", "x", "--only"});
  CHECK(parsed.request->words ==
        std::vector<std::string>{"-fout", "-q", "--duration=2", "-p", "4"});
}

TEST_CASE("-- ends fkt_record's options too") {
  const auto parsed = parse({"--only", "--", "-odd", "--", "x"});
  REQUIRE(parsed.request);
  CHECK(parsed.request->filter == FKT_FILTER_JOIN);
  CHECK(parsed.request->command == std::vector<std::string>{"-odd", "--", "x"});
}

TEST_CASE("an option's value may look like a command, or like an option") {
  const auto parsed = parse({"-k", "system", "-f", "-", "-s", "1M", "true"});
  REQUIRE(parsed.request);
  CHECK(parsed.request->mask == 1);
  CHECK(parsed.request->to_stdout());
  CHECK(parsed.request->size == 1 << 20);
  CHECK(parsed.request->command == std::vector<std::string>{"true"});
}

TEST_CASE("--pid alone spawns nothing") {
  const auto parsed = parse({"--pid", "17"});
  REQUIRE(parsed.request);
  CHECK(parsed.request->filter == FKT_FILTER_PROCESS);
  CHECK(parsed.request->filter_pid == 17);
  CHECK(parsed.request->command.empty());
}

TEST_CASE("wrong usage of fkt_record ends with 2") {
  const std::vector<std::vector<const char*>> wrong = {
      {},           {"-n", "ls"},          {"--only"},           {"--only", "--pid", "1", "ls"},
      {"-q", "-v"}, {"-q", "-q", "ls"},    {"--args=1", "ls"},   {"--duration"},
      {"-s", "0"},  {"--clock", "x", "a"}, {"--nonsense", "ls"}, {"-f", "", "ls"},
      {""},
  };
  for (const auto& words : wrong) {
    const auto parsed = parse(words);
    CHECK_FALSE(parsed.request);
    CHECK(parsed.status == 2);
  }
}
