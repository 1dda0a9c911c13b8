// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/block_counts.h"

#include <catch2/catch.hpp>

#include "tests/unit/blocks/made_code.h"

using namespace fkt;

namespace {

// Block 0: test, je to 2; 1: mov; 2: ret.
CodeImage counted_image() {
  MadeCode code;
  code.function("f", 0, "85 ff 74 05 b8 01 00 00 00 c3");
  return code.image();
}

InstrumentResult counted(const std::string& text, std::uint64_t hits) {
  InstrumentResult result;
  result.text = text;
  result.of = "instruction";
  result.action = "count";
  result.places = 1;
  result.cpus = {{.cpu = 0, .hits = {.kept = hits}}};
  return result;
}

CountFlow counts(std::vector<InstrumentResult> instruments) {
  const CodeImage image = counted_image();
  const auto graph = FlowGraph::of(image, *image.named("f").front());
  REQUIRE(graph);
  HitResults results;
  results.instruments = std::move(instruments);
  return BlockCounts(results).of(*graph);
}

}  // namespace

TEST_CASE("counts of blocks and ways follow from those of some") {
  const CountFlow flow = counts({counted("block:f:0 do count", 10), counted("block:f:* (f:1)", 4)});
  CHECK(flow.block(0) == 10);
  CHECK(flow.block(1) == 4);
  CHECK(flow.block(2) == 10);
  // The graph's first two ways lead out of block 0.
  CHECK(*flow.edge(0) + *flow.edge(1) == 10);
}

TEST_CASE("a way's count is one, too; other instruments have none") {
  const CountFlow flow =
      counts({counted("block:f:2 do count", 7), counted("edge:f:0-2 do count", 5),
              counted("block:f:0:exit do count", 3), counted("call:g", 9),
              counted("block:f,g:1 do count", 2)});
  CHECK(flow.block(1) == 2);
  CHECK(flow.block(0) == 7);
}

TEST_CASE("what was recorded with values counts, too") {
  InstrumentResult recorded = counted("block:f:0 (regs.di)", 6);
  recorded.action = "record";
  CHECK(counts({recorded}).block(0) == 6);
}

TEST_CASE("a count that cannot be is none below nothing") {
  const CountFlow flow =
      counts({counted("block:f:0 do count", 3), counted("block:f:1 do count", 4)});
  CHECK(flow.block(2) == 4);
}

TEST_CASE("without counts nothing is known") {
  HitResults results;
  CHECK(BlockCounts(results).empty());
  const CountFlow flow = counts({counted("call:f", 1)});
  CHECK_FALSE(flow.block(0));
}
