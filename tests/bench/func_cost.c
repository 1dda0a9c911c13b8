// SPDX-License-Identifier: GPL-2.0-only
/*
 * func_cost BURSTS DEPTH PAUSE_US: what a call of a function costs, of a recursive one that does next to nothing. Each burst
 * computes the Fibonacci number DEPTH, and a pause after it lets whoever records the calls keep up. Prints the median and
 * the least of the bursts' times, per call in ns, and how many calls there were.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))

/* Returns how many calls it took. */
__attribute__((noinline)) static long fib(int n)
{
	return n < 2 ? 1 : 1 + fib(n - 1) + fib(n - 2);
}

UNSEEN static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

UNSEEN static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

UNSEEN int main(int argc, char **argv)
{
	const long bursts = argc == 4 ? atol(argv[1]) : 0;
	long calls = 0, i;
	double *times;

	if (bursts < 1) {
		fprintf(stderr, "usage: func_cost BURSTS DEPTH PAUSE_US\n");
		return 2;
	}
	times = malloc(sizeof(*times) * (size_t)bursts);
	if (!times)
		return 1;
	for (i = 0; i < bursts; i++) {
		const double begin = now_ns();
		const long n = fib(atoi(argv[2]));

		times[i] = (now_ns() - begin) / (double)n;
		calls += n;
		usleep((useconds_t)atol(argv[3]));
	}
	qsort(times, (size_t)bursts, sizeof(*times), compare);
	printf("%.2f %.2f %ld\n", times[bursts / 2], times[0], calls);
	free(times);
	return 0;
}
