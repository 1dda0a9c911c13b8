// SPDX-License-Identifier: GPL-2.0-only
/*
 * flood THREADS CALLS [PAUSE]: each thread calls getppid CALLS times, and pauses PAUSE microseconds
 * after each hundred calls. With CALLS 0: until SIGTERM. Prints the total number of calls.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile sig_atomic_t stop;
static unsigned long calls, pause_us;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

static void *hammer(void *arg)
{
	unsigned long *done = arg;

	while (!stop && *done != calls) {
		syscall(SYS_getppid);
		if (++*done % 100 == 0 && pause_us)
			usleep(pause_us);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 2;
	unsigned long *done = calloc(n, sizeof(*done)), sum = 0;
	pthread_t *threads = calloc(n, sizeof(*threads));

	signal(SIGTERM, on_term);
	calls = argc > 2 ? strtoul(argv[2], NULL, 10) : 100000;
	pause_us = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	if (!calls)
		calls = ~0UL;
	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, hammer, &done[i]))
			return 1;
	for (i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		sum += done[i];
	}
	printf("%lu\n", sum);
	return 0;
}
