// SPDX-License-Identifier: GPL-2.0-only
// Tests fkt_selection's answers, its server, and what it draws without a browser.
#include <catch2/catch.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include <httplib.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cli/base/messages.h"
#include "cli/fkt_selection/api.h"
#include "cli/fkt_selection/page.h"
#include "cli/fkt_selection/select.h"
#include "cli/fkt_selection/server.h"
#include "lib/base/random.h"
#include "tests/golden/recordings.h"
#include "tests/unit/busy_recording.h"
#include "tests/unit/fkt_selection/served.h"
#include "tests/unit/folder.h"

using namespace fkt;
using namespace fkt::cli;
using namespace fkt::test;
using nlohmann::json;

namespace {

// A script that replaces fkt_extract in a temporary directory. It records its arguments and can
// fail.
class Script {
 public:
  explicit Script(const std::string& body) {
    std::ofstream(path()) << "#!/bin/sh\n" << body;
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  std::string path() const { return folder_.file("fkt_extract"); }
  std::string said() const { return folder_.file("said"); }

 private:
  Folder folder_;
};

}  // namespace

TEST_CASE("the answers describe the recording") {
  const Served served(find_recording());
  const json info = served.ask("info", {});
  CHECK(info["begin"] == 0);
  CHECK(info["ready"] == true);
  CHECK(info["names"].size() > 5);
  const json density = served.ask("density", with(kWhole, {{"cells", "10"}}));
  std::uint64_t events = 0;
  for (const json& cpu : density["cpus"]) {
    for (const json& layer : cpu["events"]) {
      CHECK((layer.size() == 10 || layer.empty()));
      for (const json& count : layer) events += count.get<std::uint64_t>();
    }
  }
  const json stats = served.ask("stats", kWhole);
  // The interval includes the recording's last moment, which has one event.
  CHECK(stats["events"] == events);
  const json lanes = served.ask("lanes", with(kWhole, {{"cells", "100"}}));
  CHECK(lanes["lanes"][0]["cpu"] == true);
  CHECK(lanes["task_count"].get<int>() >= 2);
  CHECK(served.ask("lanes", with(kWhole, {{"filter", "find"}}))["task_count"] == 1);
  const auto tasks_in = [&](const Parameters& more) {
    std::set<int> tids;
    const json some = served.ask("lanes", with(kWhole, more));
    for (const json& lane : some["lanes"]) {
      if (lane["cpu"] == true || lane["async"] == true) continue;
      tids.insert(some["tasks"][std::to_string(lane["id"].get<int>())]["tid"].get<int>());
    }
    return tids;
  };
  CHECK(tasks_in({{"tasks", "0"}}).empty());
  CHECK(tasks_in({{"tasks", "0"}, {"pins", "730"}}) == std::set<int>{730});
  CHECK(tasks_in({{"filter", "no such task"}, {"pins", "730"}}) == std::set<int>{730});
  CHECK(served.refused("lanes", with(kWhole, {{"pins", "730~x"}})).starts_with("pins: "));
  CHECK(served.ask("next", {{"from", "0"}, {"name", "fork"}})["found"]["from"] == 1400);
  CHECK(served.ask("next", {{"from", "1401"}, {"name", "fork"}})["found"].is_null());
  const json slowest = served.ask("slowest", with(kWhole, {{"name", "sys_*"}}));
  CHECK(slowest["found"][0]["name"] == "sys_wait4");
  const json histogram = served.ask("histogram", with(kWhole, {{"name", "sys_lstat"}}));
  REQUIRE(histogram["bins"].size() == 1);
  CHECK(histogram["bins"][0][0].get<std::uint64_t>() <= 122365);
  CHECK(histogram["bins"][0][1].get<std::uint64_t>() > 122365);
}

namespace {

// Adds more calls than are followed for a quick picture. Returns the end of the last one.
std::uint64_t add_many_calls(RecordingBuilder& b) {
  b.pid(0, 42);
  std::uint64_t at = RecordingBuilder::kStart;
  for (unsigned i = 0; i < 310'000; i++) {
    b.event(0, at += 100, FKT_E_SYS_ENTRY, 0);
    b.event(0, at += 60, FKT_E_SYS_EXIT, 1);
  }
  return at;
}

// The number of calls in the answer, and the number of cells that represent them.
std::pair<std::uint64_t, std::uint64_t> calls(const json& answer) {
  std::uint64_t count = 0, cells = 0;
  for (const json& lane : answer["lanes"]) {
    for (const json& cell : lane["cells"]) {
      if (cell[0] == 3) count += cell[3].get<std::uint64_t>(), cells++;
    }
  }
  return {count, cells};
}

}  // namespace

TEST_CASE("a burst that the levels have only coarsely says so, and is fine when asked for finely") {
  RecordingBuilder b(65536);
  const std::uint64_t end = add_many_calls(b), burst = end - RecordingBuilder::kStart;
  b.event(0, end + 1000 * burst, FKT_E_NMI);
  const Served served(b.finish());
  const Parameters of_burst = {{"from", "0"}, {"to", std::to_string(burst)}, {"cells", "4000"}};
  const json quick = served.ask("lanes", of_burst);
  CHECK(quick["coarse"] == true);
  CHECK(calls(quick).second < 100);
  const json fine = served.ask("lanes", with(of_burst, {{"fine", "1"}}));
  CHECK(fine["coarse"] == false);
  CHECK(calls(fine) == std::pair<std::uint64_t, std::uint64_t>(310'000, 4000));
}

TEST_CASE("a picture that is asked for finely is followed, not taken from the levels") {
  RecordingBuilder b(65536);
  const std::uint64_t at = add_many_calls(b);
  const Served served(b.finish());
  const Parameters all = {{"from", "0"}, {"to", std::to_string(at)}, {"cells", "4000"}};
  const json coarse = served.ask("lanes", all),
             fine = served.ask("lanes", with(all, {{"fine", "1"}}));
  CHECK(coarse["coarse"] == false);
  CHECK(calls(coarse).first == 310'000);
  CHECK(calls(fine) == std::pair<std::uint64_t, std::uint64_t>(310'000, 4000));
  CHECK(calls(coarse).second < 4000);
  CHECK(served.refused("lanes", with(all, {{"fine", "2"}})).starts_with("fine: "));
}

TEST_CASE("events are listed in words") {
  const Served served(find_recording());
  const json list = served.ask("events", {{"from", "3000"}, {"to", "24001"}, {"cpu", "1"}});
  REQUIRE(list["events"].size() == 3);
  CHECK(list["events"][0]["text"] == "sys_lstat");
  CHECK(list["events"][0]["task_name"] == "find");
  CHECK(list["events"][2]["text"].get<std::string>().starts_with("switch state=D"));
  CHECK(list["more"] == false);
  CHECK(served.ask("events", with(kWhole, {{"most", "2"}}))["more"] == true);
}

TEST_CASE("bad parameters are answered with one clear line") {
  const Served served(find_recording());
  CHECK(served.refused("density", {{"to", "5"}}) ==
        "from: missing: ticks since the recording's start\n");
  CHECK(served.refused("density", {{"from", "x"}, {"to", "5"}}) ==
        "from: \"x\" is not a whole number\n");
  CHECK(served.refused("lanes", {{"from", "9"}, {"to", "5"}}) ==
        "from: not before \"to\" within the recording\n");
  CHECK(served.refused("lanes", with(kWhole, {{"cells", "0"}})) ==
        "cells: \"0\" is not a number from 1 to 8192\n");
  CHECK(served.refused("lanes", with(kWhole, {{"cells", "99999999999999999999"}})).size() > 10);
  CHECK(served.refused("next", {{"from", "0"}, {"name", "frk"}}) ==
        "nothing is called \"frk\"; did you mean \"fork\"?\n");
  CHECK(served.refused("histogram", kWhole) ==
        "name: missing: an event, a system call, an interrupt, a task, a part of a path\n");
  CHECK(served.refused("histogram", with(kWhole, {{"name", "frk"}})) ==
        "nothing is called \"frk\"; did you mean \"fork\"?\n");
  CHECK(served.refused("events", with(kWhole, {{"cpu", "-1"}})).starts_with("cpu: "));
  CHECK(served.api.answer("nothing", {}).status == 404);
  // Times far beyond the recording are not an error but mean its ends.
  CHECK(
      served
          .ask("stats", {{"from", "-9223372036854775808"}, {"to", "9223372036854775807"}})["events"]
          .get<int>() > 0);
}

TEST_CASE("a page's earlier question makes way for its newer one") {
  RecordingBuilder b;
  b.pid(0, 42);
  std::uint64_t at = RecordingBuilder::kStart;
  for (unsigned i = 0; i < 400'000; i++) {
    b.event(0, at += 10, i % 2 == 0 ? FKT_E_SYS_ENTRY : FKT_E_SYS_EXIT, 39);
  }
  const Served served(b.finish());
  // Not the whole recording: its statistics are known already.
  const Parameters all = {{"from", "1"}, {"to", "5000000"}, {"page", "one"}};
  // The first request may be finished before the second one arrives, or arrive after it; both never
  // fail otherwise.
  unsigned given_up = 0;
  for (unsigned round = 0; round < 500 && given_up == 0; round++) {
    int earlier = 0;
    std::atomic<bool> asked = false;
    std::jthread first([&] {
      asked = true;
      earlier = served.api.answer("stats", all).status;
    });
    while (!asked) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(100 * (round % 20)));
    const int later = served.api.answer("stats", with(all, {{"to", "100"}})).status;
    first.join();
    CHECK((earlier == 200 || earlier == 202));
    CHECK((later == 200 || later == 202));
    CHECK((later == 200 || earlier == 200));
    given_up += earlier == 202;
  }
  CHECK(given_up == 1);
  // Requests of another page are independent.
  CHECK(served.api.answer("stats", with(all, {{"page", "two"}})).status == 200);
}

TEST_CASE("a page's questions may arrive in another order") {
  const Served served(find_recording());
  const Parameters later = {{"from", "0"}, {"to", "5000"}, {"page", "one"}, {"turn", "2"}};
  CHECK(served.api.answer("stats", later).status == 200);
  const Reply overtaken = served.api.answer("stats", with(later, {{"turn", "1"}}));
  CHECK(overtaken.status == 202);
  CHECK(overtaken.body == R"({"overtaken":true})");
  CHECK(served.api.answer("stats", later).status == 200);
  CHECK(served.api.answer("density", with(later, {{"turn", "1"}, {"cells", "10"}})).status == 200);
  CHECK(served.api.answer("stats", with(later, {{"turn", "x"}})).status == 400);
  CHECK(served.api.answer("stats", with(later, {{"turn", "0"}})).status == 400);
}

TEST_CASE("whatever is asked is answered") {
  const Served served(find_recording());
  const std::vector<std::string> questions = {"info",      "status", "density", "lanes", "events",
                                              "histogram", "next",   "slowest", "stats", "extract"};
  const std::vector<std::string> values = {
      "",      "0",         "-1", "5000",  "99999999999999999999", "1e3", "*", "sys", "fork",
      "sys_*", "\xff\n<b>", "--", "127000"};
  std::uint64_t random = 7;
  const auto pick = [&](const std::vector<std::string>& from) {
    random = random * 6364136223846793005 + 1442695040888963407;
    return from[(random >> 33) % from.size()];
  };
  // The member that each answer must have.
  const std::map<std::string, std::string> kPart = {
      {"info", "file"},     {"status", "ready"},   {"density", "cpus"}, {"lanes", "lanes"},
      {"events", "events"}, {"histogram", "bins"}, {"next", "found"},   {"slowest", "found"},
      {"stats", "types"},   {"extract", "command"}};
  std::set<std::string> answered;
  std::map<int, unsigned> statuses;
  for (unsigned i = 0; i < 3000; i++) {
    Parameters parameters;
    for (const char* name : {"from", "to", "cells", "name", "cpu", "task", "most", "filter"}) {
      const std::string value = pick(values);
      if (value != "--") parameters[name] = value;
    }
    if (i % 4 == 0) {  // a request that can be answered
      parameters["from"] = "0";
      parameters["to"] = "127000";
      parameters["name"] = "sys_*";
      parameters.erase("most");
    }
    const std::string question = pick(questions);
    const Reply reply = served.api.answer(question, parameters);
    statuses[reply.status]++;
    if (reply.status == 200) {
      answered.insert(question);
      const json answer = json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
      INFO(question << ": " << reply.body);
      REQUIRE(answer.is_object());
      CHECK(answer.contains(kPart.at(question)));
    }
    if (reply.status == 400) CHECK(std::ranges::count(reply.body, '\n') == 1);
  }
  CHECK(answered.size() == questions.size());
  CHECK(statuses[200] > 100);
  CHECK(statuses[400] > 800);
  CHECK(statuses[200] + statuses[400] == 3000);
}

TEST_CASE("a call is told whole, wherever the picture ends") {
  // 42 makes one long call, for which the levels have a cell of its own. 43 makes short calls,
  // which share cells; one is open at the end of the picture.
  constexpr std::uint64_t T = RecordingBuilder::kStart;
  RecordingBuilder b;
  b.pid(0, 42).pid(1, 43);
  b.event(0, T + 5, FKT_E_SYS_ENTRY, 0);
  for (std::uint64_t at = 10; at < 900'000; at += 100) {
    b.event(1, T + at, FKT_E_SYS_ENTRY, 39).event(1, T + at + 60, FKT_E_SYS_EXIT, 43);
  }
  b.event(0, T + 900'005, FKT_E_SYS_EXIT, 1);
  b.event(1, T + 950'010, FKT_E_SYS_ENTRY, 1);  // its end is not in the recording
  b.event(0, T + 950'020, FKT_E_NMI);
  const Served served(b.finish());
  const auto calls = [&](const char* from, const char* to) {
    std::map<std::int64_t, std::pair<std::int64_t, int>> calls;  // begin: end, begun | ended << 1
    const json lanes =
        served.ask("lanes", {{"from", from}, {"to", to}, {"cells", "1000"}})["lanes"];
    for (const json& lane : lanes) {
      for (const json& cell : lane["cells"]) {
        if (cell[0] != static_cast<int>(SliceKind::call) || cell[3] != 1) continue;
        calls[cell[7].get<std::int64_t>()] = {cell[8].get<std::int64_t>(), cell[2].get<int>()};
      }
    }
    return calls;
  };
  const auto early = calls("0", "20130");
  REQUIRE(early.contains(5));
  CHECK(early.at(5) == std::pair<std::int64_t, int>(900'005, 3));
  const auto within = calls("20000", "20130");
  REQUIRE(within.contains(5));
  CHECK(within.at(5) == std::pair<std::int64_t, int>(900'005, 3));
  REQUIRE(within.contains(20'110));
  CHECK(within.at(20'110) == std::pair<std::int64_t, int>(20'170, 3));
  const auto last = calls("940000", "950020");
  REQUIRE(last.contains(950'010));
  CHECK((last.at(950'010).second & 2) == 0);  // its end is not known
}

TEST_CASE("256 CPUs, and one with hardly anything") {
  RecordingBuilder b;
  for (std::uint32_t cpu = 0; cpu < 256; cpu++) {
    b.pid(cpu, 42 + cpu);
    b.event(cpu, RecordingBuilder::kStart + cpu, FKT_E_SYS_ENTRY, 39);
    if (cpu != 7) b.event(cpu, RecordingBuilder::kStart + 500, FKT_E_SYS_EXIT, 42);
  }
  const Served served(b.finish());
  const json density = served.ask("density", with(kWhole, {{"cells", "8192"}}));
  CHECK(density["cpus"].size() == 256);
  CHECK(density["layers"] == json::array({"system"}));
  CHECK(density["cpus"][7]["events"][0].size() == 8192);
  const json lanes = served.ask("lanes", with(kWhole, {{"tasks", "1000"}}));
  CHECK(lanes["lanes"].size() == 512);
  CHECK(served.ask("stats", kWhole)["types"][0]["count"] == 255);
}

TEST_CASE("the tool's exit status says what went wrong") {
  const auto status = [](std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "fkt_selection");
    return select_part(static_cast<int>(arguments.size()), arguments.data());
  };
  const std::string recording = std::string(FKT_SOURCE_DIR) + "/tests/golden/find.fkt";
  const std::string picture = std::filesystem::temp_directory_path() / "fkt-selection-test.svg";
  CHECK(status({"--svg", picture.c_str(), recording.c_str()}) == kDone);
  CHECK(std::filesystem::file_size(picture) > 1000);
  std::filesystem::remove(picture);
  CHECK(status({"--svg", "/nonexistent/x.svg", recording.c_str()}) == kFailed);
  CHECK(status({"--png", "/nonexistent/x.png", recording.c_str()}) == kFailed);
  CHECK(status({"--svg", picture.c_str(), FKT_SOURCE_DIR "/README.md"}) == kFailed);
  CHECK(status({"--svg", picture.c_str(), "--from", "soon", recording.c_str()}) == kUsage);
  CHECK(status({"--from", "1s", recording.c_str()}) == kUsage);
  CHECK(status({"--text", "--no-browser", recording.c_str()}) == kUsage);
  CHECK(status({"--text", "--time", "hours", recording.c_str()}) == kUsage);
  CHECK(status({"--time", "us", recording.c_str()}) == kUsage);
  CHECK(status({"--size", "5M", recording.c_str()}) == kUsage);
  CHECK(status({"--html", picture.c_str(), "--no-browser", recording.c_str()}) == kUsage);
  CHECK(status({"--html", picture.c_str(), "--size", "9", recording.c_str()}) != kDone);
  CHECK_FALSE(std::filesystem::exists(picture));
  const std::string empty = std::filesystem::temp_directory_path() / "fkt-selection-test.fkt";
  RecordingBuilder b;
  const Bytes file = b.finish();
  std::ofstream(empty, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  CHECK(status({"--text", empty.c_str()}) == kFailed);
  std::filesystem::remove(empty);
}

TEST_CASE("a damaged recording is shown without its damaged part") {
  const Served served(broken_recording());
  const json density = served.ask("density", kWhole);
  CHECK(density["gaps"].size() >= 2);
  CHECK(served.ask("lanes", kWhole)["gaps"] == density["gaps"]);
  const json info = served.ask("info", {});
  CHECK(info["finished"] == false);
  CHECK(info["damaged_pages"] == 1);
  CHECK(served.ask("stats", kWhole)["events"].get<int>() > 5);
}

TEST_CASE("at last, states are read from which fkt_extract can go on") {
  const Folder folder;
  const std::string file = folder.file("rec.fkt");
  RandomRecording random(1, 2, 9000);
  write_file(file, random.finish());
  constexpr std::uint64_t kApart = 16'384;  // bytes
  const CacheRules place{folder.file("states"), kApart};
  {
    Model model(std::move(*Recording::open(file)), file, place);
    model.start();
    model.wait();
  }
  const Recording trace = std::move(*Recording::open(file));
  const CheckpointCache known(trace, place.folder, place.apart);
  CHECK(known.moments().size() > 3);
  for (const std::uint64_t moment : known.moments()) CHECK(known.knows(moment));
}

TEST_CASE("work at leisure waits while somebody asks, and ends when told to") {
  IdleWork idle;
  std::atomic<bool> stop{false}, back{false}, goes_on{false};
  CHECK(idle.wait(stop));
  const auto wait = [&] {
    back = false;
    return std::jthread([&] {
      goes_on = idle.wait(stop);
      back = true;
    });
  };
  std::optional<IdleWork::Question> question(std::in_place, idle);
  std::jthread worker = wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK_FALSE(back);
  question.reset();
  worker.join();
  CHECK(goes_on);
  { const IdleWork::Question short_one(idle); }
  question.emplace(idle);
  worker = wait();
  stop = true;
  worker.join();
  CHECK_FALSE(goes_on);
}

TEST_CASE("the command that extracts is one for a shell, and is run as it is shown") {
  const Script script("echo \"$@\" > \"$(dirname \"$0\")/said\"\n");
  const Served served(find_recording(), script.path());
  const Parameters part = {{"from", "100"}, {"to", "5000"}};
  CHECK(served.ask("extract", part)["command"] ==
        "fkt_extract 'run of mine.fkt' -o 'run of mine-100ns-5us.fkt' --from 100ns --to 5us");
  CHECK_FALSE(std::filesystem::exists(script.said()));
  CHECK(served.ask("extract", with(part, {{"run", "1"}}))["done"] == true);
  std::ifstream said(script.said());
  std::string line;
  std::getline(said, line);
  CHECK(line == "run of mine.fkt -o run of mine-100ns-5us.fkt --from 100ns --to 5us");

  const Parameters of_task = with(part, {{"task", "-k/0; rm"}});
  CHECK(served.ask("extract", of_task)["command"] ==
        "fkt_extract 'run of mine.fkt' -o 'run of mine--k_0__rm-100ns-5us.fkt' --from 100ns "
        "--to 5us '--task=-k/0; rm'");
  CHECK(served.ask("extract", with(of_task, {{"run", "1"}}))["done"] == true);
  std::ifstream of_it(script.said());
  std::getline(of_it, line);
  CHECK(line.ends_with("--to 5us --task=-k/0; rm"));
  CHECK(served.refused("extract", with(part, {{"task", std::string(65, 'x')}})) ==
        "task: longer than any name\n");

  // Of a clock whose ticks are no nanoseconds, the slice has all of the selection.
  CHECK(ExtractCommand("a.fkt", "", 3e9).command({1, 7}) ==
        "fkt_extract a.fkt -o a-0s-3ns.fkt --from 0s --to 3ns");
  CHECK(ExtractCommand("a.fkt", "", 1e9).command({26'048'000, 2'928'572'328}) ==
        "fkt_extract a.fkt -o a-26.048ms-2.928572328s.fkt --from 26.048ms --to 2.928572328s");

  const Script fails("echo first; echo 'fkt_extract: no space left' >&2; exit 1\n");
  const ExtractCommand extract_command("a.fkt", fails.path(), 1e9);
  const Status status = extract_command.run({1, 2});
  REQUIRE_FALSE(status);
  CHECK(status.error().message == "fkt_extract: no space left");
  CHECK_FALSE(ExtractCommand("a.fkt", "", 1e9).available());
}

TEST_CASE("the server answers the one who knows the token, and nobody else") {
  const Served served(find_recording());
  const Result<std::string> token = random_token();
  REQUIRE(token);
  CHECK(token->size() == 32);
  CHECK(*random_token() != *token);
  Server server(served.api, "<p>the page</p>", *token);
  REQUIRE(server.start());
  CHECK(server.url() == "http://127.0.0.1:" + std::to_string(server.port()) + "/" + *token + "/");
  httplib::Client client("127.0.0.1", server.port());
  const auto page = client.Get(("/" + *token + "/").c_str());
  REQUIRE(page);
  CHECK(page->status == 200);
  CHECK(page->body == "<p>the page</p>");
  CHECK(page->get_header_value("Content-Security-Policy").starts_with("default-src 'none'"));
  const std::string api = "/" + *token + "/api/";
  CHECK(json::parse(client.Get((api + "info").c_str())->body)["begin"] == 0);
  CHECK(client.Get((api + "density?from=0&to=zz").c_str())->status == 400);
  std::string wrong = *token;
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (const std::string& path :
       {"/" + wrong + "/", "/" + wrong + "/api/info", std::string("/x/api/info"),
        std::string("//api/info"), std::string("//")}) {
    INFO(path);
    CHECK(client.Get(path.c_str())->status == 403);
  }
  CHECK(client.Get("/")->status == 404);
  CHECK(client.Get(("/" + *token + "/../../etc/passwd").c_str())->status == 404);
  // A GET request must not write a file.
  CHECK(client.Get((api + "extract?from=0&to=100&run=1").c_str())->status == 405);
  CHECK(client.Post(("/" + wrong + "/api/extract?from=0&to=100").c_str())->status == 403);
  const auto posted = client.Post((api + "extract?from=0&to=100").c_str());
  CHECK(json::parse(posted->body)["available"] == false);
}

TEST_CASE("the page is there, or it is said why not") {
  CHECK(selection_page().empty() != selection_page_missing().empty());
  if (selection_page().empty()) return;
  CHECK(selection_page().find("Permission is hereby granted") != std::string_view::npos);
  // The page loads nothing from other hosts.
  CHECK(selection_page().find("src=\"http") == std::string_view::npos);
}

TEST_CASE("what came from standard input is no file to extract from") {
  RecordingBuilder b;
  b.pid(0, 42).event(0, T, FKT_E_SYS_ENTRY, 39).event(0, T + 100'000, FKT_E_SYS_EXIT, 1);
  const Served served(b.finish(), {}, "-");
  CHECK(served.refused("extract", kWhole).find("standard input") != std::string::npos);
}
