// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/options.h"
#include "cli/base/messages.h"
#include "cli/base/units.h"

#include <catch2/catch.hpp>

#include "cli/fkt_record/request/request.h"
#include "lib/format/page_group.h"

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
  CHECK(parsed.request->output.file == "out");
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
  CHECK(parsed.request->output.to_stdout());
  CHECK(parsed.request->size == 1 << 20);
  CHECK(parsed.request->command == std::vector<std::string>{"true"});
}

TEST_CASE("-z may stand alone, or with its level") {
  const auto alone = parse({"-z", "-f", "out", "ls"});
  REQUIRE(alone.request);
  CHECK(alone.request->level == fkt::kDefaultGroupLevel);
  CHECK(alone.request->output.file == "out");
  CHECK(alone.request->engine == FKT_ENGINE_URING);
  CHECK(alone.request->command == std::vector<std::string>{"ls"});
  const auto before_command = parse({"-z", "ls", "-z"});
  REQUIRE(before_command.request);
  CHECK(before_command.request->level == fkt::kDefaultGroupLevel);
  CHECK(before_command.request->command == std::vector<std::string>{"ls", "-z"});
  const auto with_level = parse({"-qz7", "ls"});
  REQUIRE(with_level.request);
  CHECK(with_level.request->level == 7);
  CHECK(with_level.request->quiet);
  CHECK(with_level.request->command == std::vector<std::string>{"ls"});
}

TEST_CASE("--rotate implies the engine that can do it") {
  const auto parsed = parse({"--rotate", "1G", "--keep", "8", "ls"});
  REQUIRE(parsed.request);
  CHECK(parsed.request->rotate == 1 << 30);
  CHECK(parsed.request->keep == 8);
  CHECK(parsed.request->engine == FKT_ENGINE_URING);
  const auto plain = parse({"ls"});
  CHECK_FALSE(plain.request->engine);
}

TEST_CASE("fkt_record sends to a receiver") {
  const auto parsed = parse({"-f", "tcp://[::1]:99", "--wait", "5s", "--token-file=t", "true"});
  REQUIRE(parsed.request);
  CHECK(parsed.request->output.to_remote());
  CHECK(parsed.request->address()->host == "::1");
  CHECK(parsed.request->address()->port == 99);
  CHECK(parsed.request->wait == std::chrono::seconds(5));
  CHECK(parsed.request->token_file == "t");
  CHECK(parse({"-f", "tcp://127.0.0.1", "true"}).request->address()->port == 14358);
  CHECK(parse({"-f", "tcp://", "true"}).status == kUsage);
  CHECK(parse({"-f", "tcp://host:0x1", "true"}).status == kUsage);
  CHECK(parse({"-f", "file", "--wait", "5s", "true"}).status == kUsage);
  CHECK(parse({"--token-file", "t", "true"}).status == kUsage);
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
      {},
      {"-n", "ls"},
      {"--only"},
      {"--only", "--pid", "1", "ls"},
      {"-q", "-v"},
      {"-q", "-q", "ls"},
      {"--args=1", "ls"},
      {"--duration"},
      {"-s", "0"},
      {"--clock", "x", "a"},
      {"--nonsense", "ls"},
      {"-f", "", "ls"},
      {""},
      {"-z20", "ls"},
      {"-z0", "ls"},
      {"-z", "--drain=direct", "ls"},
      {"-z", "-f", "-", "ls"},
      {"--keep", "2", "ls"},
      {"--rotate", "0", "ls"},
      {"--rotate", "1G", "--drain=sendfile", "ls"},
      {"--rotate", "1G", "-s", "1G", "ls"},
      {"--rotate", "1G", "--flight", "1M", "ls"},
      {"--rotate", "1G", "--keep", "0", "ls"},
  };
  for (const auto& words : wrong) {
    const auto parsed = parse(words);
    CHECK_FALSE(parsed.request);
    CHECK(parsed.status == 2);
  }
}

TEST_CASE("an option of two words may be given as one") {
  using Words = std::vector<const char*>;
  const auto slowest = [](Words words) -> std::string {
    Options options("", "");
    options.section("")("slowest", value("N NAME"), "");
    options.two_words("slowest");
    options.positional("FILE", 1);
    words.insert(words.begin(), "tool");
    if (options.parse(static_cast<int>(words.size()), words.data())) return "refused";
    const std::string file = options.arguments().empty() ? "" : options.arguments()[0];
    return options.text("slowest") + '|' + file;
  };
  CHECK(slowest({"--slowest", "3", "sys_read", "run.fkt"}) == "3 sys_read|run.fkt");
  CHECK(slowest({"--slowest", "3 sys_read", "run.fkt"}) == "3 sys_read|run.fkt");
  CHECK(slowest({"--slowest", "3 sys_read"}) == "3 sys_read|");
  CHECK(slowest({"--slowest=3 sys_read", "run.fkt"}) == "3 sys_read|run.fkt");
  CHECK(slowest({"--slowest", "3", "softirq RCU", "run.fkt"}) == "3 softirq RCU|run.fkt");
  CHECK(slowest({"run.fkt", "--slowest", "3", "softirq RCU"}) == "3 softirq RCU|run.fkt");
}
