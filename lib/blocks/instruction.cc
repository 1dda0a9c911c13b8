// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/instruction.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <span>

#include <fkt/code_rules.h>

namespace fkt {
namespace {

using Operands = std::span<const ZydisDecodedOperand>;

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

// Returns the instruction's parts, by which the module decides.
fkt_code code_of(const ZydisDecodedInstruction& zydis) {
  const auto& raw = zydis.raw;
  fkt_code code{};
  code.length = zydis.length;
  code.opcode = zydis.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ? FKT_OPCODE_OTHER
                : zydis.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT      ? zydis.opcode
                : zydis.opcode_map == ZYDIS_OPCODE_MAP_0F           ? 0x0f00U | zydis.opcode
                                                                    : FKT_OPCODE_OTHER;
  if (zydis.attributes & ZYDIS_ATTRIB_HAS_MODRM) {
    code.modrm = static_cast<std::uint8_t>(raw.modrm.mod << 6 | raw.modrm.reg << 3 | raw.modrm.rm);
  }
  if (zydis.attributes & ZYDIS_ATTRIB_HAS_SIB) {
    code.has_sib = 1;
    code.sib = static_cast<std::uint8_t>(raw.sib.scale << 6 | raw.sib.index << 3 | raw.sib.base);
  }
  if (zydis.attributes & ZYDIS_ATTRIB_HAS_REX) {
    code.rex = static_cast<std::uint8_t>(0x40 | raw.rex.W << 3 | raw.rex.R << 2 | raw.rex.X << 1 |
                                         raw.rex.B);
  }
  for (const auto& prefix : std::span(raw.prefixes).first(raw.prefix_count)) {
    if ((prefix.value & 0xf0) == 0x40) continue;  // REX
    code.prefixes |= prefix.value == 0x66   ? FKT_PREFIX_16_BITS
                     : prefix.value == 0x65 ? FKT_PREFIX_GS
                     : prefix.value == 0xf3 ? FKT_PREFIX_F3
                                            : FKT_PREFIX_OTHER;
  }
  if (raw.imm[0].is_relative) code.distance_at = raw.imm[0].offset;
  if (raw.modrm.mod == 0 && raw.modrm.rm == 5 && (zydis.attributes & ZYDIS_ATTRIB_HAS_MODRM)) {
    code.distance_at = raw.disp.offset;
  }
  return code;
}

const char* fixed_by(const fkt_code& code, Flow flow) {
  switch (flow) {
    case Flow::call:
    case Flow::indirect_call:
      return "a call, whose return address would lie elsewhere";
    case Flow::traps:
      return "a trap";
    case Flow::jump:
    case Flow::indirect_jump:
      return "a jump, which may be one that the kernel changes";
    default:
      return fkt_code_moves(&code) ? nullptr : "not known to do the same at another address";
  }
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
  const fkt_code parts = code_of(zydis);
  one.fixed = fixed_by(parts, one.flow);
  if (fkt_code_is_unsafe(&parts))
    one.unsafe = "it has an instruction of those that enter the kernel or leave it";
  one.table = table_of(operands);
  one.frees_flags = fkt_code_frees_flags(&parts) != 0;
  one.frees_register = fkt_code_freed_register(&parts) != FKT_CODE_NO_REGISTER;
  return one;
}

fkt_code code_parts(ByteView code) {
  ZydisDecodedInstruction zydis;
  if (!ZYAN_SUCCESS(
          ZydisDecoderDecodeInstruction(&decoder(), nullptr, code.data(), code.size(), &zydis))) {
    fkt_code none{};
    none.opcode = FKT_OPCODE_OTHER;
    return none;
  }
  return code_of(zydis);
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
