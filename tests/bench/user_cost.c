// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_cost WHAT THREADS BURSTS EVENTS PAUSE_US: what an event of a program with two arguments of 32 bits costs. Each
 * thread writes BURSTS times EVENTS events, and pauses after each burst, so that whoever records them keeps up. Prints
 * the median and the least of the bursts' times, per event in ns, and the rate of all threads.
 *
 * WHAT: tsc (reads the time stamp counter and adds), probe (fkt_user_probe2), event (FKT_USER_EVENT with two fields), or,
 * if built with LTTng-UST, ust.
 */
#include <fkt/user.h>

#ifdef WITH_UST
#define TRACEPOINT_CREATE_PROBES
#define TRACEPOINT_DEFINE
#include "user_ust.h"
#endif

#define MOST_THREADS 64

struct job {
	pthread_t thread;
	char what;
	long bursts, events, pause_us;
	double *times; /* of each burst, per event, in ns */
	unsigned long long sum;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void burst(struct job *job)
{
	long i;

	switch (job->what) {
	case 't':
		for (i = 0; i < job->events; i++)
			job->sum += __builtin_ia32_rdtsc();
		break;
	case 'p':
		for (i = 0; i < job->events; i++)
			fkt_user_probe2(7, i, i + 1);
		break;
	case 'e':
		for (i = 0; i < job->events; i++)
			FKT_USER_EVENT("cost", FKT_I32("a", i), FKT_I32("b", i + 1));
		break;
#ifdef WITH_UST
	case 'u':
		for (i = 0; i < job->events; i++)
			tracepoint(user_cost, two, (int)i, (int)i + 1);
		break;
#endif
	}
}

static void *run(void *argument)
{
	struct job *job = argument;

	for (long i = 0; i < job->bursts; i++) {
		const double begin = now_ns();

		burst(job);
		job->times[i] = (now_ns() - begin) / (double)job->events;
		if (job->pause_us)
			usleep((useconds_t)job->pause_us);
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	const long threads = argc == 6 ? atol(argv[2]) : 0;
	struct job jobs[MOST_THREADS];
	double begin, *times;
	long bursts;

	if (threads < 1 || threads > MOST_THREADS || !strchr("tpeu", argv[1][0])) {
		fprintf(stderr, "usage: user_cost tsc|probe|event|ust THREADS BURSTS EVENTS PAUSE_US\n");
		return 2;
	}
	bursts = atol(argv[3]);
	times = malloc(sizeof(*times) * (size_t)(threads * bursts));
	if (!times)
		return 1;
	begin = now_ns();
	for (long i = 0; i < threads; i++) {
		jobs[i] = (struct job){.what = argv[1][0], .bursts = bursts, .events = atol(argv[4]),
				       .pause_us = atol(argv[5]), .times = times + i * bursts};
		if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]))
			return 1;
	}
	for (long i = 0; i < threads; i++)
		pthread_join(jobs[i].thread, NULL);
	begin = now_ns() - begin;
	qsort(times, (size_t)(threads * bursts), sizeof(*times), compare);
	printf("%.2f %.2f %.0f\n", times[threads * bursts / 2], times[0],
	       (double)(threads * bursts * jobs[0].events) / begin * 1e9);
	free(times);
	return 0;
}
