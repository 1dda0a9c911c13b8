// SPDX-License-Identifier: GPL-2.0-only
/*
 * callloop [N [ROUNDS]] calls getppid N times (default 100000); prints the CPU time this took in ns, the least of so many
 * rounds (1) that follow each other.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long time_calls(long n)
{
	long long start = now();
	long i;

	for (i = 0; i < n; i++)
		syscall(SYS_getppid);
	return now() - start;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100000, rounds = argc > 2 ? atol(argv[2]) : 1;
	long long took, least = LLONG_MAX;

	for (; rounds > 0; rounds--) {
		took = time_calls(n);
		if (took < least)
			least = took;
	}
	printf("%lld\n", least);
	return 0;
}
