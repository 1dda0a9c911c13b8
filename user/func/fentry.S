/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What functions that are compiled with -pg -mfentry call before anything else, and where they then return to. The code
 * behind it (func.c) uses no other registers than the general ones, so what is not saved here is not changed.
 */
	.text

/* On the stack: where the function goes on, and above that where it returns to. All arguments are in registers. */
	.globl	__fentry__
	.type	__fentry__, @function
	.p2align 4
__fentry__:
	.cfi_startproc
	endbr64
	subq	$64, %rsp
	.cfi_adjust_cfa_offset 64
	movq	%rdi, (%rsp)
	movq	%rsi, 8(%rsp)
	movq	%rdx, 16(%rsp)
	movq	%rcx, 24(%rsp)
	movq	%r8, 32(%rsp)
	movq	%r9, 40(%rsp)
	movq	%rax, 48(%rsp)
	movq	%r10, 56(%rsp)
	movq	64(%rsp), %rdi
	leaq	72(%rsp), %rsi
	call	fkt_func_entered
	movq	(%rsp), %rdi
	movq	8(%rsp), %rsi
	movq	16(%rsp), %rdx
	movq	24(%rsp), %rcx
	movq	32(%rsp), %r8
	movq	40(%rsp), %r9
	movq	48(%rsp), %rax
	movq	56(%rsp), %r10
	addq	$64, %rsp
	.cfi_adjust_cfa_offset -64
	ret
	.cfi_endproc
	.size	__fentry__, . - __fentry__

/* The function has returned: its results are in rax, rdx and registers that are not touched. */
	.globl	fkt_func_return
	.hidden	fkt_func_return
	.type	fkt_func_return, @function
	.p2align 4
fkt_func_return:
	.cfi_startproc
	.cfi_undefined rip
	endbr64
	subq	$32, %rsp
	movq	%rax, (%rsp)
	movq	%rdx, 8(%rsp)
	leaq	24(%rsp), %rdi
	call	fkt_func_left
	movq	%rax, %rcx
	movq	(%rsp), %rax
	movq	8(%rsp), %rdx
	addq	$32, %rsp
	/* Not ret: the processor would expect the next outer call's return here, and be wrong from there on. */
	jmp	*%rcx
	.cfi_endproc
	.size	fkt_func_return, . - fkt_func_return

	.section .note.GNU-stack, "", @progbits
