/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A program that knows nothing of FKT, and whose functions are recorded all the same:
 *
 *   cc -O2 -finstrument-functions functions.c -o functions -pthread
 *   fkt_record --functions ./functions && fkt_kd                           its functions alone; needs no module
 *   fkt_record -k system,process --functions ./functions && fkt_kd --functions    with what the kernel did for each
 *
 * functions THREADS ROUNDS: in each round a thread computes, writes one byte to /dev/null, and in every eighth one sleeps
 * for a millisecond. Prints how often each function was called.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct worker {
	pthread_t thread;
	long rounds, computed, saved, rested;
	double sum;
	int output;
};

static __attribute__((noinline)) double compute(struct worker *w, long round)
{
	double sum = 0;
	long i;

	w->computed++;
	for (i = 1; i < 500; i++)
		sum += 1.0 / (double)(round + i);
	return sum;
}

/* One system call. */
static __attribute__((noinline)) void save(struct worker *w)
{
	w->saved++;
	if (write(w->output, "x", 1) != 1)
		perror("write");
}

/* One system call, which waits. */
static __attribute__((noinline)) void rest(struct worker *w)
{
	const struct timespec time = {0, 1000000};

	w->rested++;
	nanosleep(&time, NULL);
}

static __attribute__((noinline)) void one_round(struct worker *w, long number)
{
	w->sum += compute(w, number);
	save(w);
	if (number % 8 == 0)
		rest(w);
}

static void *work(void *argument)
{
	struct worker *w = (struct worker *)argument;
	long i;

	for (i = 0; i < w->rounds; i++)
		one_round(w, i);
	return NULL;
}

int main(int argc, char **argv)
{
	const long threads = argc > 1 ? atol(argv[1]) : 2, rounds = argc > 2 ? atol(argv[2]) : 100;
	struct worker *workers = (struct worker *)calloc(threads > 0 ? (size_t)threads : 1, sizeof(*workers));
	struct worker all = {0};
	long i;

	all.output = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (threads < 1 || !workers || all.output < 0)
		return 1;
	for (i = 0; i < threads; i++) {
		workers[i].rounds = rounds;
		workers[i].output = all.output;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 1;
	}
	for (i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		all.computed += workers[i].computed;
		all.saved += workers[i].saved;
		all.rested += workers[i].rested;
		all.sum += workers[i].sum;
	}
	free(workers);
	printf("main 1\nwork %ld\none_round %ld\ncompute %ld\nsave %ld\nrest %ld\n", threads, threads * rounds,
	       all.computed, all.saved, all.rested);
	return all.sum < 0;
}
