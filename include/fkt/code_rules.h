/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which instructions of x86-64 can be replaced by a jump to code that counts or calls, and then does what they did, and
 * what such code may use for itself. The module decides by these rules alone; the tools tell what it will decide.
 */
#ifndef FKT_CODE_RULES_H
#define FKT_CODE_RULES_H

#include <linux/types.h>

struct fkt_code {
	/* its byte; 0x0f00 and the second byte behind 0x0f; FKT_OPCODE_OTHER: it has more bytes, or is of AVX */
	__u32 opcode;
	__u8 modrm; /* 0: it has none */
	__u8 sib;
	__u8 has_sib; /* 0 or 1 */
	__u8 rex; /* prefix; 0: none */
	__u32 prefixes; /* FKT_PREFIX_* */
	__u32 length; /* bytes */
	/*
	 * offset of 32 bits that are the distance of a jump's target, or of an operand in memory, from the end; 0: it
	 * has none
	 */
	__u32 distance_at;
};

#define FKT_OPCODE_OTHER 0xffff
#define FKT_PREFIX_16_BITS 0x1
#define FKT_PREFIX_F3 0x2
#define FKT_PREFIX_GS 0x4
/*
 * All others. The kernel turns lock prefixes into those of segment ds on a machine with one CPU, and back; other ones
 * mean other instructions.
 */
#define FKT_PREFIX_OTHER 0x8

#define FKT_CODE_NO_REGISTER 16

static inline __u32 fkt_modrm_mod(const struct fkt_code *code)
{
	return code->modrm >> 6;
}

/* Returns the number of a register, or more of the opcode. */
static inline __u32 fkt_modrm_reg(const struct fkt_code *code)
{
	return code->modrm >> 3 & 7;
}

/*
 * Returns 1 if the whole function has to be left alone: in it the segment of per-CPU variables, the stack, the page
 * tables or the direction of string instructions may be others for a while.
 */
static inline int fkt_code_is_unsafe(const struct fkt_code *code)
{
	switch (code->opcode) {
	case 0x0f01: /* swapgs, lgdt, lidt, invlpg, those of virtual machines; but not clac, stac, xgetbv, rdtscp */
		return code->modrm != 0xca && code->modrm != 0xcb && code->modrm != 0xd0 && code->modrm != 0xf9;
	case 0x8e: /* mov to a segment register */
	case 0xfd: /* std: no other code expects it */
	case 0xcf: /* iret */
	case 0x0f00: /* lldt, ltr */
	case 0x0f05: /* syscall and its like */
	case 0x0f07:
	case 0x0f34:
	case 0x0f35:
	case 0x0f20: /* control and debug registers */
	case 0x0f21:
	case 0x0f22:
	case 0x0f23:
	case 0x0f30: /* wrmsr */
	case 0x0fb2: /* lss, lfs, lgs */
	case 0x0fb4:
	case 0x0fb5:
	case 0x0fa1: /* pop to a segment register */
	case 0x0fa9:
		return 1;
	case 0x0fae: /* rdfsbase, rdgsbase, wrfsbase, wrgsbase */
		return (code->prefixes & FKT_PREFIX_F3) && fkt_modrm_mod(code) == 3 && fkt_modrm_reg(code) < 4;
	default:
		return 0;
	}
}

/* add, or, adc, sbb, and, sub, xor, cmp: numbers 0 to 7; 8: another instruction. */
static inline __u32 fkt_code_arithmetic(const struct fkt_code *code)
{
	if (code->opcode < 0x40 && (code->opcode & 7) < 6)
		return code->opcode >> 3;
	if (code->opcode == 0x80 || code->opcode == 0x81 || code->opcode == 0x83)
		return fkt_modrm_reg(code);
	return 8;
}

/*
 * Returns 1 if the instruction does the same at another address, once a distance in it is changed, and is none that the
 * kernel changes: jumps without a condition, calls, nops.
 */
