// SPDX-License-Identifier: GPL-2.0-only
// Tests what fkt_selection finds by name, and the details of a slice.
#include <fkt/call_event.h>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "lib/timeline/occurrence_search.h"
#include "tests/golden/recordings.h"
#include "tests/unit/fkt_selection/served.h"

using namespace fkt;
using namespace fkt::cli;
using namespace fkt::test;
using nlohmann::json;

TEST_CASE(
    "a search finds names, parts of names, tasks, numbers and paths, and says where they are") {
  RecordingBuilder b;
  b.section(FKT_SEC_TASKS, "42\t42\t1\treader\n");
  b.pid(0, 42);
  const std::uint64_t t = RecordingBuilder::kStart;
  std::array<std::uint64_t, 2> path{};
  std::memcpy(path.data(), "/etc/passwd", 11);
  for (unsigned i = 0; i < 10; i++) {
    b.event(0, t + 1000 * i + 100, FKT_E_SYS_ENTRY, 0);
    if (i == 3) b.long_event(0, t + 3110, FKT_E_SYS_PATH, 2, path);
    b.event(0, t + 1000 * i + 150 + i, FKT_E_SYS_EXIT, 1);
  }
  b.event(0, t + 10'000, FKT_E_SWITCH_R, 0);
  b.event(0, t + 10'100, FKT_E_SWITCH_R, 42);
  b.event(0, t + 10'200, FKT_E_SWITCH_R, 0);
  const Served served(b.finish());
  const Parameters all = {{"from", "0"}, {"to", "10200"}, {"cells", "102"}};
  const auto hits = [&](const char* name) {
    return served.ask("hits", with(all, {{"name", name}}));
  };
  CHECK(hits("sys_read")["count"] == 10);
  CHECK(hits("_rea")["columns"] == json({1, 11, 21, 31, 41, 51, 61, 71, 81, 91}));
  CHECK(hits("passwd")["count"] == 1);
  CHECK(hits("/etc/")["columns"] == json({31}));
  CHECK(hits("reader")["count"] == hits("42")["count"]);
  CHECK(hits("reader")["count"] == 1);
  CHECK(hits("nothing so")["count"] == 0);
  CHECK(served.ask("next", {{"from", "0"}, {"name", "passwd"}})["found"]["from"] == 3110);
  CHECK(served.ask("next", {{"from", "3111"}, {"name", "passwd"}})["found"].is_null());
  // A part of the picture: only what begins in it.
  CHECK(served.ask(
            "hits",
            {{"from", "2050"}, {"to", "4050"}, {"cells", "10"}, {"name", "sys_read"}})["count"] ==
        2);
}

TEST_CASE("a slice's details tell states, the wake-up, what is around it, and its neighbours") {
  const Served served(find_recording());
  const json lanes = served.ask("lanes", with(kWhole, {{"cells", "8192"}}));
  // Each call of each task: its states fill it, and its neighbours are those of the lane.
  unsigned checked = 0, woken = 0;
  for (const json& lane : lanes["lanes"]) {
    if (lane["cpu"] == true || lane["async"] == true) continue;
    std::map<std::uint64_t, std::vector<json>> of_type;
    for (const json& cell : lane["cells"]) {
      if (cell[0] == 3 && cell[3] == 1) of_type[cell[4].get<std::uint64_t>()].push_back(cell);
    }
    for (const auto& [type, cells] : of_type) {
      for (std::size_t i = 0; i < cells.size(); i++) {
        const json& cell = cells[i];
        const auto from = cell[7].get<std::int64_t>(), to = cell[8].get<std::int64_t>();
        if (from >= to) continue;
        const json found = served.ask("slice", {{"kind", "3"},
                                                {"depth", cell[1].dump()},
                                                {"value", std::to_string(type)},
                                                {"task", lane["id"].dump()},
                                                {"cpu", cell[6].dump()},
                                                {"from", std::to_string(from)},
                                                {"to", std::to_string(to)}});
        std::int64_t sum = 0;
        for (const json& ticks : found["states"]) sum += ticks.get<std::int64_t>();
        CHECK(sum == to - from);
        woken += found["wake_count"].get<unsigned>();
        CHECK(found["previous"].is_null() == (i == 0));
        if (i > 0) CHECK(found["previous"]["from"] == cells[i - 1][7]);
        CHECK(found["next"].is_null() == (i + 1 == cells.size()));
        if (i + 1 < cells.size()) CHECK(found["next"]["from"] == cells[i + 1][7]);
        checked++;
      }
    }
  }
  CHECK(checked > 3);
  CHECK(woken > 0);
  CHECK(served.refused("slice", with(kWhole, {{"kind", "9"}})).starts_with("kind: "));
  CHECK(served.refused("slice", with(kWhole, {{"kind", "3"}, {"value", "99999999"}}))
            .starts_with("value: "));
}

TEST_CASE("how many names the search field does not offer is told") {
  CHECK_FALSE(Served(find_recording()).ask("info", {}).contains("names_left_off"));
  std::string catalogue = Catalogue::builtin().to_lines();
  RecordingBuilder b;
  b.pid(0, 42);
  for (std::uint32_t function = 0; function < 4500; function++) {
    const std::string number = std::to_string(function);
    catalogue += "name\tfunction\t" + number + "\tf_" + number + "\n";
    const std::uint64_t clock = RecordingBuilder::kStart + 40 * (function + 1);
    b.event(0, clock, FKT_E_CALL, function, {fkt_call_word(clock - 20, 20)});
  }
  b.section(FKT_SEC_CATALOGUE, catalogue);
  const Served served(b.finish());
  const json info = served.ask("info", {});
  const auto offered = info["names"].get<std::vector<std::string>>();
  CHECK(offered.size() == 4000);
  const auto left_off = info["names_left_off"].get<std::size_t>();
  const auto all =
      searchable_names(served.model.timeline().types(), served.model.recording().info().catalogue);
  CHECK(all.size() > 4500);
  CHECK(left_off == all.size() - 4000);
  // It is found all the same.
  const std::string last = "f_999";
  REQUIRE(std::ranges::find(all, last) != all.end());
  CHECK(std::ranges::find(offered, last) == offered.end());
  const json next = served.ask("next", {{"name", last}, {"from", "0"}});
  CHECK(next["found"]["from"] == 40 * 1000 - 20);
}
