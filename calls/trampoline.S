/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A traced function calls this code first, in place of its nop (ftrace), and returns to it at its end. The code calls
 * the function's body: all that it keeps of the call is on the task's own stack, so nesting, interrupts, sleeping and
 * migration need nothing more.
 *
 *   at the start      in the function           at fkt_calls_return
 *                     ... (its frame)
 *                     fkt_calls_return
 *                     time of the entry         time of the entry, with the period
 *                     words that are kept       words that are kept
 *   body  <- sp       body                      body
 *   caller            caller                    caller
 *
 * body: the address after the nop. caller: where the function returns to; it is not touched. The kept words are as
 * many as the kind of frame has (frames.h); each kind has its variant of the code. A function that takes arguments on
 * the stack would read them at a wrong offset, because of what is pushed here, so it must not be traced this way.
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

#include "frames.h"

	.text

/* rax = the clock; changes rdx. Not ordered with the instructions around it, as the clock of all other events. */
.macro READ_CLOCK
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
.endm

/* Tells the unwinder that the caller's address is behind `bytes` bytes at the top of the stack. */
.macro CALLER_AT bytes
	UNWIND_HINT sp_reg=ORC_REG_SP, sp_offset=\bytes, type=UNWIND_HINT_TYPE_CALL
.endm

/* Goes on to the function's body; kept: bytes that are kept. The function will return to `return`. */
.macro CALL_THROUGH return kept
	movq	%rdx, %r10
	/* Before the clock is read, and at the return after that: calls.c says why. */
	pushq	fkt_calls_period(%rip)
	READ_CLOCK
	addq	%rax, (%rsp)
	movq	%r10, %rdx
	incq	PER_CPU_VAR(fkt_calls_open)
	pushq	$\return
	/* The nop's call pushed this address, so the processor predicts that a return leads there. */
	pushq	16 + \kept(%rsp)
	RET
	/*
	 * Never executed. While the function runs, an unwinder looks up the byte before the address it returns to: this
	 * one.
	 */
	CALLER_AT (24+\kept)
	int3
.endm

/* At a return: r10 and r11 = the result, rsi = the clock, rax = the call's duration, with the change of the period. */
.macro MEASURE
	movq	%rax, %r10
	movq	%rdx, %r11
	READ_CLOCK
	movq	%rax, %rsi
	addq	fkt_calls_period(%rip), %rax
	subq	(%rsp), %rax
	cmpq	fkt_calls_shortest(%rip), %rax
.endm

/* Returns to the caller of the function. */
.macro LEAVE kept
	movq	%r10, %rax
	movq	%r11, %rdx
	decq	PER_CPU_VAR(fkt_calls_open)
	addq	$(16 + \kept), %rsp
	CALLER_AT 8
	/*
	 * The function's return used the prediction for this one. This call makes up for it, so that the callers'
	 * returns are predicted from their own calls.
	 */
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lbalanced\@
	int3
.Lbalanced\@:
	addq	$8, %rsp
	CALLER_AT 8
	RET
.endm

SYM_CODE_START(fkt_calls_enter)
	UNWIND_HINT_FUNC
	ENDBR
	CALL_THROUGH fkt_calls_return 0
SYM_INNER_LABEL(fkt_calls_return, SYM_L_GLOBAL)
	CALLER_AT 24
	ANNOTATE_NOENDBR
	MEASURE
	jae	.Lrecord
	incq	PER_CPU_VAR(fkt_calls_too_short)
.Lleave:
	LEAVE 0
.Lrecord:
	CALLER_AT 24
	pushq	%r10
	pushq	%r11
	CALLER_AT 40
	movq	%rsp, %rdi
	movq	%rax, %rdx
	call	fkt_calls_returned
	popq	%r11
	popq	%r10
	CALLER_AT 24
	jmp	.Lleave
SYM_CODE_END(fkt_calls_enter)

/*
 * The variants that ask first, with the arguments (fkt_calls_entered()). A call that is not traced goes on to the body
 * with registers and stack as they were.
 */
.macro KEEPING_FRAME name words
SYM_CODE_START(fkt_calls_enter_\name)
	UNWIND_HINT_FUNC
	ENDBR
	subq	$(8 * \words), %rsp
	CALLER_AT (8+8*\words)
	pushq	%r9
	pushq	%r8
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	CALLER_AT (56+8*\words)
	movq	%rsp, %rdi
	leaq	48(%rsp), %rsi
	movq	48 + 8 * \words(%rsp), %rdx
	movl	$\words, %ecx
	call	fkt_calls_entered
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%r8
	popq	%r9
	CALLER_AT (8+8*\words)
	testb	%al, %al
	jz	.Luntraced_\name
	CALL_THROUGH fkt_calls_return_\name (8*\words)
SYM_INNER_LABEL(fkt_calls_return_\name, SYM_L_GLOBAL)
	CALLER_AT (24+8*\words)
	ANNOTATE_NOENDBR
	MEASURE
	jae	.Lrecord_\name
	incq	PER_CPU_VAR(fkt_calls_too_short)
.Lleave_\name:
	LEAVE (8*\words)
.Lrecord_\name:
	CALLER_AT (24+8*\words)
	/* A struct fkt_call, and behind it what is needed when the function is back. */
	movq	%rax, %rdx
	leaq	8(%rsp), %rcx
	pushq	%r10
	pushq	%r11
	pushq	32 + 8 * \words(%rsp)
	pushq	32 + 8 * \words(%rsp)
	pushq	32(%rsp)
	pushq	%r10
	pushq	%r11
	CALLER_AT (80+8*\words)
	movq	%rsp, %rdi
	call	fkt_calls_returned_kept
	addq	$40, %rsp
	popq	%r11
	popq	%r10
	CALLER_AT (24+8*\words)
	jmp	.Lleave_\name
.Luntraced_\name:
	CALLER_AT (8+8*\words)
	addq	$(8 * \words), %rsp
	CALLER_AT 8
	RET
SYM_CODE_END(fkt_calls_enter_\name)
.endm

	KEEPING_FRAME few FKT_CALLS_FEW_WORDS
	KEEPING_FRAME some FKT_CALLS_SOME_WORDS
	KEEPING_FRAME many FKT_CALLS_MANY_WORDS
