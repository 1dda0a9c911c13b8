// SPDX-License-Identifier: GPL-2.0-only
// Runs fkt_kd on the small recordings and KFT logs of tests/golden and compares the output (see the
// file `kd-cases` there). tests/golden/kd_independent.py computes the same figures independently.
#include <map>
#include <nlohmann/json.hpp>

#include "cli/fkt_kd/kd.h"
#include "cli/fkt_print/print.h"
#include "tests/unit/golden.h"

using namespace fkt;
using namespace fkt::test;

TEST_CASE("fkt_kd says of recordings and KFT logs what it is to say", "[golden]") {
  CHECK(run_cases("kd-cases", cli::kd, "fkt_kd") > 15);
}

TEST_CASE("fkt_kd(1) has every option that the help has") {
  CHECK(check_manual(cli::kd, "fkt_kd") > 10);
}

TEST_CASE("fkt_kd selects what fkt_print selects") {
  const std::string file = golden() / "find.fkt";
  const std::vector<std::vector<std::string>> selections = {
      {"--where", "name ~ \"sys_*\" && duration > 100ns"},
      {"--where", "task == \"find\" || name == \"softirq\""},
      {"--cpu", "1"},
      {"--layer", "system"},
      {"-s", "730"},
      {"--around", "softirq_raise", "--window", "100ns"},
      {"--from", "100us", "--to", "126us", "--cpu", "1"}};
  for (std::vector<std::string> words : selections) {
    INFO(words[0] << ' ' << words[1]);
    words.insert(words.end(), {"--json", "--time", "cycles", file});
    const auto rows = nlohmann::json::parse(run_tool(cli::kd, "fkt_kd", words).text)["functions"];
    words.insert(words.begin(), "--stats");
    const auto report =
        nlohmann::json::parse(run_tool(cli::print_recording, "fkt_print", words).text);
    std::map<std::string, std::uint64_t> counts, times, expected, spent;
    for (const auto& row : rows) {
      counts[row["function"]] = row["count"];
      if (row["count"] > row["cut"]) times[row["function"]] = row["time"];
    }
    for (const auto& row : report["histogram"]) {
      if (row.contains("each") && row["count"] > 0) expected[row["name"]] = row["count"];
    }
    for (const auto& row : report["durations"]) spent[row["name"]] = row["time"];
    CHECK(!counts.empty());
    CHECK(counts == expected);
    CHECK(times == spent);
  }
}
