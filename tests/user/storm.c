/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * storm THREADS EVENTS: each thread writes EVENTS events as fast as it can, while a timer interrupts the process all the
 * time and the handler writes events too. Prints how many were called in all.
 */
#include <fkt/user.h>

#define MOST_THREADS 64

static long events;
static long handled;

static void on_signal(int number)
{
	(void)number;
	fkt_user_probe2(8, 5, ~5);
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void *run(void *unused)
{
	(void)unused;
	for (long i = 0; i < events; i++)
		fkt_user_probe2(7, (int)i, ~(int)i);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	const long threads = argc == 3 ? atol(argv[1]) : 0;
	pthread_t thread[MOST_THREADS];
	struct sigaction action;

	if (threads < 1 || threads > MOST_THREADS)
		return 2;
	events = atol(argv[2]);
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART | SA_NODEFER;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (long i = 0; i < threads; i++) {
		if (pthread_create(&thread[i], NULL, run, NULL))
			return 1;
	}
	for (long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	printf("%ld\n", threads * events + __atomic_load_n(&handled, __ATOMIC_RELAXED));
	return 0;
}
