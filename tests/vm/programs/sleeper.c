// SPDX-License-Identifier: GPL-2.0-only
/* Sleeps 200 ms five times; prints its pid, then the length of each sleep in ns of CLOCK_MONOTONIC_RAW. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(void)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	long long before, slept[5];
	int i;

	now();
	for (i = 0; i < 5; i++) {
		before = now();
		nanosleep(&pause, NULL);
		slept[i] = now() - before;
	}
	printf("%d\n", getpid());
	for (i = 0; i < 5; i++)
		printf("%lld\n", slept[i]);
	return 0;
}
