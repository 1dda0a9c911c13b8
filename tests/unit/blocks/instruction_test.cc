// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/instruction.h"

#include <catch2/catch.hpp>

#include "tests/unit/blocks/made_code.h"

using namespace fkt;

namespace {

Instruction decoded(std::string_view hex) {
  const std::string bytes = code_bytes(hex);
  const auto one = decode_instruction(as_bytes(bytes), kMadeBegin);
  REQUIRE(one);
  REQUIRE(one->bytes == bytes.size());
  return *one;
}

}  // namespace

TEST_CASE("an instruction tells where it goes on") {
  CHECK(decoded("48 89 df").flow == Flow::next);
  CHECK(decoded("e8 00 01 00 00").flow == Flow::call);
  CHECK(decoded("e8 00 01 00 00").target == kMadeBegin + 5 + 0x100);
  CHECK(decoded("eb fe").target == kMadeBegin);
  CHECK(decoded("eb fe").flow == Flow::jump);
  CHECK(decoded("0f 84 10 00 00 00").flow == Flow::conditional);
  CHECK(decoded("74 10").target == kMadeBegin + 2 + 0x10);
  CHECK(decoded("ff e0").flow == Flow::indirect_jump);
  CHECK(decoded("ff d0").flow == Flow::indirect_call);
  CHECK(decoded("c3").flow == Flow::returns);
  CHECK(decoded("0f 0b").flow == Flow::traps);
  CHECK(decoded("0f 0b").ends_path());
  CHECK_FALSE(decoded("74 10").ends_path());
}

TEST_CASE("flags are free where an instruction writes all of them") {
  CHECK(decoded("48 39 c3").frees_flags);        // cmp %rax,%rbx
  CHECK(decoded("48 83 c0 01").frees_flags);     // add $1,%rax
  CHECK_FALSE(decoded("48 11 c3").frees_flags);  // adc: reads the carry
  CHECK_FALSE(decoded("48 d3 e0").frees_flags);  // shl %cl,%rax: by 0 it leaves them
  CHECK_FALSE(decoded("48 89 c3").frees_flags);  // mov
  CHECK_FALSE(decoded("f3 a6").frees_flags);     // repz cmpsb: of no bytes it leaves them
  CHECK_FALSE(decoded("0f 94 c0").frees_flags);  // sete: reads one
  CHECK_FALSE(decoded("74 10").frees_flags);     // je
}

TEST_CASE("a register is free where an instruction only writes it") {
  CHECK(decoded("b8 05 00 00 00").frees_register);              // mov $5,%eax
  CHECK(decoded("48 8b 47 10").frees_register);                 // mov 0x10(%rdi),%rax
  CHECK(decoded("48 8d 47 10").frees_register);                 // lea 0x10(%rdi),%rax
  CHECK_FALSE(decoded("48 8b 40 10").frees_register);           // mov 0x10(%rax),%rax
  CHECK_FALSE(decoded("b0 05").frees_register);                 // mov $5,%al
  CHECK_FALSE(decoded("48 83 c0 01").frees_register);           // add $1,%rax
  CHECK_FALSE(decoded("48 0f 44 c3").frees_register);           // cmove %rbx,%rax
  CHECK_FALSE(decoded("48 89 07").frees_register);              // mov %rax,(%rdi)
  CHECK_FALSE(decoded("48 c7 c4 00 00 00 00").frees_register);  // mov $0,%rsp
}

TEST_CASE("what cannot be moved, and what makes its function unsafe") {
  CHECK(decoded("48 89 df").fixed == nullptr);
  CHECK(decoded("e8 00 01 00 00").fixed != nullptr);
  CHECK(decoded("fa").fixed != nullptr);           // cli
  CHECK(decoded("f3 0f 1e fa").fixed != nullptr);  // endbr64
  CHECK(decoded("e3 10").fixed != nullptr);        // jrcxz
  CHECK(decoded("48 89 df").unsafe == nullptr);
  CHECK(decoded("0f 01 f8").unsafe != nullptr);  // swapgs
  CHECK(decoded("0f 22 d8").unsafe != nullptr);  // mov %rax,%cr3
  CHECK(decoded("8e d8").unsafe != nullptr);     // mov %eax,%ds
}

TEST_CASE("a table of addresses is known by its element") {
  CHECK(decoded("ff 24 c5 00 10 00 81").table == 0xffffffff81001000);     // jmp *(,%rax,8)
  CHECK(decoded("48 8b 04 c5 00 10 00 81").table == 0xffffffff81001000);  // mov (,%rax,8),%rax
  CHECK(decoded("48 8b 04 c7").table == 0);                               // mov (%rdi,%rax,8),%rax
}

TEST_CASE("bytes that are no instruction") {
  CHECK_FALSE(decode_instruction({}, kMadeBegin));
  const std::string cut = code_bytes("e8 00 00");
  CHECK_FALSE(decode_instruction(as_bytes(cut), kMadeBegin));
  const std::string bad = code_bytes("06 00 00");
  CHECK_FALSE(decode_instruction(as_bytes(bad), kMadeBegin));
}
