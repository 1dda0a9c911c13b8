/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * vfork() returns twice on one stack: the child overwrites what is there before the parent goes on. So until then the
 * return address, and what vforked.h keeps, are in registers, which the kernel gives back to both.
 */
#include <sys/syscall.h>

	.text

	.globl	vfork
	.type	vfork, @function
	.globl	__vfork
	.type	__vfork, @function
	.p2align 4
vfork:
__vfork:
	.cfi_startproc
	endbr64
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	fkt_func_before_vfork
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	.cfi_register rip, rdx
	movq	%rax, %rdi
	movl	$SYS_vfork, %eax
	syscall
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rip, 0
	movq	%rax, %rsi
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	fkt_func_after_vfork
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	vfork, . - vfork
	.size	__vfork, . - __vfork

	.section .note.GNU-stack, "", @progbits
