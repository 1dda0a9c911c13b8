/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trampoline.S in a user program, and functions as the kernel's are: with a nop at their begin, or with the call that
 * takes its place while they are traced.
 */
#include "tests/bench/user_kernel.h"
#include "module/arch/x86/calls/trampoline.S"

.macro FUNCTION name, first:vararg
	.globl	\name
	.p2align 4
\name:
	\first
	leaq	1(%rdi), %rax
	ret
.endm
	FUNCTION untraced, nopl 0(%rax, %rax, 1)
	FUNCTION traced, call fkt_calls_enter

	.section .note.GNU-stack, "", @progbits
