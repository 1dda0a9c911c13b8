// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/coverage.h"

#include <catch2/catch.hpp>

#include "lib/blocks/cover_report.h"
#include "tests/unit/blocks/made_code.h"

using namespace fkt;

namespace {

std::vector<Covered> letters(std::string_view text) {
  std::vector<Covered> blocks;
  for (const char c : text) blocks.push_back(static_cast<Covered>(c));
  return blocks;
}

// Returns what follows for the blocks of code from what was seen of them.
std::string derived(std::string_view hex, std::string_view seen) {
  MadeCode code;
  code.function("f", 0, hex);
  const CodeImage image = code.image();
  const auto graph = FlowGraph::of(image, *image.named("f").front());
  REQUIRE(graph);
  auto blocks = letters(seen);
  REQUIRE(graph->blocks().size() == blocks.size());
  derive_covered(*graph, blocks);
  std::string text;
  for (const Covered block : blocks) text += static_cast<char>(block);
  return text;
}

Coverage coverage(std::string_view blocks, std::string kernel = "6.12") {
  Coverage made;
  made.kernel = std::move(kernel);
  made.commands = {"true <&>"};
  FunctionCoverage& function = made.functions[{"ext4", ".text", 64, "f"}];
  function.blocks = letters(blocks);
  const auto file = made.file("fs/a&b.c");
  for (std::uint32_t i = 0; i < blocks.size(); i++) function.lines.push_back({file, 10 + i, i});
  return made;
}

std::string written(const Coverage& one) {
  TextWriter out;
  one.write(out);
  return std::string(out.view());
}

std::string merged(std::string_view one, std::string_view other) {
  Coverage all = coverage(one);
  REQUIRE(all.add(coverage(other)));
  CHECK(all.commands.size() == 2);
  std::string text;
  for (const Covered block : all.functions.begin()->second.blocks) text += static_cast<char>(block);
  return text;
}

template <class Write>
std::string report(Write write, const Coverage& one) {
  TextWriter out;
  REQUIRE(write(out, one));
  return std::string(out.view());
}

// Block 0: test, je to 2; 1: mov; 2: ret.
constexpr const char* kCondition = "85 ff 74 05 b8 01 00 00 00 c3";
// 0: test; 1: dec, jne to 1; 2: je to 4; 3: nop; 4: ret.
constexpr const char* kLoop = "85 ff 74 04 ff cf 75 fc 74 01 90 c3";

}  // namespace

TEST_CASE("what was executed follows from what was seen of others") {
  // What leads there, and where it leads.
  CHECK(derived(kCondition, "?h?") == "HhH");
  CHECK(derived(kCondition, "hm?") == "hmH");
  // Both ways into the last block.
  CHECK(derived(kCondition, "??h") == "H?h");
  CHECK(derived(kCondition, "h?h") == "h?h");
  CHECK(derived(kCondition, "???") == "???");
}

TEST_CASE("what was not entered was not executed, loops, too") {
  CHECK(derived(kCondition, "m??") == "mMM");
  CHECK(derived(kLoop, "m????") == "mMMMM");
  CHECK(derived(kLoop, "???m?") == "???m?");
  // A loop may not have ended.
  CHECK(derived(kLoop, "????m") == "??MMm");
}

TEST_CASE("a run's file says what was written into it") {
  const Coverage one = coverage("hmHM?");
  const auto read = Coverage::parse(written(one), "x");
  REQUIRE(read);
  CHECK(written(*read) == written(one));
}

TEST_CASE("runs together have missed what each has missed") {
  CHECK(merged("hhmHM?m?", "mHmmMh?H") == "hhmHMh?H");
  CHECK(merged("mM", "Mm") == "MM");
}

TEST_CASE("counts of blocks tell a run's, where it knows them") {
  MadeCode code;
  code.function("f", 0, kCondition);
  code.parts.kernel_text = kMadeBegin;
  const CodeImage image = code.image();
  const CodeFunction& function = *image.named("f").front();
  const auto graph = FlowGraph::of(image, function);
  const auto key = CoveredFunction::of(image, function);
  REQUIRE(key);
  Coverage run;
  run.functions[*key].blocks = letters("Hm?");
  const CountFlow flow = run.counts(image, *graph);
  CHECK(flow.block(0) == 1);
  CHECK(flow.block(1) == 0);
  CHECK_FALSE(flow.block(2));
  CHECK_FALSE(Coverage{}.counts(image, *graph).block(0));
}

