// SPDX-License-Identifier: GPL-2.0-only
// Tests reading /proc/kallsyms and adding symbols from a System.map.
#include <catch2/catch.hpp>

#include "lib/record/kernel_symbols.h"

using namespace fkt;

namespace {

// A kernel running 0x4000000 above its link address, with a per-CPU offset and a module.
const char* const kKallsyms =
    "0000000000001000 A cpu_tss_rw\n"
    "ffffffff85000000 T _text\n"
    "ffffffff85000000 T _stext\n"
    "ffffffff85001000 t helper\n"
    "ffffffff85002000 T do_fork\n"
    "ffffffff85003000 t helper\n"
    "ffffffffc0000000 t helper\t[ext4]\n";

KernelSymbols merged(const std::string& map) {
  KernelSymbols kernel = parse_kallsyms(kKallsyms);
  const Status status = merge_system_map(kernel, "map", map);
  REQUIRE(status);
  return kernel;
}

std::string refused(KernelSymbols kernel, const std::string& map) {
  const Status status = merge_system_map(kernel, "map", map);
  REQUIRE_FALSE(status);
  return status.error().message;
}

}  // namespace

TEST_CASE("kallsyms is read with its modules, and tells the KASLR offset") {
  const KernelSymbols kernel = parse_kallsyms(kKallsyms);
  CHECK_FALSE(kernel.hidden);
  CHECK(kernel.kaslr_offset == 0x4000000);
  REQUIRE(kernel.symbols.size() == 7);
  CHECK(kernel.symbols.back().name == "helper");
  CHECK(kernel.symbols.back().module == "ext4");
  CHECK(kernel.symbols.back().address == 0xffffffffc0000000);
}

TEST_CASE("addresses that all read 0 are none") {
  const KernelSymbols kernel =
      parse_kallsyms("0000000000000000 T _text\n0000000000000000 t helper\t[ext4]\n");
  CHECK(kernel.hidden);
  CHECK(kernel.symbols.empty());
  CHECK_THAT(refused(kernel, "ffffffff81000000 T _text\n"),
             Catch::Matchers::Contains("cannot be placed"));
}

TEST_CASE("System.map's own symbols are added where they run") {
  const KernelSymbols kernel = merged(
      "0000000000001000 A cpu_tss_rw\n"
      "ffffffff81000000 T _text\n"
      "ffffffff81001000 t helper\n"
      "ffffffff81002000 T do_fork\n"
      "ffffffff81002800 t only_here\n"
      "ffffffff81003000 t helper\n");
  CHECK(kernel.contradictions == 0);
  CHECK(kernel.added == 1);
  REQUIRE(kernel.symbols.size() == 8);
  CHECK(kernel.symbols[5].name == "only_here");
  CHECK(kernel.symbols[5].address == 0xffffffff85002800);
}

TEST_CASE("a System.map of another build is contradicted") {
  const KernelSymbols kernel = merged(
      "ffffffff81000000 T _text\n"
      "ffffffff81001000 t helper\n"
      "ffffffff81001800 t helper\n"
      "ffffffff81002040 T do_fork\n");
  CHECK(kernel.contradictions == 2);
  CHECK(kernel.examples == std::vector<std::string>{"helper", "do_fork"});
  CHECK(kernel.added == 0);
  CHECK(kernel.symbols.size() == 7);  // the symbols of the running kernel are kept
}

TEST_CASE("what is no System.map is refused by name") {
  const KernelSymbols kernel = parse_kallsyms(kKallsyms);
  CHECK(refused(kernel,
                "ffffffffffffffff B The real System.map is in the linux-image-6.1.0-1-amd64-dbg "
                "package\n") ==
        "map: it is only a placeholder: the real System.map is in package "
        "linux-image-6.1.0-1-amd64-dbg");
  CHECK_THAT(refused(kernel, "hello\n"), Catch::Matchers::StartsWith("map: not a System.map"));
  CHECK_THAT(refused(kernel, ""), Catch::Matchers::StartsWith("map: not a System.map"));
  CHECK_THAT(refused(kernel, "ffffffff81002000 T do_fork\n"),
             Catch::Matchers::Contains("cannot be placed"));
}

TEST_CASE("the file's lines read back as the same symbols") {
  const KernelSymbols kernel = merged("ffffffff81000000 T _text\nffffffff81000800 t more\n");
  const std::string lines = kernel.to_lines();
  CHECK_THAT(lines, Catch::Matchers::StartsWith("#\tkaslr_offset=0x4000000\tsource=kallsyms\t"
                                                "system_map=map\tcontradictions=0\n"));
  const Result<Symbols> read = Symbols::parse(lines);
  REQUIRE(read);
  CHECK(read->name(0xffffffff85000810) == "more+0x10");
  CHECK(read->name(0xffffffffc0000000) == "helper [ext4]");
}
