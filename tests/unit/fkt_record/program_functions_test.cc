// SPDX-License-Identifier: GPL-2.0-only
// Tests how functions of programs are found, named and numbered (fkt_record --functions), with this
// program's own.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "cli/fkt_record/user/program_functions.h"
#include "lib/instrument/function_name.h"
#include "tests/unit/texts.h"

using namespace fkt;
using namespace fkt::record;
using fkt::test::has;

// Has a symbol whatever the compiler does with it, and is as long as one that calls __fentry__.
extern "C" __attribute__((noinline)) int fkt_function_to_find(int n) {
  __asm__ volatile(".skip 16, 0x90");
  return n + 1;
}

namespace {

fkt_user_func at_function(std::uint64_t maps = 1) {
  return {reinterpret_cast<std::uintptr_t>(&fkt_function_to_find), maps};
}

}  // namespace

TEST_CASE("symbols of C++ are shown without arguments, results and blanks") {
  CHECK(function_name("main") == "main");
  CHECK(function_name("_ZN5trees4Tree3fibEi") == "trees::Tree::fib");
  CHECK(function_name("_ZNK5trees4Tree3fibEi") == "trees::Tree::fib");
  CHECK(function_name("_Z6throwsIiEvT_") == "throws<int>");
  CHECK(function_name("_ZN3mapIiSt6vectorIcSaIcEEE4findERKi") ==
        "map<int,std::vector<char,std::allocator<char>>>::find");
  CHECK(function_name("_Znwm") == "operator_new");
  CHECK(function_name("_ZlsRSoi") == "operator<<");
  CHECK(function_name("_ZNK1AclEi") == "A::operator()");
  CHECK(function_name("_ZNK1AptEv") == "A::operator->");
  CHECK(function_name("_ZN12_GLOBAL__N_14hideEv") == "(anonymous_namespace)::hide");
  CHECK(function_name("_ZZ4mainENKUlvE_clEv") == "main::{lambda()#1}::operator()");
  CHECK(function_name("_ZZ1fiENKUliE_clEi") == "f(int)::{lambda(int)#1}::operator()");
  CHECK(function_name("_Znot_mangled") == "_Znot_mangled");
  CHECK(function_name("a\tb\nc") == "a_b_c");
  CHECK(function_name(std::string(1000, 'x')).size() == 255);
}

TEST_CASE("of /proc/PID/maps the code of files is read") {
  const auto files = parse_maps(
      "00400000-00401000 r--p 00000000 08:01 77   /bin/a\n"
      "00401000-00402000 r-xp 00001000 08:01 77                         /bin/a b\n"
      "7ff000000000-7ff000001000 r-xp 00000000 00:00 0 \n"
      "7ff000002000-7ff000003000 r-xp 00000000 00:00 0    [vdso]\n"
      "nonsense\n"
      "7ff000004000-7ff000006000 r-xp 00003000 08:01 78 /lib/b.so (deleted)\n");
  REQUIRE(files.size() == 2);
  CHECK(files[0].begin == 0x401000);
  CHECK(files[0].end == 0x402000);
  CHECK(files[0].offset == 0x1000);
  CHECK(files[0].path == "/bin/a b");
  CHECK(files[1].path == "/lib/b.so (deleted)");
  CHECK(files[0].file() != files[1].file());
}

TEST_CASE("a function has one number, its name, and the rules that it matches") {
  ProgramFunctions functions({{"fkt_function_to_*", "nowhere"}, {"malloc"}, 0});
  const auto found = functions.of(::getpid(), true, at_function());
  REQUIRE(found);
  CHECK(found->number >= FKT_USER_FIRST_FUNC);
  CHECK(found->rules == FKT_USER_INSIDE);
  CHECK(found->lines ==
        "name\tuser\t" + std::to_string(found->number) + "\tfkt_function_to_find\n");
  SECTION("also after the maps have changed") {
    const auto again = functions.of(::getpid(), true, at_function(2));
    REQUIRE(again);
    CHECK(again->number == found->number);
    CHECK(again->rules == FKT_USER_INSIDE);
    CHECK(again->lines.empty());
  }
  SECTION("of a library its file's name too") {
    const auto other =
        functions.of(::getpid(), true, {reinterpret_cast<std::uintptr_t>(&std::abort), 1});
    REQUIRE(other);
    CHECK(other->number != found->number);
    CHECK(has(other->lines, "abort\n"));
    CHECK(other->rules == 0);
  }
  SECTION("where its call of __fentry__ returns to it is the same one") {
    for (const unsigned behind : {5, 6, 9, 10}) {
      const auto again = functions.of(::getpid(), true, {at_function().address + behind, 1});
      REQUIRE(again);
      CHECK(again->number == found->number);
    }
  }
  SECTION("an address inside a function is not that function") {
    const auto inside = functions.of(::getpid(), true, {at_function().address + 1, 1});
    REQUIRE(inside);
    CHECK(has(inside->lines, "+0x"));
    CHECK(inside->number != found->number);
  }
  SECTION("an address without a file, and a process that is not there") {
    const auto nowhere = functions.of(::getpid(), true, {0x10, 1});
    REQUIRE(nowhere);
    CHECK(has(nowhere->lines, "\t0x10\n"));
    const auto nobody = functions.of(0x7ffffff0, true, at_function());
    REQUIRE(nobody);
    CHECK(has(nobody->lines, "\t0x"));
  }
  CHECK(functions.unmatched() == std::vector<std::string>{"nowhere", "malloc"});
}

TEST_CASE("without the program's rights its files are opened by what the kernel has mapped only") {
  ProgramFunctions functions({});
  const auto found = functions.of(::getpid(), false, at_function());
  REQUIRE(found);
  // As root by /proc/PID/map_files.
  const bool by_kernel = has(found->lines, "\tfkt_function_to_find\n");
  CHECK((by_kernel || has(found->lines, "+0x")));
}
