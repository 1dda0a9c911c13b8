// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/flow_graph.h"

#include <catch2/catch.hpp>

#include "lib/blocks/block_hooks.h"
#include "tests/unit/blocks/made_code.h"

using namespace fkt;

namespace {

// The nop at the entry of a function that ftrace can trace.
#define ENTRY "0f 1f 44 00 00 "

FlowGraph graph_of(const CodeImage& image, std::string_view name) {
  const auto found = image.named(name);
  REQUIRE(found.size() == 1);
  auto graph = FlowGraph::of(image, *found.front());
  REQUIRE(graph);
  return *graph;
}

// "0-1 falls, 0-2 branch, 1- returns"
std::string edges_text(const FlowGraph& graph) {
  std::string text;
  for (const FlowEdge& edge : graph.edges()) {
    if (!text.empty()) text += ", ";
    text += std::to_string(edge.from) + '-';
    if (edge.to != FlowEdge::kOutside) text += std::to_string(edge.to);
    text += ' ' + std::string(edge_key(edge.kind));
    if (!edge.is_open) text += " closed";
  }
  return text;
}

std::string hooks_text(const CodeImage& image, const FlowGraph& graph) {
  std::string text;
  for (const BlockHook& hook : hooks_of(image, graph)) {
    if (!text.empty()) text += ' ';
    text += hook_key(hook.kind);
  }
  return text;
}

}  // namespace

TEST_CASE("a condition makes three blocks, and padding none") {
  MadeCode code;
  // test %edi,%edi; je +10; mov $1,%eax; ret; nop; mov $2,%eax; ret; int3; int3
  code.function("f", 0, ENTRY "85 ff 74 0a b8 01 00 00 00 c3 0f 1f 40 00 b8 02 00 00 00 c3 cc cc");
  const CodeImage image = code.image();
  const FlowGraph graph = graph_of(image, "f");
  CHECK(edges_text(graph) == "0-2 branch, 0-1 falls, 1- returns, 2- returns");
  CHECK(graph.is_traceable());
  CHECK(graph.blocks()[2].begin == kMadeBegin + 0x13);
  CHECK(graph.blocks()[2].end == kMadeBegin + 0x19);
  CHECK(hooks_text(image, graph) == "derived splice splice");
}

TEST_CASE("a loop, a tail call, and a call that does not come back") {
  MadeCode code;
  // dec %edi; jne -4 (to itself); jmp g | g: call g, and nothing behind it
  code.function("f", 0, ENTRY "ff cf 75 fc e9 f2 00 00 00");
  code.function("g", 0x100, ENTRY "e8 f6 ff ff ff");
  const CodeImage image = code.image();
  CHECK(edges_text(graph_of(image, "f")) == "0-1 falls, 1-1 branch, 1-2 falls, 2- tail_call");
  CHECK(graph_of(image, "f").edges()[3].target == kMadeBegin + 0x100);
  CHECK(edges_text(graph_of(image, "g")) == "0- stops");
}

TEST_CASE("a part put aside belongs to its function") {
  MadeCode code;
  // test %edi,%edi; jne f.cold; ret | f.cold: mov $5,%eax; jmp to the ret
  code.function("f", 0, ENTRY "85 ff 0f 85 f3 00 00 00 c3");
  code.function("f.cold", 0x100, "b8 05 00 00 00 e9 03 ff ff ff");
  const CodeImage image = code.image();
  CHECK(edges_text(graph_of(image, "f")) == "0-2 branch, 0-1 falls, 1- returns, 2-1 jump");
}

TEST_CASE("sites of the kernel's tables: static branches, faults, warnings") {
  MadeCode code;
  // 5: nop5 (jump label to 0x13); a: mov (%rdi),%rax (may fault, goes on at 0x13); d: ud2
  // (warning); f: xor %eax,%eax; 11: ret; 12: nop; 13: mov $1,%eax; 18: ret
  code.function("f", 0, ENTRY "0f 1f 44 00 00 48 8b 07 0f 0b 31 c0 c3 90 b8 01 00 00 00 c3");
  code.table("__jump_table", {{0x5, 0x13}}, 16);
  code.table("__ex_table", {{0xa, 0x13}}, 12);
  code.table("__bug_table", {{0xd}}, 12);
  code.parts.pieces.back().bytes[10] = 1;  // a warning
  const CodeImage image = code.image();
  const FlowGraph graph = graph_of(image, "f");
  CHECK(edges_text(graph) ==
        "0-3 label closed, 0-1 falls, 1-3 exception, 1-2 falls, 2- returns, 3- returns");
  code.parts.pieces.back().bytes[10] = 0;  // a bug: nothing leads behind it
  const CodeImage other = code.image();
  CHECK(edges_text(graph_of(other, "f")) ==
        "0-4 label closed, 0-1 falls, 1-4 exception, 1-2 falls, 2- stops, 3- returns, 4- returns");
}