TEST_CASE("runs of other kernels are not added") {
  Coverage all = coverage("h");
  CHECK_FALSE(all.add(coverage("h", "6.1")));
  CHECK_FALSE(all.add(coverage("hh")));
}

TEST_CASE("what is no run's file, or damaged, is refused") {
  CHECK(Coverage::parse("{}", "x").error().code == ErrorCode::format);
  CHECK(Coverage::parse("", "x").error().code == ErrorCode::format);
  CHECK(Coverage::parse(R"({"fkt_coverage":9})", "x").error().code == ErrorCode::version);
  std::string text = written(coverage("hm"));
  for (const auto& [from, to] : {std::pair{"\"hm\"", "\"hx\""},
                                 {"[0,10,0]", "[1,10,0]"},
                                 {"[0,10,0]", "[0,10,2]"},
                                 {"[0,10,0]", "[0,10]"},
                                 {"\"offset\":64", "\"offset\":-1"},
                                 {"\"ext4\"", "7"},
                                 {"[\"fs/a&b.c\"]", "[\"a\",\"a\"]"}}) {
    std::string bad = text;
    const auto at = bad.find(from);
    REQUIRE(at != bad.npos);
    bad.replace(at, std::string_view(from).size(), to);
    INFO(to);
    CHECK(Coverage::parse(bad, "x").error().code == ErrorCode::damaged);
  }
}

TEST_CASE("source lines for other programs; lines of unknown blocks are left out") {
  const Coverage one = coverage("hM?H");
  CHECK(report(write_lcov, one) ==
        "TN:\nSF:fs/a&b.c\nFN:10,f\nFNDA:1,f\nFNF:1\nFNH:1\nDA:10,1\nDA:11,0\nDA:13,1\n"
        "LF:3\nLH:2\nend_of_record\n");
  const std::string xml = report(write_cobertura, one);
  CHECK(xml.find("filename=\"fs/a&amp;b.c\" line-rate=\"0.6667\"") != xml.npos);
  CHECK(xml.find("<line number=\"11\" hits=\"0\"/>\n<line number=\"13\" hits=\"1\"/>") != xml.npos);
  TextWriter out;
  CHECK(write_lcov(out, Coverage{}).error().code == ErrorCode::absent);
}

TEST_CASE("the table has a line for each function that was entered, and the sums") {
  TextWriter out;
  Coverage one = coverage("hM?H");
  one.functions[{"", "", 0, "g"}].blocks = letters("mM");
  write_cover_text(out, one);
  const std::string text(out.view());
  CHECK(text.find("fs/a&b.c") != text.npos);
  CHECK(text.find(" g ") == text.npos);
  CHECK(text.find("1 of 2 functions were entered; 2 of 6 blocks executed (33.3 %): 1 seen, 1 "
                  "derived; 3 missed, 1 unknown\n") != text.npos);
}

TEST_CASE("two runs differ in what one has executed and the other has missed") {
  const auto difference = [](std::string_view a, std::string_view b) {
    TextWriter out;
    REQUIRE(write_cover_diff(out, coverage(a), coverage(b)));
    return std::string(out.view());
  };
  CHECK(difference("hhm?", "hmH?") ==
        "only the first one has executed:\n  [ext4] f: blocks 1 (fs/a&b.c:11)\n"
        "only the second one has executed:\n  [ext4] f: blocks 2 (fs/a&b.c:12)\n");
  CHECK(difference("mm", "hH").find("[ext4] f: the whole function, blocks 0 (fs/a&b.c:10), 1 ") !=
        std::string::npos);
  CHECK(difference("h?", "?m") == "neither has executed what the other one has missed\n");
  TextWriter out;
  CHECK_FALSE(write_cover_diff(out, coverage("h"), coverage("h", "6.1")));
}
