// SPDX-License-Identifier: GPL-2.0-only
// Tests the address of an instrument on an instruction, and the values of its program from
// registers.
#include <fkt/call_hit.h>
#include <fkt/program_run.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "lib/instrument/instruction_plan.h"
#include "tests/unit/instrument/made_btf.h"
#include "tests/unit/instrument/raw_memory.h"

using namespace fkt;
using namespace fkt::test;

namespace {

const std::vector<Symbol> kCodeSymbols = {{0x1000, 'T', "vfs_read", ""},
                                          {0x1040, 't', "done", ""},
                                          {0x1080, 'D', "data", ""},
                                          {0x1100, 't', "same", ""},
                                          {0x1200, 't', "same", "other"}};

Result<InstructionPlan> planned_code(const std::string& text) {
  static const Btf btf = MadeBtf().read();
  const Result<Instrument> instrument = Instrument::parse(text);
  REQUIRE(instrument);
  static const FunctionIndex functions(kCodeSymbols);
  auto place = find_instruction(instrument->place, functions);
  if (!place) return place.error();
  return plan_instruction(*instrument, std::move(*place), {btf, 1e9});
}

std::string instruction_refusal(const std::string& text) {
  const Result<InstructionPlan> made = planned_code(text);
  return made ? "made" : made.error().message;
}

__u64 no_context(const __u64*, __u32, __u32) {
  return 0;
}

}  // namespace

TEST_CASE("an instruction is an offset in a function") {
  const Result<InstructionPlan> made = planned_code("at:vfs_read+0x1c");
  REQUIRE(made);
  CHECK(made->address == 0x101c);
  CHECK(made->name == "vfs_read+0x1c");
  CHECK(made->program.block.program().insns == 0);
  CHECK(planned_code("at:vfs_read+0x3f"));
  CHECK(instruction_refusal("at:vfs_read+0x40") == "vfs_read has 64 bytes only");
  CHECK(instruction_refusal("at:data+0").starts_with("no function is called \"data\""));
  CHECK(instruction_refusal("at:same+1") ==
        "2 functions are called \"same\": which one is not known");
}

TEST_CASE("a program reads registers and what they point to") {
  const Result<InstructionPlan> made = planned_code(
      "at:vfs_read+4(regs.ax, regs.di[2], regs.di[1][0], regs.si:string) if regs.flags < 100 && "
      "regs.di[2] == 33");
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  CHECK(made->program.fields[1].name == "regs.di[2]");
  CHECK(made->program.fields[0].kind == RecordedField::Kind::hexadecimal);
  CHECK(made->program.fields[3].kind == RecordedField::Kind::text);
  const __u64 deep = 44;
  std::array<__u64, 3> memory = {11, reinterpret_cast<__u64>(&deep), 33};
  alignas(8) const char text[16] = "text";
  std::array<__u64, FKT_REGISTERS> hit{};
  hit[FKT_REGISTER_AX] = 5;
  hit[FKT_REGISTER_DI] = reinterpret_cast<__u64>(memory.data());
  hit[FKT_REGISTER_SI] = reinterpret_cast<__u64>(text);
  hit[FKT_REGISTER_FLAGS] = 99;
  std::array<__u64, FKT_PROGRAM_WORDS> words{};
  fkt_emitted emitted = {words.data(), 0, 0};
  const auto run = [&] {
    return fkt_program_run(&made->program.block.program(), hit.data(), &emitted, read_raw,
                           no_context);
  };
  REQUIRE(run() == FKT_RUN_KEEP);
  CHECK(words[0] == 5);
  CHECK(words[1] == 33);
  CHECK(words[2] == 44);
  CHECK(std::memcmp(&words[3], "text", 5) == 0);
  memory[2] = 34;
  CHECK(run() == FKT_RUN_DROP);
}

TEST_CASE("at an instruction, properties of every hit are values") {
  const Result<InstructionPlan> made = planned_code("at:vfs_read+4(stack_left, regs.sp)");
  REQUIRE(made);
  REQUIRE(made->program.fields.size() == 2);
  CHECK(made->program.fields[0].kind == RecordedField::Kind::number);
  CHECK(made->program.fields[1].kind == RecordedField::Kind::hexadecimal);
}

TEST_CASE("what an instruction does not have is refused") {
  CHECK(instruction_refusal("at:vfs_read+4(count)").ends_with("ask for registers (as regs.di)"));
  CHECK(instruction_refusal("at:vfs_read+4(regs)").ends_with("which register? (as regs.di)"));
  CHECK(instruction_refusal("at:vfs_read+4(regs.r16)").find("there is no register \"r16\"") !=
        std::string::npos);
  CHECK(instruction_refusal("at:vfs_read+4(regs.di.count)").find("a register has no members") !=
        std::string::npos);
  CHECK(instruction_refusal("at:vfs_read+4 ret")
            .ends_with("an instruction has no return value and no duration"));
  CHECK(instruction_refusal("at:vfs_read+4 if duration > 1ms")
            .ends_with("an instruction has no return value and no duration"));
}
