// SPDX-License-Identifier: GPL-2.0-only
// Tests fkt_selection's answers while it still reads the recording.
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "cli/fkt_selection/api.h"
#include "cli/fkt_selection/stats_list.h"
#include "tests/golden/recordings.h"
#include "tests/unit/busy_recording.h"
#include "tests/unit/call_recording.h"
#include "tests/unit/fkt_selection/served.h"
#include "tests/unit/folder.h"
#include "tests/unit/how_many.h"
#include "tests/unit/random_recording.h"

using namespace fkt;
using namespace fkt::cli;
using namespace fkt::test;
using nlohmann::json;

TEST_CASE("what is not read yet is answered with how far it is") {
  Model model(std::move(*Recording::from_bytes(find_recording())), "x.fkt");
  const ExtractCommand extract_command("x.fkt", "", 1e9);
  const Api api(model, extract_command);
  CHECK(api.answer("lanes", kWhole).status == 202);
  const Reply density = api.answer("density", kWhole);
  CHECK(density.status == 200);
  CHECK(json::parse(density.body)["exact"] == false);
}

TEST_CASE("the early statistics are those that following all has, but for what tasks waited") {
  for (const unsigned seed : seeds(24, {95})) {
    INFO("seed " << seed);
    const auto tail =
        seed % 3 == 0 ? RecordingBuilder::Tail::none : RecordingBuilder::Tail::finished;
    const Bytes file = seed % 2 == 0 ? CallRecording(seed, 1 + seed % 4, 1500).finish(tail)
                                     : RandomRecording(seed, 1 + seed % 5, 2000).finish(tail);
    const Recording trace = std::move(*Recording::from_bytes(file));
    Timeline timeline(trace);
    const std::uint64_t from = timeline.begin(), to = timeline.end();
    EarlyStats early(timeline);
    PassControl first, second;
    early.read(first);
    CHECK(early.is_window(from, to));
    CHECK_FALSE(early.is_window(from + 1, to));
    timeline.read(second);
    WindowStats followed(from, to, timeline.tasks());
    timeline.follow(from, to, followed);
    json before = json::parse(
        list_stats(early.stats(), early.types(), {early.stats(), early.tasks(), false}));
    json after = json::parse(list_stats(followed, timeline.types(), {followed, timeline.tasks()}));
    CHECK(before["waits"] == false);
    CHECK(after["waits"] == true);
    CHECK(after["tasks"].size() > 2);
    CHECK(after["events"] > 500);
    for (json& task : after["tasks"]) {
      for (const char* key : {"ready", "blocked", "waits", "longest_wait"}) task.erase(key);
    }
    std::erase_if(after["tasks"].get_ref<json::array_t&>(),
                  [](const json& task) { return task["running"] == 0; });
    for (json* const stats : {&before, &after}) {
      stats->erase("waits");
      for (const char* list : {"types", "tasks"}) {
        std::sort((*stats)[list].begin(), (*stats)[list].end());
      }
    }
    CHECK(before == after);
  }
}

TEST_CASE("the statistics of all come before the lanes") {
  BusyRecording recording(5, 3, 60'000);
  Model model(std::move(*Recording::from_bytes(recording.finish())), "x.fkt");
  const ExtractCommand extract_command("x.fkt", "", 1e9);
  const Api api(model, extract_command);
  const Parameters all = {{"from", "-9223372036854775808"}, {"to", "9223372036854775807"}};
  CHECK(api.answer("stats", all).status == 202);
  const json info = json::parse(api.answer("info", {}).body);
  const Parameters known = {{"from", info["begin"].dump()}, {"to", info["end"].dump()}};
  model.start();
  // Reading may find a later last event, and then "all" ends later than before. So the question
  // names the end that is known before.
  Reply early = api.answer("stats", known);
  while (early.status == 202) early = api.answer("stats", known);
  CHECK(early.status == 200);
  model.wait();
  const json first = json::parse(early.body), last = json::parse(api.answer("stats", known).body);
  CHECK(first["events"] == last["events"]);
  CHECK(first["tasks"].size() > 2);
  CHECK(last["waits"] == true);
  // Those of all are known with the lanes; they are what following all again has.
  const Timeline& timeline = model.timeline();
  WindowStats followed(timeline.begin(), timeline.end(), timeline.tasks());
  timeline.follow(timeline.begin(), timeline.end(), followed);
  CHECK(last["tasks"] ==
        json::parse(list_stats(followed, timeline.types(), {followed, timeline.tasks()}))["tasks"]);
}

TEST_CASE("a short part is answered as the whole answers for it") {
  const Folder folder;
  BusyRecording recording(8, 3, 120'000);
  const Bytes bytes = recording.finish();
  const std::string file = folder.file("busy.fkt");
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  Model whole(std::move(*Recording::open(file)), file);
  whole.start();
  whole.wait();
  const ExtractCommand none("", "", 1e9);
  const Api api(whole, none);
  EarlyPart early(whole);
  const std::uint64_t begin = whole.timeline().begin(), length = whole.timeline().end() - begin;
  for (const double share : {0.0, 0.31, 0.62, 0.97}) {
    INFO("from " << share);
    const auto from = begin + static_cast<std::uint64_t>(share * static_cast<double>(length));
    const std::uint64_t to = from + length / 50;
    const auto part = early.find(from, to, {});
    REQUIRE(part != nullptr);
    CHECK(part == early.find(from + 1, to - 1, {}));
    CHECK(part->timeline().begin() <= from);
    CHECK(part->timeline().end() >= std::min(to, whole.timeline().end()));
    const Api of_part(*part, none);
    const Parameters asked = {{"from", std::to_string(from - whole.zero())},
                              {"to", std::to_string(to - whole.zero())}};
    const auto rows = [&](const Api& of, const char* question, const char* list) {
      json answer = json::parse(of.answer(question, asked).body);
      REQUIRE(answer.contains(list));
      for (json& row : answer[list]) row.erase("task");  // an index
      std::sort(answer[list].begin(), answer[list].end());
      return answer[list];
    };
    for (const char* list : {"types", "tasks", "cpus"}) {
      CHECK(rows(of_part, "stats", list) == rows(api, "stats", list));
    }
    CHECK(rows(of_part, "events", "events") == rows(api, "events", "events"));
    CHECK(rows(api, "events", "events").size() > 20);
  }
  CHECK(early.find(begin, begin + length / 50, [] { return true; }) == nullptr);
}
