/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A traced function calls this code first, in place of its nop (ftrace), and returns to it at its end. The code calls
 * the function's body: all that it keeps of the call is on the task's own stack, so nesting, interrupts, sleeping and
 * migration need nothing more.
 *
 *   at the start      in the function           at fkt_calls_return      when it is recorded
 *                                                                        rdx  <- sp
 *                     ... (its frame)                                    rax
 *                     fkt_calls_return                                   (struct fkt_call, to here:)
 *                     time of the entry         time of the entry        time of the entry
 *                     of the task               of the task              of the task
 *                     words that are kept       words that are kept      words that are kept
 *   body  <- sp       body                      body                     body
 *   caller            caller                    caller                   caller
 *
 * body: the address after the nop. caller: where the function returns to; it is not touched. The kept words are as
 * many as the kind of frame has (frames.h); each kind has its variant of the code. "Of the task" is a struct
 * fkt_call_task, which only some kinds have (`task` is 1 in the macros). The time has the period added (asleep.c). A
 * function that takes arguments on the stack would read them at a wrong offset, because of what is pushed here, so it
 * must not be traced this way.
 *
 * Registers: at an entry rax, r10 and r11 are free (no variable arguments, no static chain in the kernel). But if a
 * function has several users of ftrace, one of them may replace its body, and set the result in rax: so each kind has a
 * second entry, which keeps rax. Such functions come to it (call_plan.c), all others to the first one. At a return rax
 * and rdx hold the result, which goes onto the stack; the other registers that a callee may change are free.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>
#include <asm/page_types.h>
#include <asm/percpu.h>
#include <asm/unwind_hints.h>

#include "arch/x86/x86_compat.h"
#include "calls/frames.h"

/* objtool makes a static call of a call only if the key is among this file's symbols (calls.c defines it). */
	.section .discard.fkt_calls_keys, "", @progbits
	.quad	__SCK__fkt_calls_record, __SCK__fkt_calls_record_arguments

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

/*
 * Goes on to the function's body; kept: bytes that are kept, with those of the task. The function will return to
 * `return`. rdx: where rdx is while the clock is read, as an operand for when the time is on the stack; shared: 1:
 * keeps rax.
 */
.macro CALL_THROUGH return, kept, task, shared=0, rdx=%r10
	.ifc \rdx,%r10
	movq	%rdx, %r10
	.endif
	.if \task
	pushq	PER_CPU_VAR(fkt_calls_depth)
	incq	PER_CPU_VAR(fkt_calls_depth)
	pushq	PER_CPU_VAR(fkt_calls_off)
	.endif
	/* Before the clock is read, and at the return after that: asleep.c says why. */
	pushq	fkt_calls_period(%rip)
	.if \shared
	pushq	%rax
	.endif
.Lclock\@:
	READ_CLOCK
	.if \task
	movq	PER_CPU_VAR(fkt_calls_off), %r11
	cmpq	%r11, 8+8*\shared(%rsp)
	jne	.Lagain\@
	.endif
	addq	%rax, 8*\shared(%rsp)
	.if \shared
	popq	%rax
	.endif
	movq	\rdx, %rdx
	incq	PER_CPU_VAR(fkt_calls_begun)
	pushq	$\return
	/* The nop's call pushed this address, so the processor predicts that a return leads there. */
	pushq	16 + \kept(%rsp)
	RET
	.if \task
	/* The task was switched out between the two reads, and perhaps moved to another CPU: reads both again. */
.Lagain\@:
	movq	%r11, 8+8*\shared(%rsp)
	jmp	.Lclock\@
	.endif
	/*
	 * Never executed. While the function runs, an unwinder looks up the byte before the address it returns to: this
	 * one.
	 */
	CALLER_AT (24+\kept)
	int3
.endm

/* Pushes the registers for arguments, the first one last: they are an array at the stack pointer. */
.macro PUSH_ARGUMENTS
	pushq	%r9
	pushq	%r8
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
.endm

/* Restores them, and no flag. */
.macro POP_ARGUMENTS
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%r8
	popq	%r9
.endm

