// SPDX-License-Identifier: GPL-2.0-only
// Tests the page with a recording in it: its contents, and that it is not larger than requested.
#include <catch2/catch.hpp>

#include <string>

#include <zlib.h>

#include <nlohmann/json.hpp>

#include "cli/fkt_selection/html_file.h"
#include "cli/fkt_selection/page.h"
#include "tests/golden/recordings.h"
#include "tests/unit/fkt_selection/served.h"
#include "tests/unit/random_recording.h"

using namespace fkt;
using namespace fkt::cli;
using namespace fkt::test;
using nlohmann::json;

namespace {

std::string base64_read(std::string_view text) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, held = 0;
  for (const char digit : text) {
    if (digit == '=') break;
    bits = bits << 6 | static_cast<unsigned>(kDigits.find(digit));
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xff);
  }
  return bytes;
}

std::string unzipped(std::string_view packed) {
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, MAX_WBITS + 16) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text, part(1 << 16, '\0');
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(part, 0, part.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  REQUIRE(status == Z_STREAM_END);
  return text;
}

json held_in(const std::string& page) {
  constexpr std::string_view kOpens = "id=\"recording\">";
  const std::size_t at = page.find(kOpens);
  REQUIRE(at != std::string::npos);
  const std::size_t from = at + kOpens.size();
  return json::parse(unzipped(base64_read(page.substr(from, page.find('<', from) - from))));
}

HtmlFileRequest whole(const Model& model, std::uint64_t most_bytes) {
  return {model.timeline().begin(), model.timeline().end(), most_bytes};
}

}  // namespace

TEST_CASE("a page that needs no server has what the server would answer") {
  if (selection_page().empty()) return;  // built without npm
  const Served served(find_recording());
  const Result<std::string> page = html_file(served.model, whole(served.model, 5'000'000));
  REQUIRE(page);
  const json held = held_in(*page);
  const json info = served.ask("info", {});
  for (const char* name : {"begin", "end", "command", "machine", "lost", "names"}) {
    CHECK(held["info"][name] == info[name]);
  }
  const Parameters part = {{"from", info["begin"].dump()}, {"to", info["end"].dump()}};
  CHECK(held["stats"] == served.ask("stats", part));
  CHECK(held["density"] == served.ask("density", with(part, {{"cells", "2000"}})));
  const json histogram = served.ask("histogram", with(part, {{"name", "sys_lstat"}}));
  bool found = false;
  for (const json& bars : held["bars"]) {
    if (bars[0] != "sys_lstat") continue;
    found = true;
    CHECK(bars[1] == histogram["bins"]);
  }
  CHECK(found);
  const json events = served.ask("events", with(part, {{"most", "10000"}}));
  REQUIRE(held["events"].size() == events["events"].size());
  CHECK(held["events"][3][5] == events["events"][3]["text"]);
  // No two slices are combined, and each is where the server's lanes have it.
  const json lanes = served.ask("lanes", with(part, {{"cells", "8192"}}));
  REQUIRE(held["lanes"]["lanes"].size() == lanes["lanes"].size());
  std::size_t cells = 0;
  for (std::size_t lane = 0; lane < lanes["lanes"].size(); lane++) {
    std::int64_t before = 0;
    std::set<std::pair<std::int64_t, std::int64_t>> spans;
    for (const json& cell : held["lanes"]["lanes"][lane]["cells"]) {
      before += cell[7].get<std::int64_t>();
      CHECK(cell[3] == 1);
      spans.emplace(before, before + cell[8].get<std::int64_t>());
    }
    for (const json& cell : lanes["lanes"][lane]["cells"]) {
      if (cell[3] != 1) continue;
      cells++;
      CHECK(spans.contains({cell[7].get<std::int64_t>(), cell[8].get<std::int64_t>()}));
    }
  }
  CHECK(cells > 20);
}

TEST_CASE("a page that needs no server is as large as asked at most") {
  if (selection_page().empty()) return;
  RandomRecording random(3, 4, 120'000);
  const Served served(random.finish());
  std::size_t before = 0;
  for (const std::uint64_t room : {70'000, 140'000, 5'000'000}) {
    const std::uint64_t most = selection_page().size() + room;
    const Result<std::string> page = html_file(served.model, whole(served.model, most));
    REQUIRE(page);
    CHECK(page->size() <= most);
    const json held = held_in(*page);
    std::size_t detail = held.contains("events") ? held["events"].size() : 0;
    for (const json& lane : held["lanes"]["lanes"]) detail += lane["cells"].size();
    CHECK(detail > before);
    before = detail;
  }
  const Result<std::string> none =
      html_file(served.model, whole(served.model, selection_page().size() + 100));
  REQUIRE_FALSE(none);
  CHECK(none.error().message.starts_with("--size: "));
}

TEST_CASE("a page that needs no server can hold a part of the recording") {
  if (selection_page().empty()) return;
  const Served served(find_recording());
  const std::uint64_t zero = served.model.zero();
  const Result<std::string> page = html_file(
      served.model, {.from = zero + 100'000, .to = zero + 126'000, .most_bytes = 5'000'000});
  REQUIRE(page);
  const json held = held_in(*page);
  CHECK(held["info"]["begin"] == 100'000);
  CHECK(held["info"]["end"] == 126'000);
  CHECK(held["info"]["whole"][0] == 0);
  CHECK(held["stats"] == served.ask("stats", {{"from", "100000"}, {"to", "126000"}}));
  CHECK(held["events"].size() > 3);
  for (const json& event : held["events"]) CHECK(event[0].get<int>() >= 100'000);
}
