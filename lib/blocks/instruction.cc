// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/instruction.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <span>

namespace fkt {
namespace {

using Operands = std::span<const ZydisDecodedOperand>;

// Those that an increment writes.
constexpr std::uint32_t kStatusFlags =
    ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;
constexpr ZydisInstructionAttributes kRepeats =
    ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
// Tables of jumps lie in the kernel's half of the address space.
constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;

struct Decoder {
  Decoder() { ZydisDecoderInit(&zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64); }
  ZydisDecoder zydis;
};

const ZydisDecoder& decoder() {
  static const Decoder one;
  return one.zydis;
}

bool is_one_of(ZydisMnemonic mnemonic, std::initializer_list<ZydisMnemonic> list) {
  return std::ranges::find(list, mnemonic) != list.end();
}

Flow flow_of(const ZydisDecodedInstruction& zydis) {
  const bool direct = zydis.raw.imm[0].is_relative;
  switch (zydis.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      return Flow::conditional;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return direct ? Flow::jump : Flow::indirect_jump;
    case ZYDIS_CATEGORY_CALL:
      return direct ? Flow::call : Flow::indirect_call;
    case ZYDIS_CATEGORY_RET:
      return Flow::returns;
    default:
      break;
  }
  const bool traps = is_one_of(zydis.mnemonic, {ZYDIS_MNEMONIC_UD0, ZYDIS_MNEMONIC_UD1,
                                                ZYDIS_MNEMONIC_UD2, ZYDIS_MNEMONIC_INT3});
  return traps ? Flow::traps : Flow::next;
}

// A jump whose condition is the counter register has no form for far targets.
bool jumps_by_counter(ZydisMnemonic mnemonic) {
  return is_one_of(mnemonic, {ZYDIS_MNEMONIC_JCXZ, ZYDIS_MNEMONIC_JECXZ, ZYDIS_MNEMONIC_JRCXZ,
                              ZYDIS_MNEMONIC_LOOP, ZYDIS_MNEMONIC_LOOPE, ZYDIS_MNEMONIC_LOOPNE});
}

const char* fixed_by(const ZydisDecodedInstruction& zydis, Flow flow) {
  switch (flow) {
    case Flow::call:
    case Flow::indirect_call:
      return "a call, whose return address would lie elsewhere";
    case Flow::traps:
      return "a trap";
    default:
      break;
  }
  if (jumps_by_counter(zydis.mnemonic)) return "a jump that reaches 127 bytes alone";
  if (flow == Flow::returns && zydis.mnemonic != ZYDIS_MNEMONIC_RET) return "a return from a trap";
  if (zydis.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) return "privileged";
  const bool special = is_one_of(
      zydis.mnemonic,
      {ZYDIS_MNEMONIC_STI, ZYDIS_MNEMONIC_CLI, ZYDIS_MNEMONIC_POPFQ, ZYDIS_MNEMONIC_STAC,
       ZYDIS_MNEMONIC_CLAC, ZYDIS_MNEMONIC_ENDBR64, ZYDIS_MNEMONIC_SYSCALL, ZYDIS_MNEMONIC_INT,
       ZYDIS_MNEMONIC_VERW, ZYDIS_MNEMONIC_CPUID, ZYDIS_MNEMONIC_MONITOR, ZYDIS_MNEMONIC_MWAIT});
  return special ? "it changes the state of the CPU" : nullptr;
}

const char* unsafe_by(const ZydisDecodedInstruction& zydis, Operands operands) {
  const bool changes_base = is_one_of(
      zydis.mnemonic,
      {ZYDIS_MNEMONIC_SWAPGS, ZYDIS_MNEMONIC_LGDT, ZYDIS_MNEMONIC_LIDT, ZYDIS_MNEMONIC_LLDT,
       ZYDIS_MNEMONIC_LTR, ZYDIS_MNEMONIC_IRETQ, ZYDIS_MNEMONIC_IRETD, ZYDIS_MNEMONIC_SYSRET,
       ZYDIS_MNEMONIC_SYSEXIT, ZYDIS_MNEMONIC_WRGSBASE, ZYDIS_MNEMONIC_VMRUN,
       ZYDIS_MNEMONIC_VMLAUNCH, ZYDIS_MNEMONIC_VMRESUME, ZYDIS_MNEMONIC_CLGI});
  if (changes_base) return "it has an instruction that enters or leaves the kernel";
  if (zydis.mnemonic != ZYDIS_MNEMONIC_MOV || operands.empty() ||
      operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER) {
    return nullptr;
  }
  const ZydisRegisterClass written = ZydisRegisterGetClass(operands[0].reg.value);
  return written == ZYDIS_REGCLASS_SEGMENT || written == ZYDIS_REGCLASS_CONTROL
             ? "it writes segment or control registers"
             : nullptr;
}

int general_register(ZydisRegister reg) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? ZydisRegisterGetId(whole) : -1;
}

// Returns whether it writes a register, but the stack pointer, whose value it does not need.
// Writing 32 bits writes the whole register.
bool frees_register(Operands operands) {
  unsigned read = 1U << general_register(ZYDIS_REGISTER_RSP), written = 0;
  const auto note = [](unsigned& mask, ZydisRegister reg) {
    const int number = general_register(reg);
    if (number >= 0) mask |= 1U << number;
  };
  for (const ZydisDecodedOperand& operand : operands) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      note(read, operand.mem.base);
      note(read, operand.mem.index);
    }
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
    const bool whole = operand.actions == ZYDIS_OPERAND_ACTION_WRITE && operand.size >= 32;
    note(whole ? written : read, operand.reg.value);
  }
  return (written & ~read) != 0;
}