/*
 * At a return: pushes the result, rsi = the call's duration, with the change of the period; rdx | rax = the clock;
 * rcx = how long the task was not on a CPU meanwhile. Goes to `record` if the duration is not too short for this kind
 * of frame.
 */
.macro MEASURE record, kind, task
	pushq	%rax
	pushq	%rdx
	.if \task
.Lclock\@:
	movq	PER_CPU_VAR(fkt_calls_off), %rcx
	.endif
	rdtsc
	shlq	$32, %rdx
	leaq	(%rax, %rdx), %rsi
	.if \task
	cmpq	PER_CPU_VAR(fkt_calls_off), %rcx
	jne	.Lclock\@
	subq	24(%rsp), %rcx
	.endif
	addq	fkt_calls_period(%rip), %rsi
	subq	16(%rsp), %rsi
	cmpq	fkt_calls_shortest + 8 * \kind(%rip), %rsi
	jae	\record
	incq	PER_CPU_VAR(fkt_calls_too_short)
.endm

/* Returns to the caller of the function, after MEASURE. recorded: 1: the call is not counted as too short. */
.macro LEAVE kept, task, recorded=0
	CALLER_AT (40+\kept)
	.if \task
	/* Restores the depth from before the call, unless the call began in another period (tasks.c). */
	movq	32(%rsp), %rsi
	movq	PER_CPU_VAR(fkt_calls_depth), %rcx
	xorq	%rsi, %rcx
	shrq	$FKT_CALLS_DEPTH_BITS, %rcx
	jnz	.Lother_period\@
	movq	%rsi, PER_CPU_VAR(fkt_calls_depth)
.Lother_period\@:
	.endif
	popq	%rdx
	popq	%rax
	.if \recorded
	incq	PER_CPU_VAR(fkt_calls_returned)
	.endif
	/*
	 * The function's return used the prediction for this one. This call makes up for it, so that the callers'
	 * returns are predicted from their own calls.
	 */
	ANNOTATE_INTRA_FUNCTION_CALL
	call	.Lbalanced\@
	int3
.Lbalanced\@:
	addq	$(24 + \kept), %rsp
	CALLER_AT 8
	RET
.endm

/* These bits are 0 in the last part of a task's stack, which is aligned to its size. */
#define ROOM_BITS (THREAD_SIZE - THREAD_SIZE / FKT_CALLS_STACK_SHARE)

/*
 * At the begin of an entry that does not call C code: goes on to the body, untraced, if the stack is nearly used up.
 * Stacks of interrupts and exceptions are not aligned to their size: there, has_room() is always asked if `exact` is 1;
 * otherwise in one of four pages only, which is enough for the smallest frames (docs/decisions.md).
 */
.macro NEED_ROOM exact
	testl	$ROOM_BITS, %esp
	.if \exact
	jz	.Lask\@
	testl	$FKT_INTERRUPT_BITS, PER_CPU_VAR(FKT_PREEMPT_COUNT)
	jz	.Lroom\@
.Lask\@:
	.else
	jnz	.Lroom\@
	.endif
	call	has_room
	testb	%r10b, %r10b
	jnz	.Lroom\@
	RET
.Lroom\@:
.endm

/*
 * Returns in r10b whether a frame may be put on the stack; not in a flag, which a return may change where the kernel
 * counts the depth of calls. Changes r10 and r11. It knows of one stack that there is room from fkt_room_from
 * on, and asks C code about others.
 */
SYM_CODE_START_LOCAL(has_room)
	UNWIND_HINT_FUNC
	movq	%rsp, %r11
	subq	PER_CPU_VAR(fkt_room_from), %r11
	cmpq	$ROOM_BITS, %r11
	setb	%r10b
	jb	.Lknown
	pushq	%rax
	CALLER_AT 16
	PUSH_ARGUMENTS
	CALLER_AT 64
	movq	64(%rsp), %rdi
	call	fkt_calls_has_room
	movl	%eax, %r10d
	POP_ARGUMENTS
	popq	%rax
	CALLER_AT 8
.Lknown:
	RET
SYM_CODE_END(has_room)

/*
 * suffix: follows fkt_calls_enter and fkt_calls_return in the names of this kind. held: 1: its calls are held; needs
 * `task`.
 */
