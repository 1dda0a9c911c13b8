/* SPDX-License-Identifier: GPL-2.0-only */
/* What probes take from the registers. */
#ifndef FKT_REGISTERS_H
#define FKT_REGISTERS_H

#include <linux/ptrace.h>
#include <linux/types.h>
#include <asm/segment.h>

#include <fkt/call_hit.h>

static __always_inline unsigned long fkt_ip(const struct pt_regs *regs)
{
	return regs->ip;
}

static __always_inline unsigned long fkt_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

static __always_inline unsigned long fkt_fp(const struct pt_regs *regs)
{
	return regs->bp;
}

/* Returns the result of a function that returns, or the lower half of one of 16 bytes. */
static __always_inline u64 fkt_result(const struct pt_regs *regs)
{
	return regs->ax;
}

/* Returns the upper half of a result of 16 bytes. */
static __always_inline u64 fkt_result_high(const struct pt_regs *regs)
{
	return regs->dx;
}

static __always_inline u64 fkt_first_argument(const struct pt_regs *regs)
{
	return regs->di;
}

/* The six registers for arguments, in their order: for an array of u64. */
#define FKT_ARGUMENTS(regs) \
	{ (regs)->di, (regs)->si, (regs)->dx, (regs)->cx, (regs)->r8, (regs)->r9 }

/* Returns whether registers of a program are those of a 32-bit one. */
static __always_inline bool fkt_is_32_bit(const struct pt_regs *regs)
{
	return regs->cs == __USER32_CS;
}

/*
 * The words of a hit that has the registers (enum fkt_register). ip: of the instruction; in regs it may be that of the
 * breakpoint behind it.
 */
static inline void fkt_get_registers(const struct pt_regs *regs, unsigned long ip, u64 *words)
{
	words[FKT_REGISTER_AX] = regs->ax;
	words[FKT_REGISTER_BX] = regs->bx;
	words[FKT_REGISTER_CX] = regs->cx;
	words[FKT_REGISTER_DX] = regs->dx;
	words[FKT_REGISTER_SI] = regs->si;
	words[FKT_REGISTER_DI] = regs->di;
	words[FKT_REGISTER_BP] = regs->bp;
	words[FKT_REGISTER_SP] = regs->sp;
	words[FKT_REGISTER_R8] = regs->r8;
	words[FKT_REGISTER_R9] = regs->r9;
	words[FKT_REGISTER_R10] = regs->r10;
	words[FKT_REGISTER_R11] = regs->r11;
	words[FKT_REGISTER_R12] = regs->r12;
	words[FKT_REGISTER_R13] = regs->r13;
	words[FKT_REGISTER_R14] = regs->r14;
	words[FKT_REGISTER_R15] = regs->r15;
	words[FKT_REGISTER_IP] = ip;
	words[FKT_REGISTER_FLAGS] = regs->flags;
}

#endif /* FKT_REGISTERS_H */
