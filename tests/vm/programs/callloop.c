// SPDX-License-Identifier: GPL-2.0-only
/* Calls getppid N times (default 100000); prints the CPU time this took in ns. */
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

int main(int argc, char **argv)
{
	long i, n = argc > 1 ? atol(argv[1]) : 100000;
	long long start = now();

	for (i = 0; i < n; i++)
		syscall(SYS_getppid);
	printf("%lld\n", now() - start);
	return 0;
}