.macro PLAIN_FRAME suffix, kind, task, held=0
SYM_CODE_START(fkt_calls_share\suffix)
	UNWIND_HINT_FUNC
	ENDBR
	NEED_ROOM \task
	CALL_THROUGH fkt_calls_return\suffix, (FKT_CALLS_TASK_BYTES*\task), \task, 1
SYM_CODE_END(fkt_calls_share\suffix)
SYM_CODE_START(fkt_calls_enter\suffix)
	UNWIND_HINT_FUNC
	ENDBR
	NEED_ROOM \task
	CALL_THROUGH fkt_calls_return\suffix, (FKT_CALLS_TASK_BYTES*\task), \task
SYM_INNER_LABEL(fkt_calls_return\suffix, SYM_L_GLOBAL)
	CALLER_AT (24+FKT_CALLS_TASK_BYTES*\task)
	ANNOTATE_NOENDBR
	MEASURE .Lrecord\@, \kind, \task
	.if \held
	/* The outermost call, at depth 0, ends what is held of its task, however short it was. */
	cmpq	fkt_calls_held_shortest(%rip), %rsi
	jae	.Lhold\@
	cmpl	$0, 32(%rsp)
	je	.Lhold\@
.Lleave\@:
	.endif
	LEAVE (FKT_CALLS_TASK_BYTES*\task), \task
	.if \held
.Lhold\@:
	CALLER_AT (40+FKT_CALLS_TASK_BYTES)
	movq	%rsp, %rdi
	movq	24 + FKT_CALLS_TASK_BYTES(%rsp), %rdx
	call	fkt_calls_hold
	jmp	.Lleave\@
	.endif
.Lrecord\@:
	CALLER_AT (40+FKT_CALLS_TASK_BYTES*\task)
	.if \held
	movq	%rsp, %rdi
	movq	%rcx, 24(%rsp)
	leaq	24 + FKT_CALLS_TASK_BYTES(%rsp), %rdx
	call	fkt_calls_returned_held
	.elseif \task
	movq	%rsp, %rdi
	leaq	24(%rsp), %r8
	movq	%rcx, (%r8)
	leaq	24 + FKT_CALLS_TASK_BYTES(%rsp), %rdx
	xorl	%ecx, %ecx
	call	fkt_calls_returned_task
	.else
	/* They find the call on the stack (fkt_call_fn). */
	orq	%rax, %rdx
	call	__SCT__fkt_calls_record
	.endif
	LEAVE (FKT_CALLS_TASK_BYTES*\task), \task, 1
SYM_CODE_END(fkt_calls_enter\suffix)
.endm

	PLAIN_FRAME "", FKT_CALLS_PLAIN, 0
	PLAIN_FRAME _brief, FKT_CALLS_BRIEF, 0
	PLAIN_FRAME _task, FKT_CALLS_TASK, 1
	PLAIN_FRAME _held, FKT_CALLS_HELD, 1, 1
	PLAIN_FRAME _held_brief, FKT_CALLS_HELD_BRIEF, 1, 1

/* The variant that keeps the registers for arguments. */
#define ARGUMENT_BYTES (8 * FKT_CALLS_ARGUMENT_WORDS)
SYM_CODE_START(fkt_calls_share_arguments)
	UNWIND_HINT_FUNC
	ENDBR
	NEED_ROOM 1
	PUSH_ARGUMENTS
	CALL_THROUGH fkt_calls_return_arguments, ARGUMENT_BYTES, 0, 1, 24(%rsp)
SYM_CODE_END(fkt_calls_share_arguments)
SYM_CODE_START(fkt_calls_enter_arguments)
	UNWIND_HINT_FUNC
	ENDBR
	NEED_ROOM 1
	PUSH_ARGUMENTS
	/* The third one is behind the time and the first two. */
	CALL_THROUGH fkt_calls_return_arguments, ARGUMENT_BYTES, 0, 0, 24(%rsp)
SYM_INNER_LABEL(fkt_calls_return_arguments, SYM_L_GLOBAL)
	CALLER_AT (24+ARGUMENT_BYTES)
	ANNOTATE_NOENDBR
	MEASURE .Lrecord_arguments, FKT_CALLS_ARGUMENTS, 0
	LEAVE ARGUMENT_BYTES, 0
