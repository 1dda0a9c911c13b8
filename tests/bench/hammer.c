/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hammer THREADS SECONDS: each thread, on a CPU of its own, calls getppid() until the time is over.
 * Prints the number of calls, and calls per second.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_int stop;

struct hammer {
	pthread_t thread;
	int cpu;
	unsigned long calls;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void *run(void *argument)
{
	struct hammer *hammer = argument;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(hammer->cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		getppid();
		hammer->calls++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int i, threads = argc > 2 ? atoi(argv[1]) : 0;
	double seconds = argc > 2 ? atof(argv[2]) : 0, began, took;
	unsigned long calls = 0;
	struct hammer *hammers;

	if (threads <= 0 || seconds <= 0) {
		fprintf(stderr, "usage: hammer THREADS SECONDS\n");
		return 2;
	}
	hammers = calloc(threads, sizeof(*hammers));
	began = now();
	for (i = 0; i < threads; i++) {
		hammers[i].cpu = i;
		if (pthread_create(&hammers[i].thread, NULL, run, &hammers[i]))
			return 1;
	}
	usleep(seconds * 1e6);
	stop = 1;
	for (i = 0; i < threads; i++) {
		pthread_join(hammers[i].thread, NULL);
		calls += hammers[i].calls;
	}
	took = now() - began;
	printf("%lu calls, %.0f per second\n", calls, calls / took);
	return 0;
}
