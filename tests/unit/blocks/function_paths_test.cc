// SPDX-License-Identifier: GPL-2.0-only
// Tests which ways of a function's code are watched, and what is said of its paths.
#include "lib/blocks/function_paths.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "lib/blocks/path_report.h"
#include "tests/unit/blocks/made_code.h"

using namespace fkt;

namespace {

// A branch, and a loop behind it: blocks 0 to 3.
constexpr std::string_view kBranchAndLoop =
    "0f 1f 44 00 00 "  // the function tracer's place
    "85 ff 74 05 "     // test, je to 2
    "b8 01 00 00 00 "  // 1
    "ff cf 75 fc "     // 2: dec, jne to 2
    "c3";

struct MadePaths {
  CodeImage image;
  Result<FunctionPaths> paths;

  explicit MadePaths(std::string_view hex)
      : image(MadeCode().function("f", 0, hex).image()),
        paths(FunctionPaths::of(image, *image.named("f").front())) {}
};

std::string why_not(std::string_view hex) {
  const MadePaths made(hex);
  REQUIRE_FALSE(made.paths);
  CHECK(made.paths.error().code == ErrorCode::usage);
  return made.paths.error().message;
}

}  // namespace

TEST_CASE("a loop's way back is watched, and one of the ways that join") {
  const MadePaths made(kBranchAndLoop);
  REQUIRE(made.paths);
  const FunctionPaths& paths = *made.paths;
  CHECK(paths.numbers().paths() == 6);
  const auto places = paths.places();
  REQUIRE(places.size() == 3);
  CHECK(places[0] == "call:f");
  CHECK(std::ranges::count(places, "edge:f:2-2") == 1);
  const auto back = paths.way_named("f:2-2");
  REQUIRE(back);
  CHECK(paths.numbers().is_cut(*back));
  CHECK(paths.end_text(*back) == "to 2");
  CHECK_FALSE(paths.way_named("f:3"));
  const Path last = paths.numbers().path(5);
  CHECK(paths.blocks_of(last) == std::vector<std::uint32_t>{2, 3});
  CHECK(paths.end_text(last.ways.back()) == "returns");
}

TEST_CASE("a jump to the function's begin is another call of it") {
  // test, je to the begin; ret
  const MadePaths made("0f 1f 44 00 00 85 ff 74 f7 c3");
  REQUIRE(made.paths);
  CHECK(made.paths->numbers().paths() == 2);
  const Path one = made.paths->numbers().path(0);
  CHECK(made.paths->end_text(one.ways.back()) == "calls_itself");
}

TEST_CASE("functions whose paths cannot be told are refused") {
  CHECK(why_not("85 ff 74 01 90 c3").find("cannot trace") != std::string::npos);
  CHECK(why_not("0f 1f 44 00 00 ff e0").find("block 0 jumps") != std::string::npos);
}

TEST_CASE("a report has the paths with the most time first, and what is left out") {
  const MadePaths made(kBranchAndLoop);
  REQUIRE(made.paths);
  const PathNumbers& numbers = made.paths->numbers();
  PathProfile profile(numbers);
  const std::uint32_t back = *made.paths->way_named("f:2-2");
  std::uint32_t chord = back;
  for (std::uint32_t i = 0; i < numbers.ways().size(); i++) {
    if (numbers.is_watched(i) && i != back) chord = i;
  }
  REQUIRE(chord != back);
  // Each once; three rounds of the loop; one that ended in a gap.
  profile.end_call(1, 100, 300);
  profile.take(1, 410, chord);
  profile.take(1, 420, back);
  profile.take(1, 430, back);
  profile.end_call(1, 400, 480);
  profile.begin_gap();
  profile.end_call(1, 490, 500);
  PathReport report{*made.paths, profile};
  report.lost = 3;
  TextWriter text;
  write_paths_text(text, report, 2);
  const std::string said(text.view());
  CHECK(said.starts_with("f: 4 blocks, 6 ways, 4 of 6 paths taken in 2 calls\n"));
  CHECK(said.find("... 2 more") != std::string::npos);
  CHECK(said.find("1 call left out, because events may be lost") != std::string::npos);
  CHECK(said.find("3 events lost") != std::string::npos);
  CHECK(said.find("2 ways, 1 of which ends a path; 1.5 ways a call") != std::string::npos);
  TextWriter json;
  write_paths_json(json, report);
  const std::string data(json.view());
  CHECK(data.find(R"("cut":[[2,2]])") != std::string::npos);
  CHECK(data.find(R"("calls":2,"calls_ns":280,"ways_taken":3)") != std::string::npos);
  CHECK(data.find(R"("times":1,"total_ns":200,)") != std::string::npos);
  CHECK(data.find(R"("times":1,"total_ns":10,)") != std::string::npos);
  CHECK(data.find(R"("left_out":{"calls_in_gaps":1,"events_lost":3})") != std::string::npos);
}
