// SPDX-License-Identifier: GPL-2.0-only
// Checks the output of fkt_bufstats --json against docs/bufstats-schema.json.
#include "cli/fkt_bufstats/bufstats.h"
#include "tests/unit/cli/json_schema.h"

using namespace fkt;
using namespace fkt::test;

namespace {

std::vector<std::string> json_of(const char* name) {
  return {"--json", golden() / name};
}

}  // namespace

TEST_CASE("what fkt_bufstats prints as JSON is what the schema says") {
  const Schema rules = Schema::of("bufstats-schema.json");
  CHECK(rules.check(printed(json_of("buffers.fkt"), cli::buffer_statistics)) == "");
  // Without the layer fkt many values are unknown, which the exit status indicates.
  const Ran without = run_tool(cli::buffer_statistics, "fkt_bufstats", json_of("find.fkt"));
  CHECK(without.status != 0);
  const Json table = Json::parse(without.text.substr(0, without.text.rfind('}') + 1));
  CHECK(table["rows"][0]["free"].is_null());
  CHECK(rules.check(table) == "");
}

TEST_CASE("the schema of fkt_bufstats refuses what is wrong") {
  const Schema rules = Schema::of("bufstats-schema.json");
  const Json good = printed(json_of("buffers.fkt"), cli::buffer_statistics);
  Json table = good;
  table["rows"][0]["filled"] = nullptr;
  CHECK(rules.check(table) != "");
  table = good;
  table["rows"][0].erase("written");
  CHECK(rules.check(table) != "");
  table = good;
  table["rows"][0]["free"] = 1.5;
  CHECK(rules.check(table) != "");
  table = good;
  table["more"] = 1;
  CHECK(rules.check(table) != "");
  table = good;
  table["rows"] = Json::array();
  CHECK(rules.check(table) != "");
}
