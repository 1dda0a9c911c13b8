// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls umask(2) from functions with frame pointers, and prints the addresses that its user stack must have, the
 * innermost one first: behind the system call, then those that the functions return to.
 */
#include <stdio.h>
#include <sys/syscall.h>

static void *addresses[3];
static int at;

#define WITH_FRAME __attribute__((noinline, noclone, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))

WITH_FRAME static long innermost(long mask)
{
	void *behind;
	long old;

	asm volatile("lea 1f(%%rip), %1\n\tsyscall\n1:"
		     : "=a"(old), "=&r"(behind)
		     : "0"((long)SYS_umask), "D"(mask)
		     : "rcx", "r11", "memory");
	addresses[at++] = behind;
	addresses[at++] = __builtin_return_address(0);
	return old;
}

WITH_FRAME static long middle(long mask)
{
	const long old = innermost(mask);

	addresses[at++] = __builtin_return_address(0);
	return old;
}

int main(void)
{
	int i;

	middle(0123);
	for (i = 0; i < at; i++)
		printf("%p\n", addresses[i]);
	return 0;
}
