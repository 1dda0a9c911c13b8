// SPDX-License-Identifier: GPL-2.0-only
/*
 * Raises each exception that a program can raise, N times each (default 5), and survives. Prints lines
 * "NUMBER TIMES": the processor's trap number, and how often a signal resulted: QEMU's emulated
 * processor raises no #XF (19). Signal handlers leave by siglongjmp.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

static sigjmp_buf back;
static volatile int signals;

static void handler(int sig)
{
	(void)sig;
	signals++;
	siglongjmp(back, 1);
}

/* #DB comes after an instruction: the handler clears the trap flag and returns. */
static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)sig;
	(void)info;
	signals++;
	c->uc_mcontext.gregs[REG_EFL] &= ~0x100;
}

static void divide(void)
{
	asm volatile("xorl %%edx, %%edx; movl $1, %%eax; xorl %%ecx, %%ecx; divl %%ecx"
		     ::: "eax", "ecx", "edx");
}

static void single_step(void)
{
	/* Skip the red zone below the stack pointer. */
	asm volatile("subq $128, %%rsp; pushfq; orl $0x100, (%%rsp); popfq; nop; addq $128, %%rsp"
		     ::: "memory", "cc");
}

static void breakpoint(void)
{
	asm volatile("int3");
}

static void bad_opcode(void)
{
	asm volatile("ud2");
}

static void protection(void)
{
	asm volatile("hlt");
}

static void x87(void)
{
	const unsigned short unmasked = 0x37f & ~4;

	asm volatile("fninit; fldcw %0; fldz; fld1; fdivp; fwait" :: "m"(unmasked));
}

static void simd(void)
{
	_mm_setcsr(_MM_MASK_MASK & ~_MM_MASK_DIV_ZERO);
	asm volatile("xorps %%xmm1, %%xmm1; divss %%xmm1, %%xmm0" ::: "xmm0", "xmm1");
}

static void page_fault(void)
{
	asm volatile("movb $1, 8");
}

static const struct {
	int number;
	void (*raise)(void);
} traps[] = {
	{ 0, divide }, { 1, single_step }, { 3, breakpoint }, { 6, bad_opcode },
	{ 13, protection }, { 14, page_fault }, { 16, x87 }, { 19, simd },
};

int main(int argc, char **argv)
{
	const int kinds[] = { SIGFPE, SIGILL, SIGSEGV };
	struct sigaction trap = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct sigaction other = { .sa_handler = handler, .sa_flags = SA_NODEFER };
	volatile int i, n, times = argc > 1 ? atoi(argv[1]) : 5;

	sigaction(SIGTRAP, &trap, NULL);
	for (i = 0; i < 3; i++)
		sigaction(kinds[i], &other, NULL);
	for (i = 0; i < (int)(sizeof(traps) / sizeof(traps[0])); i++) {
		signals = 0;
		for (n = 0; n < times; n++)
			if (!sigsetjmp(back, 1))
				traps[i].raise();
		asm volatile("fninit");
		_mm_setcsr(0x1f80);
		printf("%d %d\n", traps[i].number, signals);
	}
	return 0;
}
