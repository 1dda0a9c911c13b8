/* SPDX-License-Identifier: GPL-2.0-only */
/* The shape of a module: two functions, one of them with a part put aside, and the kernel's tables. */
	.text
	.globl	work
	.type	work, @function
work:
	call	__fentry__
	testl	%edi, %edi
	jne	work.cold
1:	nopl	0(%rax,%rax,1)		/* a static branch to 4 */
2:	movq	(%rdi), %rax		/* may fault: goes on at 4 */
	movl	counter(%rip), %eax
	call	helper
	ret
4:	movl	$-14, %eax
	ret
	.size	work, . - work

	.type	helper, @function
helper:
	call	__fentry__
	jmp	outside
	.size	helper, . - helper

	.section .text.unlikely, "ax"
	.type	work.cold, @function
work.cold:
	call	outside
3:	ud2				/* a warning */
	jmp	1b
	.size	work.cold, . - work.cold

	.section __jump_table, "aw"
	.long	1b - ., 4b - .
	.quad	0
	.section __ex_table, "a"
	.long	2b - ., 4b - ., 0
	.section __bug_table, "aw"
	.long	3b - ., 0
	.word	0, 1

	.data
	.type	counter, @object
counter:
	.long	0
	.section .note.GNU-stack, "", @progbits
