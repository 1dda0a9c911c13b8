/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code that a traced function calls first, in place of its nop (ftrace), and returns to when it is done. It calls
 * through the function: all that it remembers of the call lies on the task's own stack, so nesting, interrupts,
 * sleeping and migration need nothing more.
 *
 *   at the start      in the function           at fkt_calls_return
 *                     ... (its frame)
 *                     fkt_calls_return
 *                     time of the entry         time of the entry
 *   body  <- sp       body                      body
 *   caller            caller                    caller
 *
 * body: the address after the nop. caller: where the function returns to; it is not touched. A function that takes
 * arguments on the stack would look for them 24 bytes off, so it must not be traced this way (calls.h).
 *
 * Registers: at an entry rax, r10 and r11 are free (no variable arguments, no static chain in the kernel). At a return
 * rax and rdx hold the result; the other registers that a callee may change are free.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>
#include <asm/percpu.h>
#include <asm/unwind_hints.h>

	.text

/* rax = the clock; changes rdx. Not ordered with the instructions around it, as the clock of all other events. */
.macro READ_CLOCK
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
.endm

SYM_CODE_START(fkt_calls_enter)
	UNWIND_HINT_FUNC
	ENDBR
	movq	%rdx, %r10
	READ_CLOCK
	movq	%r10, %rdx
	incq	PER_CPU_VAR(fkt_calls_open)
	pushq	%rax
	pushq	$fkt_calls_return
	/* The nop's call pushed this address, so the processor predicts that a return leads there. */
	pushq	16(%rsp)
	RET
	/*
	 * Never executed. While the function runs, an unwinder looks up the byte before the address it returns to: this
	 * one.
	 */
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=24 type=UNWIND_HINT_TYPE_CALL
	int3
SYM_INNER_LABEL(fkt_calls_return, SYM_L_GLOBAL)
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=24 type=UNWIND_HINT_TYPE_CALL
	ANNOTATE_NOENDBR
	movq	%rax, %r10
	movq	%rdx, %r11
	READ_CLOCK
	movq	%rax, %rsi
	subq	(%rsp), %rax
	cmpq	fkt_calls_shortest(%rip), %rax
	jae	.Lrecord
.Lleave:
	movq	%r10, %rax
	movq	%r11, %rdx
	decq	PER_CPU_VAR(fkt_calls_open)
	addq	$16, %rsp
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=8 type=UNWIND_HINT_TYPE_CALL
	/*
	 * The function's return used the prediction for this one. This call makes up for it, so that the callers'
	 * returns are predicted from their own calls.
	 */
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lbalanced
	int3
.Lbalanced:
	addq	$8, %rsp
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=8 type=UNWIND_HINT_TYPE_CALL
	RET

.Lrecord:
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=24 type=UNWIND_HINT_TYPE_CALL
	pushq	%r10
	pushq	%r11
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=40 type=UNWIND_HINT_TYPE_CALL
	movq	%rsp, %rdi
	call	fkt_calls_returned
	popq	%r11
	popq	%r10
	UNWIND_HINT sp_reg=ORC_REG_SP sp_offset=24 type=UNWIND_HINT_TYPE_CALL
	jmp	.Lleave
SYM_CODE_END(fkt_calls_enter)