.Lrecord_arguments:
	CALLER_AT (40+ARGUMENT_BYTES)
	orq	%rax, %rdx
	call	__SCT__fkt_calls_record_arguments
	LEAVE ARGUMENT_BYTES, 0, 1
SYM_CODE_END(fkt_calls_enter_arguments)

/*
 * Asks with the arguments whether the call is traced (fkt_calls_entered()), and keeps words of it on the stack. A call
 * that is not traced goes on to the body with registers and stack as they were.
 */
.macro ASK words, shared=0
	subq	$(8*\words), %rsp
	CALLER_AT (8+8*\words)
	.if \shared
	pushq	%rax
	CALLER_AT (16+8*\words)
	.endif
	PUSH_ARGUMENTS
	CALLER_AT (56+8*\shared+8*\words)
	movq	%rsp, %rdi
	leaq	48+8*\shared(%rsp), %rsi
	movq	48+8*\shared+8*\words(%rsp), %rdx
	movl	$\words, %ecx
	call	fkt_calls_entered
	testb	%al, %al
	POP_ARGUMENTS
	.if \shared
	popq	%rax
	.endif
	CALLER_AT (8+8*\words)
	jnz	.Ltraced\@
	addq	$(8*\words), %rsp
	CALLER_AT 8
	RET
.Ltraced\@:
	CALLER_AT (8+8*\words)
.endm

/* The variants that ask first. */
.macro KEEPING_FRAME name, kind, words, task
SYM_CODE_START(fkt_calls_share_\name)
	UNWIND_HINT_FUNC
	ENDBR
	ASK \words, 1
	CALL_THROUGH fkt_calls_return_\name, (8*\words+FKT_CALLS_TASK_BYTES*\task), \task, 1
SYM_CODE_END(fkt_calls_share_\name)
SYM_CODE_START(fkt_calls_enter_\name)
	UNWIND_HINT_FUNC
	ENDBR
	ASK \words
	CALL_THROUGH fkt_calls_return_\name, (8*\words+FKT_CALLS_TASK_BYTES*\task), \task
SYM_INNER_LABEL(fkt_calls_return_\name, SYM_L_GLOBAL)
	CALLER_AT (24+8*\words+FKT_CALLS_TASK_BYTES*\task)
	ANNOTATE_NOENDBR
	MEASURE .Lrecord_\name, \kind, \task
	LEAVE (8*\words+FKT_CALLS_TASK_BYTES*\task), \task
.Lrecord_\name:
	CALLER_AT (40+8*\words+FKT_CALLS_TASK_BYTES*\task)
	movq	%rsp, %rdi
	.if \task
	leaq	24(%rsp), %r8
	movq	%rcx, (%r8)
	.endif
	leaq	24 + 8 * \words + FKT_CALLS_TASK_BYTES * \task(%rsp), %rdx
	leaq	24 + FKT_CALLS_TASK_BYTES * \task(%rsp), %rcx
	.if \task
	call	fkt_calls_returned_task
	.else
	call	fkt_calls_returned_kept
	.endif
	LEAVE (8*\words+FKT_CALLS_TASK_BYTES*\task), \task, 1
SYM_CODE_END(fkt_calls_enter_\name)
.endm

	KEEPING_FRAME few, FKT_CALLS_FEW, FKT_CALLS_FEW_WORDS, 0
	KEEPING_FRAME some, FKT_CALLS_SOME, FKT_CALLS_SOME_WORDS, 0
	KEEPING_FRAME many, FKT_CALLS_MANY, FKT_CALLS_MANY_WORDS, 0
	KEEPING_FRAME task_few, FKT_CALLS_TASK_FEW, FKT_CALLS_FEW_WORDS, 1
	KEEPING_FRAME task_some, FKT_CALLS_TASK_SOME, FKT_CALLS_SOME_WORDS, 1
	KEEPING_FRAME task_many, FKT_CALLS_TASK_MANY, FKT_CALLS_MANY_WORDS, 1
