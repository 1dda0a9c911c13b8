/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Called by a splice's detour (splices/detour.h), with the instruction's address in rdi. Calls fkt_spliced_reached()
 * with all registers as they are at the instruction, and keeps them.
 *
 *   at the start         for the call
 *                        struct pt_regs  <- sp
 *   the detour  <- sp    the detour
 *   rdi                  rdi
 *   flags                flags
 */
#include <linux/linkage.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>
#include <asm/ptrace-abi.h>
#include <asm/segment.h>
#include <asm/unwind_hints.h>

/* sizeof(struct pt_regs) */
#define REGISTERS (SS + 8)

	.text
SYM_FUNC_START(fkt_spliced_with_registers)
	ENDBR
	subq	$REGISTERS, %rsp
	movq	%r15, R15(%rsp)
	movq	%r14, R14(%rsp)
	movq	%r13, R13(%rsp)
	movq	%r12, R12(%rsp)
	movq	%rbp, RBP(%rsp)
	movq	%rbx, RBX(%rsp)
	movq	%r11, R11(%rsp)
	movq	%r10, R10(%rsp)
	movq	%r9, R9(%rsp)
	movq	%r8, R8(%rsp)
	movq	%rax, RAX(%rsp)
	movq	%rcx, RCX(%rsp)
	movq	%rdx, RDX(%rsp)
	movq	%rsi, RSI(%rsp)
	movq	REGISTERS+8(%rsp), %rax
	movq	%rax, RDI(%rsp)
	movq	$-1, ORIG_RAX(%rsp)
	movq	%rdi, RIP(%rsp)
	movq	$__KERNEL_CS, CS(%rsp)
	movq	REGISTERS+16(%rsp), %rax
	movq	%rax, EFLAGS(%rsp)
	leaq	REGISTERS+24(%rsp), %rax
	movq	%rax, RSP(%rsp)
	movq	$__KERNEL_DS, SS(%rsp)
	movq	%rsp, %rdi
	call	fkt_spliced_reached
	movq	R11(%rsp), %r11
	movq	R10(%rsp), %r10
	movq	R9(%rsp), %r9
	movq	R8(%rsp), %r8
	movq	RAX(%rsp), %rax
	movq	RCX(%rsp), %rcx
	movq	RDX(%rsp), %rdx
	movq	RSI(%rsp), %rsi
	addq	$REGISTERS, %rsp
	/* The registers that a callee keeps were stored above, and not changed. */
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(fkt_spliced_with_registers)
