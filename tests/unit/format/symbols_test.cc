// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/symbols.h"

#include <span>
#include <string>

#include <catch2/catch.hpp>

using fkt::Symbols;

namespace {

Symbols sample() {
  auto symbols = Symbols::parse(
      "#\tkaslr_offset=0x1000000\tsource=kallsyms\n"
      "0\tA\tfixed_percpu_data\n"
      "ffffffff81000000\tt\tlocal_alias\n"
      "ffffffff81000000\tT\t_text\n"
      "ffffffff81000100\tT\tdo_one\n"
      "ffffffffc0000000\tt\tprobe\tfkt\tmore\n");
  REQUIRE(symbols);
  return *symbols;
}

}  // namespace

TEST_CASE("an address gets its symbol's name, offset and module") {
  const Symbols s = sample();
  CHECK(s.name(0xffffffff81000100) == "do_one");
  CHECK(s.name(0xffffffff8100011c) == "do_one+0x1c");
  CHECK(s.name(0xffffffff810000ff) == "_text+0xff");
  CHECK(s.name(0xffffffffc0000000) == "probe [fkt]");
  CHECK(s.name(0xffffffffc0000010) == "probe+0x10 [fkt]");
}

TEST_CASE("addresses without a symbol stay numbers") {
  const Symbols s = sample();
  // In user space; symbols there are per-CPU offsets, not addresses.
  CHECK(s.name(0x401000) == "0x401000");
  CHECK(s.at(0xffffffff80ffffff) == nullptr);
  CHECK(s.at(0xffffffff82000000) == nullptr);  // too far after do_one
  CHECK(s.at(~0ULL) == nullptr);
  CHECK(Symbols().name(1) == "0x1");
  CHECK(Symbols().empty());
}

TEST_CASE("lines out of order are sorted") {
  const auto s = Symbols::parse("ffffffff81000100\tt\tb\nffffffff81000000\tt\ta\n");
  REQUIRE(s);
  CHECK(s->all().front().name == "a");
  CHECK(s->name(0xffffffff81000001) == "a+0x1");
}

TEST_CASE("a line without address is an error with its number") {
  const auto s = Symbols::parse("ffffffff81000100\tt\tb\nhello\n");
  REQUIRE_FALSE(s);
  CHECK(s.error().message == "symbols: line 2 does not begin with an address");
}

TEST_CASE("a section's symbols are read when one is asked for") {
  const std::string text = "ffffffff81000000\tT\t_text\nffffffffc0000000\tt\tprobe\tfkt\n";
  fkt::Section section{{FKT_SECTION_MAGIC, FKT_SEC_SYMBOLS, 0, 0, text.size(), text.size()},
                       std::as_bytes(std::span(text)),
                       64};
  section.header.checksum = fkt::section_checksum(section.header, section.stored);
  Symbols copy;
  {
    const auto symbols = Symbols::of(section);
    REQUIRE(symbols);
    copy = *symbols;
  }
  section.stored = {};
  CHECK(copy.name(0xffffffffc0000002) == "probe+0x2 [fkt]");
  CHECK(copy.all().size() == 2);
}

TEST_CASE("a damaged section of symbols is refused before any is asked for") {
  const std::string text = "ffffffff81000000\tT\t_text\n";
  const fkt::Section section{{FKT_SECTION_MAGIC, FKT_SEC_SYMBOLS, 0, 1, text.size(), text.size()},
                             std::as_bytes(std::span(text)),
                             64};
  const auto symbols = Symbols::of(section);
  REQUIRE_FALSE(symbols);
  CHECK(symbols.error().message.find("its checksum does not match") != std::string::npos);
}

TEST_CASE("a section that is no list of symbols has none") {
  const std::string text = "hello\n";
  fkt::Section section{{FKT_SECTION_MAGIC, FKT_SEC_SYMBOLS, 0, 0, text.size(), text.size()},
                       std::as_bytes(std::span(text)),
                       64};
  section.header.checksum = fkt::section_checksum(section.header, section.stored);
  const auto symbols = Symbols::of(section);
  REQUIRE(symbols);
  CHECK(symbols->empty());
}
