/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loop whose events the benchmark counts: getppid_cost CALLS [ROUNDS] prints for each round the
 * nanoseconds of CLOCK_MONOTONIC per call. Under tests/vm/run --icount these are guest instructions:
 * those of the loop and of everything else that ran on the only CPU meanwhile. With -DUSER_FUNCTION the loop calls a
 * function of its own instead, with -DTIMER it switches off a timer that is off.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifdef USER_FUNCTION
__attribute__((noinline)) void user_function(void)
{
	__asm__ volatile("");
}
#define CALL() user_function()
#elif defined(TIMER)
static const struct itimerval off;
#define CALL() setitimer(ITIMER_REAL, &off, NULL)
#else
#define CALL() getppid()
#endif

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long loop_ns(long calls)
{
	long long start = now_ns();

	for (long i = 0; i < calls; i++)
		CALL();
	return now_ns() - start;
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 0;
	long rounds = argc > 2 ? atol(argv[2]) : 1;

	if (calls <= 0 || rounds <= 0) {
		fprintf(stderr, "usage: getppid_cost CALLS [ROUNDS]\n");
		return 2;
	}
	for (long i = 0; i < rounds; i++)
		printf("%.3f\n", (double)loop_ns(calls) / calls);
	return 0;
}
