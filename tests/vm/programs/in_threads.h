/* SPDX-License-Identifier: GPL-2.0-only */
/* What test programs with several threads share. */
#ifndef FKT_TEST_IN_THREADS_H
#define FKT_TEST_IN_THREADS_H

#include <pthread.h>
#include <stddef.h>

/* Runs the function in four threads at once, and waits for them. Returns an exit status. */
static inline int in_threads(void *(*run)(void *unused))
{
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

#endif /* FKT_TEST_IN_THREADS_H */
