// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/source_lines.h"

#include <catch2/catch.hpp>

using namespace fkt;

namespace {

CodeImage made_image() {
  auto image = CodeImage::of_file(FKT_MADE_LINES);
  REQUIRE(image);
  return std::move(*image);
}

std::string function_of(const CodeImage& image, std::uint64_t address) {
  const CodeFunction* const function = image.function_at(address);
  return function == nullptr ? "" : std::string(function->name);
}

}  // namespace

TEST_CASE("lines of a module's file: where each begins, and which one an instruction is of") {
  const CodeImage image = made_image();
  SourceLines lines(image, false);
  REQUIRE(lines.use(FKT_MADE_LINES));

  const auto twice = lines.addresses_of("made_lines.c", 7, "");
  REQUIRE(twice);
  REQUIRE(twice->size() == 2);
  CHECK(function_of(image, (*twice)[0]) == "made_first");
  CHECK(function_of(image, (*twice)[1]) == "made_second");
  for (const std::uint64_t address : *twice) {
    const auto line = lines.at(address);
    REQUIRE(line);
    CHECK(line->number == 7);
    CHECK(line->file.ends_with("blocks/made_lines.c"));
  }
  const auto once = lines.addresses_of("blocks/made_lines.c", 21, "");
  REQUIRE(once);
  CHECK(once->size() == 1);
  CHECK(function_of(image, once->front()) == "made_second");
  CHECK_FALSE(lines.at(0x1000));
}

TEST_CASE("a line without code is refused, with the next one that has some") {
  const CodeImage image = made_image();
  SourceLines lines(image, false);
  REQUIRE(lines.use(FKT_MADE_LINES));
  CHECK(lines.addresses_of("made_lines.c", 20, "").error().message ==
        "line 20 of made_lines.c has no code; the next one that has is 21");
  CHECK(lines.addresses_of("ade_lines.c", 7, "").error().message ==
        "no code is known of ade_lines.c");
}

TEST_CASE("files without debug information, and those that are none") {
  const CodeImage image = made_image();
  SourceLines lines(image, false);
  CHECK(lines.use("/nonesuch").error().message.find("/nonesuch: ") == 0);
  CHECK(lines.use("/dev/zero").error().message == "/dev/zero: no regular file");
  CHECK(lines.use("/etc/passwd").error().code == ErrorCode::io);
  CHECK_FALSE(lines.at(image.functions().front().begin));
  CHECK(lines.addresses_of("made_lines.c", 7, "").error().code == ErrorCode::io);
}
