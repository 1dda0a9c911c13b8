// SPDX-License-Identifier: GPL-2.0-only
#include "lib/format/symbol_words.h"

#include <string>

#include <catch2/catch.hpp>

using namespace fkt;

namespace {

Symbols kernel_of_words() {
  auto symbols = Symbols::parse(
      "0\tD\tper_cpu_start\n"
      "ffffffff81000000\tT\t_text\n"
      "ffffffff81000100\tT\tdo_one\n"
      "ffffffff81000200\tt\tread.part.0\n"
      "ffffffff81000300\tt\ttwice\n"
      "ffffffff81000400\tt\ttwice\n"
      "ffffffff81000500\tT\tstop\n"
      "ffffffff81000600\tD\ta_variable\n"
      "ffffffffc0000000\tt\tprobe\tfkt\n");
  REQUIRE(symbols);
  return *symbols;
}

}  // namespace

TEST_CASE("addresses in a text become names") {
  const AddressWords words(kernel_of_words());
  CHECK(words.translated("   23662   1333   0   0xffffffff81000100   0xffffffff81000078") ==
        "   23662   1333   0   do_one   _text+0x78");
  CHECK(words.translated("[<ffffffff81000210>] (0xFFFFFFFF81000300)") ==
        "[<read.part.0+0x10>] (twice)");
  CHECK(words.translated("probe: 0xffffffffc0000004") == "probe: probe+0x4");
  CHECK(words.translated("In 0xffffffff81000100.") == "In do_one.");
  CHECK(words.translated("") == "");
}

TEST_CASE("what is no address of the kernel stays") {
  const AddressWords words(kernel_of_words());
  for (const char* line :
       {"0x10", "0x401000", "0xffffffff80ffffff", "0xffffffffffffffff", "ffffffff81", "0x",
        "0xffffffff810001000", "0xfffffffg81000100", "_0xffffffff81000100", "deadbeef"}) {
    CHECK(words.translated(line) == line);
  }
  CHECK(AddressWords(Symbols()).translated("0xffffffff81000100") == "0xffffffff81000100");
}

TEST_CASE("names of functions in a text become addresses") {
  NameWords words(kernel_of_words());
  CHECK(words.translated("trigger start entry do_one") == "trigger start entry 0xffffffff81000100");
  CHECK(words.translated("filter funclist do_one,read.part.0 probe fend") ==
        "filter funclist 0xffffffff81000100,0xffffffff81000200 0xffffffffc0000000 fend");
  CHECK(words.translated("do_one+0x1c") == "0xffffffff81000100+0x1c");
  CHECK(words.ambiguous().empty());
}

TEST_CASE("what names no single function stays") {
  NameWords words(kernel_of_words());
  for (const char* line : {"trigger stop time 5", "# do_one", "\t# do_one", "a_variable", "do_on",
                           "do_one_", "per_cpu_start", "twice"}) {
    CHECK(words.translated(line) == line);
  }
  REQUIRE(words.ambiguous().size() == 1);
  CHECK(words.ambiguous().begin()->first == "twice");
  CHECK(words.ambiguous().begin()->second.size() == 2);
}

TEST_CASE("names and addresses go both ways") {
  NameWords names(kernel_of_words());
  const AddressWords addresses(kernel_of_words());
  for (const char* line : {"do_one", "x read.part.0 y", "probe,do_one"}) {
    CHECK(addresses.translated(names.translated(line)) == line);
  }
}

TEST_CASE("what stands in the place of a function and names none is known") {
  NameWords words(kernel_of_words());
  for (const char* line :
       {"trigger start entry do_fork  # entry of_a_comment", "filter mintime 500",
        "filter funclist do_one :mod:gone_module ext4_* !left_out", "twice 0x1234",
        "second_line fend", "watch stack", "filter caller gone_caller"}) {
    words.translated(line);
  }
  CHECK(words.unknown() ==
        std::set<std::string>{"do_fork", "left_out", "second_line", "gone_caller"});
  CHECK(words.replaced() == 1);
}