static inline int fkt_code_moves(const struct fkt_code *code)
{
	if (code->prefixes & ~(FKT_PREFIX_16_BITS | FKT_PREFIX_GS))
		return 0;
	if (fkt_code_arithmetic(code) < 8)
		return 1;
	switch (code->opcode) {
	case 0x63: /* movslq */
	case 0x69: /* imul */
	case 0x6b:
	case 0x84: /* test */
	case 0x85:
	case 0x86: /* xchg */
	case 0x87:
	case 0x88: /* mov */
	case 0x89:
	case 0x8a:
	case 0x8b:
	case 0x8d: /* lea */
	case 0xa8: /* test */
	case 0xa9:
	case 0xc0: /* shifts */
	case 0xc1:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
	case 0x0fa3: /* bt, bts, btr, btc */
	case 0x0fab:
	case 0x0fb3:
	case 0x0fba:
	case 0x0fbb:
	case 0x0fa4: /* shld, shrd */
	case 0x0fac:
	case 0x0faf: /* imul */
	case 0x0fb0: /* cmpxchg */
	case 0x0fb1:
	case 0x0fb6: /* movzx, movsx */
	case 0x0fb7:
	case 0x0fbe:
	case 0x0fbf:
	case 0x0fbc: /* bsf, bsr */
	case 0x0fbd:
	case 0x0fc0: /* xadd */
	case 0x0fc1:
		return 1;
	case 0xc6: /* mov; the others of this group are jumps of transactions */
	case 0xc7:
		return fkt_modrm_reg(code) == 0;
	case 0xf6: /* test, not, neg, mul, imul, div, idiv */
	case 0xf7:
		return fkt_modrm_reg(code) != 1;
	case 0xfe: /* inc, dec; the others are jumps, calls and pushes */
	case 0xff:
		return fkt_modrm_reg(code) < 2;
	default:
		/*
		 * jumps on a condition, of which static branches have none; for 16 bits processors differ in what they
		 * do
		 */
		if (code->opcode >= 0x0f80 && code->opcode <= 0x0f8f)
			return !code->prefixes;
		/* mov; cmov; set */
		return (code->opcode >= 0xb0 && code->opcode <= 0xbf) ||
		       (code->opcode >= 0x0f40 && code->opcode <= 0x0f4f) ||
		       (code->opcode >= 0x0f90 && code->opcode <= 0x0f9f);
	}
}

/* Returns 1 if it writes all status flags and reads none, so that code before it may change them. */
static inline int fkt_code_frees_flags(const struct fkt_code *code)
{
	const __u32 arithmetic = fkt_code_arithmetic(code);

	if (arithmetic < 8)
		return arithmetic != 2 && arithmetic != 3; /* adc and sbb read the carry */
	switch (code->opcode) {
	case 0x84: /* test */
	case 0x85:
	case 0xa8:
	case 0xa9:
		return 1;
	case 0xf6: /* test, neg */
	case 0xf7:
		return fkt_modrm_reg(code) == 0 || fkt_modrm_reg(code) == 3;
	default:
		return 0;
	}
}

/* rex_bit: of the prefix, which makes a register one of the upper eight. */
static inline __u32 fkt_code_register(const struct fkt_code *code, __u32 low, __u8 rex_bit)
{
	return low | (code->rex & rex_bit ? 8 : 0);
}

/* Returns 1 if the operand in a register or in memory needs this register. */
static inline int fkt_code_operand_needs(const struct fkt_code *code, __u32 reg)
{
	if (fkt_modrm_mod(code) == 3 || !code->has_sib)
		return fkt_code_register(code, code->modrm & 7, 1) == reg;
	return fkt_code_register(code, code->sib & 7, 1) == reg ||
	       fkt_code_register(code, code->sib >> 3 & 7, 2) == reg;
}

/*
 * Returns a register that it writes as a whole and does not read, so that code before it may change it, or
 * FKT_CODE_NO_REGISTER. Only such by which memory can be addressed without more bytes: not sp, bp, r12, r13.
 */
static inline __u32 fkt_code_freed_register(const struct fkt_code *code)
{
	__u32 reg;

	if (code->prefixes & ~FKT_PREFIX_GS)
		return FKT_CODE_NO_REGISTER;
	switch (code->opcode) {
	case 0xc7:
		if (fkt_modrm_mod(code) != 3)
			return FKT_CODE_NO_REGISTER;
		reg = fkt_code_register(code, code->modrm & 7, 1);
		break;
	case 0x63:
	case 0x8b:
	case 0x8d:
	case 0x0fb6:
	case 0x0fb7:
	case 0x0fbe:
	case 0x0fbf:
		reg = fkt_code_register(code, fkt_modrm_reg(code), 4);
		/* In a register, a byte can be the second one of another. */
		if (fkt_code_operand_needs(code, reg) || (code->opcode > 0xff && fkt_modrm_mod(code) == 3))
			return FKT_CODE_NO_REGISTER;
		break;
	default:
		if (code->opcode < 0xb8 || code->opcode > 0xbf)
			return FKT_CODE_NO_REGISTER;
		reg = fkt_code_register(code, code->opcode & 7, 1);
		break;
	}
	return 0xcfcfU >> reg & 1 ? reg : FKT_CODE_NO_REGISTER;
}

#endif /* FKT_CODE_RULES_H */
