// SPDX-License-Identifier: GPL-2.0-only
// Checks the output of fkt_kd --json against docs/kd-schema.json.
#include "cli/fkt_kd/kd.h"
#include "cli/fkt_print/print.h"
#include "tests/unit/cli/json_schema.h"

using namespace fkt;
using namespace fkt::test;

namespace {

std::string file(const char* name) {
  return golden() / name;
}

}  // namespace

TEST_CASE("what fkt_kd prints as JSON is what the schema says") {
  const Schema rules = Schema::of("kd-schema.json");
  for (const char* name : {"find.fkt", "boot.lst"}) {
    const Json table = printed({"--json", file(name)}, cli::kd);
    CHECK(rules.check(table) == "");
    CHECK(table["functions"].size() > 5);
  }
  CHECK(rules.check(printed({"--json", "--tasks", file("find.fkt")}, cli::kd)) == "");
  const Json waits = printed({"--json", "--offcpu", file("find.fkt")}, cli::kd);
  CHECK(rules.check(waits) == "");
  CHECK(waits["off_cpu"].size() > 5);
  const Json functions = printed({"--json", "--functions", file("functions.fkt")}, cli::kd);
  CHECK(rules.check(functions) == "");
  CHECK(functions["user_functions"].size() == 5);
  CHECK(rules.check(printed({"--json", "--time", "ms", file("find.fkt")}, cli::kd)) == "");
  const Json path =
      printed({"--json", "--critical-path", "42", "--steps", file("find.fkt")}, cli::kd);
  CHECK(rules.check(path) == "");
  CHECK(path["path"].size() > 5);
  const Json sums = printed({"--json", "--critical-path", "42", file("find.fkt")}, cli::kd);
  CHECK(rules.check(sums) == "");
  CHECK_FALSE(sums.contains("path"));
  CHECK(rules.check(printed({"--json", "--histogram", "read_id", file("boot.lst")}, cli::kd)) ==
        "");
  const std::vector<std::string> diff{"--diff", file("boot.lst"), "--json", file("find.fkt")};
  CHECK(rules.check(printed(diff, cli::print_recording)) == "");
}

TEST_CASE("the schema refuses what is wrong") {
  const Schema rules = Schema::of("kd-schema.json");
  Json table = printed({"--json", file("boot.lst")}, cli::kd);
  table["functions"][0]["count"] = -1;
  CHECK(rules.check(table) != "");
  table = printed({"--json", file("boot.lst")}, cli::kd);
  table["functions"][0].erase("local");
  CHECK(rules.check(table) != "");
  table = printed({"--json", file("boot.lst")}, cli::kd);
  table["functions"][0]["more"] = 1;
  CHECK(rules.check(table) != "");
  CHECK(rules.check(Json::object({{"unit", "us"}})) != "");
}
