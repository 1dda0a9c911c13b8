// SPDX-License-Identifier: GPL-2.0-only
/*
 * hold_up CPU: when this process was frozen, because the machine slept, it then keeps the CPU for 0.8 s before all
 * others that would run there. Prints "ready" when it can. Ends after the first time.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MS 1000000LL

static long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000 * MS + time.tv_nsec;
}

int main(int argc, char **argv)
{
	const struct sched_param param = { .sched_priority = 50 };
	const struct timespec pause = { .tv_nsec = MS };
	long long before, until;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) || sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("hold_up");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	do {
		before = now();
		nanosleep(&pause, NULL);
	} while (now() - before < 700 * MS);
	for (until = now() + 800 * MS; now() < until;)
		;
	return 0;
}