// A shift by a register may leave the flags as they are, as may a repetition of nothing.
bool frees_flags(const ZydisDecodedInstruction& zydis, Operands operands) {
  const ZydisAccessedFlags* const flags = zydis.cpu_flags;
  if (flags == nullptr || (zydis.attributes & kRepeats) != 0) return false;
  const bool by_register = std::ranges::any_of(operands, [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == ZYDIS_REGISTER_CL &&
           operand.visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN;
  });
  const std::uint32_t written = flags->modified | flags->set_0 | flags->set_1 | flags->undefined;
  return !by_register && (flags->tested & kStatusFlags) == 0 &&
         (written & kStatusFlags) == kStatusFlags;
}

// Returns the address of an array of pointers that a memory operand has an element of.
std::uint64_t table_of(Operands operands) {
  for (const ZydisDecodedOperand& operand : operands) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.scale == 8 &&
        operand.mem.base == ZYDIS_REGISTER_NONE &&
        static_cast<std::uint64_t>(operand.mem.disp.value) >= kKernelHalf) {
      return static_cast<std::uint64_t>(operand.mem.disp.value);
    }
  }
  return 0;
}

}  // namespace

std::optional<Instruction> decode_instruction(ByteView code, std::uint64_t address) {
  ZydisDecodedInstruction zydis;
  ZydisDecodedOperand all[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder(), code.data(), code.size(), &zydis, all))) {
    return std::nullopt;
  }
  const Operands operands(all, zydis.operand_count);
  Instruction one{.address = address, .bytes = zydis.length, .flow = flow_of(zydis)};
  if (zydis.raw.imm[0].is_relative) {
    one.target = address + zydis.length + static_cast<std::uint64_t>(zydis.raw.imm[0].value.s);
  }
  one.is_nop = zydis.mnemonic == ZYDIS_MNEMONIC_NOP;
  one.fixed = fixed_by(zydis, one.flow);
  one.unsafe = unsafe_by(zydis, operands);
  one.table = table_of(operands);
  one.frees_flags = one.flow == Flow::next && frees_flags(zydis, operands);
  one.frees_register = one.flow == Flow::next && frees_register(operands);
  return one;
}

std::string instruction_text(ByteView code, std::uint64_t address) {
  ZydisDisassembledInstruction whole;
  if (!ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, address, code.data(),
                                          code.size(), &whole))) {
    return "(bad)";
  }
  return whole.text;
}

}  // namespace fkt
