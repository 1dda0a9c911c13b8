// SPDX-License-Identifier: GPL-2.0-only
// Tests the reading of whole files, and that the tools give up on inputs without an end.
#include <catch2/catch.hpp>

#include <fstream>

#include "cli/base/messages.h"
#include "cli/base/symbol_source.h"
#include "cli/fkt_instrument/saved.h"
#include "cli/fkt_record/instruments/layer_files.h"
#include "cli/fkt_record/kft/kft_configuration.h"
#include "lib/base/read_file.h"
#include "tests/unit/folder.h"
#include "tests/unit/golden.h"

using namespace fkt;
using namespace fkt::test;

namespace {

// As fkt_addr2sym, but the lines come out as they are.
int translate(int argc, const char* const* argv) {
  cli::Options options("[options] [FILE]", "Repeats a text.");
  cli::add_symbol_options(options);
  if (const auto status = options.parse(argc, argv)) return *status;
  if (options.has("map")) {
    const Result<Symbols> symbols = cli::symbols_of(options);
    if (!symbols) return cli::fail(symbols.error());
  }
  const Status done =
      cli::translate(options, [](std::string_view line) { return std::string(line); });
  return done ? cli::kDone : cli::fail(done.error());
}

template <class T>
void check_too_long(const Result<T>& read, const std::string& message) {
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::usage);
  CHECK(read.error().message == message);
}

}  // namespace

TEST_CASE("a file is read whole up to its limit, and refused beyond") {
  const Folder folder;
  const std::string path = folder.file("text");
  std::ofstream(path) << std::string(10'000, 'x');
  const Result<std::string> all = read_file(path, 10'000);
  REQUIRE(all);
  CHECK(*all == std::string(10'000, 'x'));
  check_too_long(read_file(path, 9'999), path + ": too long (at most 9999 bytes)");
  CHECK_FALSE(read_file(folder.file("none")));
  // The size of files in /proc reads as 0.
  const Result<std::string> status = read_file("/proc/self/status");
  REQUIRE(status);
  CHECK(status->starts_with("Name:"));
}

TEST_CASE("inputs without an end are refused") {
  check_too_long(read_file("/dev/zero", kMostWritten), "/dev/zero: too long (at most 1 MiB)");
  check_too_long(cli::read_saved("/dev/zero"), "/dev/zero: too long (at most 1 MiB)");
  check_too_long(record::read_kft_plan("/dev/zero"),
                 "--kft: /dev/zero: too long (at most 65536 bytes)");
  check_too_long(record::choose_layers("-k", "/dev/zero"), "/dev/zero: too long (at most 1 MiB)");
  const Ran map = run_tool(translate, "tool", {"-m", "/dev/zero", "/dev/null"});
  CHECK(map.status == cli::kUsage);
  CHECK(map.text == "tool: /dev/zero: too long (at most 256 MiB)\n");
}

TEST_CASE("lines are translated one by one, but none without an end") {
  const Folder folder;
  const std::string path = folder.file("text");
  const std::string longest(1 << 20, 'x');
  std::ofstream(path) << "one\n\n" << std::string("two\0", 4) << '\n' << longest << "\nend";
  const Ran good = run_tool(translate, "tool", {path});
  CHECK(good.status == cli::kDone);
  CHECK(good.text == contents(path));
  std::ofstream(path) << "one\n" << longest << "x\n";
  const Ran bad = run_tool(translate, "tool", {path});
  CHECK(bad.status == cli::kUsage);
  CHECK(bad.text == "one\ntool: " + path + ": a line is longer than 1 MiB\n");
}