TEST_CASE("indirect jumps, by a table of addresses or to where nobody knows") {
  MadeCode code;
  code.function("f", 0, ENTRY "ff 24 fd 00 10 00 81 31 c0 c3 31 c9 c3");
  code.function("g", 0x100, ENTRY "ff e0");
  std::string table(16, '\0');
  const std::uint64_t targets[] = {kMadeBegin + 0xc, kMadeBegin + 0xf};
  std::memcpy(table.data(), targets, sizeof targets);
  code.parts.pieces.push_back({kMadeBegin + 0x1000, table, false});
  const CodeImage image = code.image();
  CHECK(edges_text(graph_of(image, "f")) == "0-1 table, 0-2 table, 1- returns, 2- returns");
  CHECK(edges_text(graph_of(image, "g")) == "0- unknown");
}

TEST_CASE("counts follow from others where the flow allows it") {
  MadeCode code;
  // 0: test, je 2 | 1: inc %eax (no splice) | 2: test, je 4 | 3: mov $1,%eax | 4: ret
  code.function("f", 0, ENTRY "85 ff 74 02 ff c0 85 f6 74 05 b8 01 00 00 00 c3");
  const CodeImage image = code.image();
  const FlowGraph graph = graph_of(image, "f");
  CHECK(edges_text(graph) ==
        "0-2 branch, 0-1 falls, 1-2 falls, 2-4 branch, 2-3 falls, 3-4 falls, 4- returns");
  // 3 alone is known, of the others nothing follows.
  CHECK(hooks_text(image, graph) == "kprobe kprobe kprobe splice kprobe");
}

TEST_CASE("nothing is hooked where the kernel forbids it") {
  MadeCode code;
  code.function("free", 0, "b8 01 00 00 00 c3");
  code.function("gs", 0x100, ENTRY "0f 01 f8 b8 01 00 00 00 c3");
  code.function("entry", 0x200, ENTRY "b8 01 00 00 00 c3");
  code.parts.forbidden.emplace_back(CodeImage::Range{kMadeBegin + 0x200, kMadeBegin + 0x210}, "no");
  const CodeImage image = code.image();
  for (const char* name : {"free", "gs", "entry"}) {
    CHECK(hooks_text(image, graph_of(image, name)) == "none");
    CHECK(hooks_of(image, graph_of(image, name)).front().why != nullptr);
  }
}

TEST_CASE("where a section's size is not known, its last function ends where nothing leads on") {
  MadeCode code;
  // test %edi,%edi; je +1; ret; ret | what lies there besides
  code.function("f", 0, ENTRY "85 ff 74 01 c3 c3 00 00 06");
  code.parts.pieces.back().has_open_end = true;
  const CodeImage image = code.image();
  CHECK(edges_text(graph_of(image, "f")) == "0-2 branch, 0-1 falls, 1- returns, 2- returns");
  CHECK(graph_of(image, "f").blocks()[2].end == kMadeBegin + 0xb);
}

TEST_CASE("a function that is no code") {
  MadeCode code;
  code.function("data", 0, "06 07 0e");
  const CodeImage image = code.image();
  const auto graph = FlowGraph::of(image, image.functions().front());
  REQUIRE_FALSE(graph);
  CHECK(graph.error().message == "data: no instruction begins at +0x0");
}

TEST_CASE("much padding takes no time") {
  MadeCode code;
  std::string hex = ENTRY "c3";
  for (int i = 0; i < 200000; i++) hex += " cc";
  code.function("f", 0, hex);
  const CodeImage image = code.image();
  CHECK(graph_of(image, "f").blocks().size() == 1);
}
