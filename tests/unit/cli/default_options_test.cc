// SPDX-License-Identifier: GPL-2.0-only
#include "cli/base/default_options.h"

#include <errno.h>
#include <stdlib.h>

#include <fstream>

#include <catch2/catch.hpp>

#include "cli/base/messages.h"
#include "cli/base/options.h"
#include "cli/fkt_record/request/request.h"
#include "tests/unit/folder.h"
#include "tests/unit/golden.h"

using namespace fkt;
using namespace fkt::cli;
using namespace fkt::test;

namespace {

const std::vector<std::string> kTools = {"fkt_record", "fkt_print"};

std::string error_of(const char* text) {
  std::vector<DefaultOptions> found;
  const Status parsed = parse_default_options(text, "f", "fkt_print", kTools, found);
  return parsed ? "" : parsed.error().message;
}

// Sets a variable of the environment while it is there.
class Variable {
 public:
  Variable(const char* name, const std::string& text) : name_(name) {
    ::setenv(name, text.c_str(), 1);
  }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

record::Parsed parse_typed(std::vector<const char*> words) {
  words.insert(words.begin(), "fkt_record");
  return record::parse_command_line(static_cast<int>(words.size()), words.data());
}

int run_record_request(int argc, const char* const* argv) {
  return record::parse_command_line(argc, argv).status;
}

}  // namespace

TEST_CASE("lines of defaults belong to tools") {
  std::vector<DefaultOptions> found;
  REQUIRE(
      parse_default_options("# mine\n\nfkt_record -p 12\n  fkt_print --time 'a b' x\\\"y\n"
                            "fkt_record\t-i \"call:vfs_* if duration > 1ms\"",
                            "file", "fkt_record", kTools, found));
  REQUIRE(found.size() == 2);
  CHECK(found[0].where == "file:3");
  CHECK(found[0].words == std::vector<std::string>{"-p", "12"});
  CHECK(found[1].where == "file:5");
  CHECK(found[1].words == std::vector<std::string>{"-i", "call:vfs_* if duration > 1ms"});
}

TEST_CASE("lines that are none are told with their place") {
  CHECK(error_of("fkt_print\nfkt_pront -x") ==
        "f:2: \"fkt_pront\" is no tool; a line is TOOL OPTION ...; did you mean \"fkt_print\"?");
  CHECK(error_of("-p 12") == "f:1: \"-p\" is no tool; a line is TOOL OPTION ...");
  CHECK(error_of("fkt_print \\q") == "f:1: behind \\ there is none of \\ \" ' n");
}

TEST_CASE("the command line counts more than a preset, and that more than defaults") {
  const Folder folder;
  const std::string file = folder.file("fkt.conf");
  char* const tool = program_invocation_short_name;
  std::ofstream(file) << "fkt_record -p 3 -k user -s 1M\n";
  program_invocation_short_name = const_cast<char*>("fkt_record");
  {
    const Variable config("FKT_CONFIG", file), options("FKT_OPTIONS", "fkt_record -p 5 --no-self");
    const auto parsed = parse_typed({"--locks", "-s", "2M", "-q", "true"});
    REQUIRE(parsed.request);
    CHECK(parsed.request->pow_pages == 5);
    CHECK(parsed.request->filter == FKT_FILTER_NOT_SELF);
    CHECK(parsed.request->size == 2 << 20);
    CHECK(parsed.request->args);
    CHECK(parsed.request->mask == (1U << FKT_L_SYSTEM | 1U << FKT_L_PROCESS | 1U << FKT_L_LOCK));
    const auto bare = parse_typed({"--no-defaults", "true"});
    REQUIRE(bare.request);
    CHECK(bare.request->pow_pages == 10);
  }
  program_invocation_short_name = tool;
  const auto given = parse_typed({"--storage", "-k", "system", "-q", "true"});
  REQUIRE(given.request);
  CHECK(given.request->mask == 1);
  CHECK(given.request->args);
}

TEST_CASE("wrong defaults end a tool as wrong options do") {
  const auto [line, message] = GENERATE(table<const char*, const char*>({
      {"fkt_tool --no-slef", "no option \"--no-slef\"; did you mean \"--no-self\"?"},
      {"fkt_tool -p 12 make", "\"make\" is no option"},
      {"fkt_tool -p", "-p: needs a value"},
  }));
  const Variable options("FKT_OPTIONS", line);
  const Ran ran = run_tool(run_record_request, "fkt_tool", {"true"});
  CHECK(ran.status == kUsage);
  CHECK(ran.text == std::string("fkt_tool: FKT_OPTIONS:1: ") + message + '\n');
}

TEST_CASE("two presets are one too many") {
  const Ran ran = run_tool(run_record_request, "tool", {"--locks", "--storage", "true"});
  CHECK(ran.status == kUsage);
  CHECK(ran.text == "tool: --storage and --locks: only one of the two\n");
}
