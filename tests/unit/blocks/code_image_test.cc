// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/code_image.h"

#include <catch2/catch.hpp>

#include "lib/base/read_file.h"
#include "lib/blocks/block_report.h"
#include "tests/unit/blocks/made_code.h"

using namespace fkt;

namespace {

std::string text_of(const CodeImage& image, std::string_view name, BlockDetails details) {
  const auto found = image.named(name);
  REQUIRE(found.size() == 1);
  const auto graph = FlowGraph::of(image, *found.front());
  REQUIRE(graph);
  TextWriter out;
  write_blocks_text(out, {image, *graph, hooks_of(image, *graph)}, details);
  return out.take();
}

}  // namespace

TEST_CASE("a module's file: relocated, with its tables and what is put aside") {
  const auto image = CodeImage::of_file(FKT_MADE_MODULE);
  REQUIRE(image);
  CHECK(
      text_of(*image, "work", {.why = true}) ==
      "work: 0xffffffffc0000000, 50 bytes, 6 blocks, 9 edges\n"
      " Block    Offset Bytes Instr. Hook            Cost Leads to\n"
      "     0      +0x0    13      3 splice +0x7       10 5 branch, 1\n"
      "     1      +0xd     4      1 none               - (4 label), 2  (no instruction has five "
      "bytes)\n"
      "     2     +0x11     3      1 kprobe +0x11       - 4 exception, 3  (no instruction has five "
      "bytes)\n"
      "     3     +0x14    12      3 splice +0x14       8 returns\n"
      "     4     +0x20     6      2 splice +0x20       8 returns\n"
      "     5     +0x80    12      3 kprobe +0x80       - 1 jump  (the compiler put it aside, and "
      "the module does not look there)\n");
}

TEST_CASE("functions of other files have names, and are none of this one's") {
  const auto image = CodeImage::of_file(FKT_MADE_MODULE);
  REQUIRE(image);
  const auto found = image->named("outside");
  REQUIRE(found.size() == 1);
  CHECK(CodeImage::is_missing(*found.front()));
  CHECK(found.front()->forbidden != nullptr);
  CHECK(text_of(*image, "helper", {}).ends_with("tail_call outside\n"));
}

TEST_CASE("names from a file do nothing to a terminal") {
  MadeCode code;
  code.function("f\x1b[31m\n", 0, "0f 1f 44 00 00 e8 f6 00 00 00 c3");
  code.function("g\x1b]0;t\"", 0x100, "0f 1f 44 00 00 c3");
  const CodeImage image = code.image();
  const auto graph = FlowGraph::of(image, image.functions().front());
  REQUIRE(graph);
  const FunctionBlocks blocks{image, *graph, hooks_of(image, *graph)};
  TextWriter text, dot;
  write_blocks_text(text, blocks, {.code = true});
  write_blocks_dot(dot, blocks, {.code = true});
  for (const TextWriter* out : {&text, &dot}) {
    CHECK(out->view().find('\x1b') == std::string_view::npos);
    CHECK(out->view().find("x1b[31m") != std::string_view::npos);
    CHECK(out->view().find("x1b]0;t") != std::string_view::npos);
  }
}

TEST_CASE("files that hold no code are refused in words") {
  const auto wrong = CodeImage::of_bytes("no ELF file", "name");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == ErrorCode::usage);
  CHECK(wrong.error().message ==
        "name: neither a kernel nor a module for x86-64 (a compressed one is to be unpacked)");
  const auto endless = CodeImage::of_file("/dev/zero");
  REQUIRE_FALSE(endless);
  CHECK(endless.error().message == "/dev/zero: no regular file");
  const auto bytes = read_file(FKT_MADE_MODULE);
  REQUIRE(bytes);
  for (std::size_t size = 0; size < bytes->size(); size += 7) {
    const auto cut = CodeImage::of_bytes(bytes->substr(0, size), "cut");
    if (cut) CHECK_FALSE(cut->functions().empty());
  }
}
