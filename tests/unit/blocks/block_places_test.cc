// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/block_places.h"

#include <fmt/core.h>
#include <catch2/catch.hpp>

#include "lib/instrument/instrument.h"
#include "tests/unit/blocks/made_code.h"

using namespace fkt;

namespace {

// Block 0: test, je to 3; 1: cmp, jl to 3; 2: ud2; 3: mov, ret. Two ways lead to block 3.
MadeCode made() {
  MadeCode code;
  code.function("f", 0,
                "85 ff"           // +0 test edi,edi
                "74 07"           // +2 je +0xb
                "83 ff 05"        // +4 cmp edi,5
                "7c 02"           // +7 jl +0xb
                "0f 0b"           // +9 ud2
                "b8 01 00 00 00"  // +b mov eax,1
                "c3");            // +10 ret
  code.function("g", 0x100, "b8 02 00 00 00 c3");
  code.function("spliced", 0x200,
                "0f 1f 44 00 00"  // +0 the function tracer's
                "85 ff"           // +5 test edi,edi
                "b9 01 00 00 00"  // +7 mov ecx,1
                "74 07"           // +c je +0x15
                "b8 01 00 00 00"  // +e mov eax,1
                "eb 05"           // +13 jmp +0x1a
                "ba 02 00 00 00"  // +15 mov edx,2
                "c3");            // +1a ret
  return code;
}

Result<BlockPlaces> found(const std::string& text, Splices splices = Splices::none) {
  const auto instrument = Instrument::parse(text);
  REQUIRE(instrument);
  const CodeImage image = made().image();
  SourceLines lines(image, false);
  return find_block_places(instrument->place, splices, image, lines);
}

std::string refusal(const std::string& text) {
  const auto places = found(text);
  REQUIRE_FALSE(places);
  return places.error().message;
}

void check_one(const std::string& text, std::uint64_t offset, const std::string& name,
               const std::string& condition) {
  INFO(text);
  const auto places = found(text);
  REQUIRE(places);
  REQUIRE(places->places.size() == 1);
  const InstructionPlace& place = places->places.front();
  CHECK(place.address == kMadeBegin + offset);
  CHECK(place.name == name);
  CHECK((place.condition ? place.condition->text() : "") == condition);
}

}  // namespace

TEST_CASE("a block is seen at its first instruction, and at its exit before its last one") {
  check_one("block:f:0", 0, "f:0", "");
  check_one("block:f:0:exit", 2, "f:0:exit", "");
  check_one("block:f:3", 0xb, "f:3", "");
}

TEST_CASE("every block of functions, but those that cannot be probed") {
  const auto places = found("block:f,g:*");
  REQUIRE(places);
  std::string names;
  for (const InstructionPlace& place : places->places) names += place.name + ' ';
  CHECK(names == "f:0 f:1 f:3 g:0 ");
  REQUIRE(places->left_out.size() == 1);
  CHECK(places->left_out.front().name == "f:2");
}

// Returns where all blocks of the function "spliced" are seen, and what is left out.
std::string spliced(Splices splices) {
  const auto places = found("block:spliced:*", splices);
  REQUIRE(places);
  std::string text;
  for (const InstructionPlace& place : places->places) {
    text += fmt::format("{}+{:x} ", place.name, place.address - kMadeBegin - 0x200);
  }
  for (const auto& [name, reason] : places->left_out) text += name + ": " + reason + ' ';
  return text;
}

TEST_CASE("spliced blocks are seen at an instruction that can be, and others' counts follow") {
  CHECK(spliced(Splices::counts) ==
        "spliced:0+7 spliced:1+e spliced:2+15 "
        "spliced:3: its count follows from others' (fkt_blocks --hits tells it) ");
  CHECK(spliced(Splices::events) == "spliced:0+7 spliced:1+e spliced:2+15 spliced:3+1a ");
}

TEST_CASE("a way between blocks is seen where it is the only one, or by the processor's flags") {
  check_one("edge:f:0-1", 4, "f:0-1", "");
  check_one("edge:f:0-3", 2, "f:0-3", "regs.zf == 1");
  check_one("edge:f:1-3", 7, "f:1-3", "regs.sf != regs.of");
}

TEST_CASE("blocks, ways and functions that are not there") {
  CHECK(refusal("block:f:4") == "f has no block 4: its last one is 3 (fkt_blocks shows them)");
  CHECK(refusal("edge:f:0-2") ==
        "no way leads from block 0 to block 2 of f (fkt_blocks shows them)");
  CHECK(refusal("block:h:0").find("no function is called \"h\"") == 0);
  CHECK(refusal("block:f:2").find("f:2 cannot be probed: ") == 0);
  CHECK(refusal("line:f.c:3").find("no debug information") == 0);
}
