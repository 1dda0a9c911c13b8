// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose functions' calls are recorded (tests/vm/cases/user_exits): user_exits HOW N, where HOW says what it does
 * N times. It prints what it knows of its calls: results of exits_ret, and of exits_sleep the nanoseconds around the call.
 */
#define _GNU_SOURCE

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "in_threads.h"

#define KEPT __attribute__((noipa, noinline, used))

KEPT int exits_ret(int i)
{
	return -i;
}

KEPT const char *exits_text(const char *text)
{
	return text + 1;
}

KEPT long exits_sleep(long us)
{
	usleep(us);
	return us;
}

KEPT unsigned long exits_fib(unsigned long n);
static unsigned long (*volatile fib)(unsigned long n) = exits_fib;

KEPT unsigned long exits_fib(unsigned long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

KEPT unsigned long exits_deep(unsigned long n);
static unsigned long (*volatile deeper)(unsigned long n) = exits_deep;

KEPT unsigned long exits_deep(unsigned long n)
{
	return n > 1 ? deeper(n - 1) + 1 : 1;
}

/* Leaves with a jump to exits_ret, whose return is that of both. */
KEPT int exits_tail(int i);
__asm__(".text\n.globl exits_tail\n.type exits_tail, @function\nexits_tail:\n\tnop\n\tjmp exits_ret\n.size exits_tail, . - exits_tail\n");

static jmp_buf back;

/* Never returns; the place of its return address is used again by the next call. */
KEPT void exits_jump(int i)
{
	longjmp(back, i + 1);
}

/* Which may return, or not. */
KEPT int exits_maybe(int jumps)
{
	if (jumps)
		longjmp(back, 1);
	return 7;
}

KEPT int exits_fork(void)
{
	const pid_t child = fork();

	if (child > 0)
		waitpid(child, NULL, 0);
	return child;
}

KEPT void exits_exec(const char *self, const char *n)
{
	execl(self, self, "ret", n, (char *)NULL);
}

KEPT void exits_die(void)
{
	kill(getpid(), SIGKILL);
}

/* Says that it waits, and returns when it may. */
KEPT int exits_wait(void)
{
	char c;

	if (puts("waits") < 0 || fflush(stdout) || read(0, &c, 1) != 1)
		return -1;
	return c;
}

static long calls;

static void *call_ret(void *unused)
{
	long i;

	(void)unused;
	for (i = 0; i < calls; i++) {
		exits_ret((int)i);
		exits_text(i % 2 ? "xodd" : "xan even one");
		exits_fib(3);
	}
	return NULL;
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void sleep_often(void)
{
	long i;

	for (i = 0; i < calls; i++) {
		const long long begin = now();

		exits_sleep(1000 * (1 + i % 8));
		printf("slept %lld\n", now() - begin);
	}
}

static void jump_often(void)
{
	volatile long i;

	for (i = 0; i < calls; i++) {
		if (!setjmp(back))
			exits_jump(1);
		if (!setjmp(back))
			exits_maybe(i % 2);
		exits_ret((int)i);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	long i;

	calls = argc > 2 ? atol(argv[2]) : 1;
	if (!strcmp(how, "ret"))
		call_ret(NULL);
	else if (!strcmp(how, "threads"))
		return in_threads(call_ret);
	else if (!strcmp(how, "sleep"))
		sleep_often();
	else if (!strcmp(how, "jump"))
		jump_often();
	else if (!strcmp(how, "deep"))
		exits_deep(calls);
	else if (!strcmp(how, "die"))
		exits_die();
	else if (!strcmp(how, "exec"))
		exits_exec(argv[0], argv[2]);
	for (i = 0; i < calls; i++) {
		if (!strcmp(how, "tail"))
			exits_tail((int)i);
		else if (!strcmp(how, "fork") && !exits_fork())
			return 0;
		else if (!strcmp(how, "wait"))
			exits_wait();
	}
	return 0;
}
