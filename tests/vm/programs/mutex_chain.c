// SPDX-License-Identifier: GPL-2.0-only
/*
 * Three threads take one mutex, one after the other: the first holds it for 600 ms, the second waits for it from 200 ms
 * on and holds it for 400 ms, the third waits for it from 400 ms on. Prints the mutex's address, the numbers of the
 * second and the third thread, for how many ns of CLOCK_MONOTONIC_RAW the second, the first and the third one held the
 * mutex, and for how many ns the second and the third one waited for it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long long held[3], waited[3];
static int tids[3];

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *hold(void *arg)
{
	static const unsigned int begin[3] = { 0, 200000, 400000 }, length[3] = { 600000, 400000, 1000 };
	const int number = (int)(long)arg;
	long long since, before;

	tids[number] = gettid();
	usleep(begin[number]);
	before = now();
	pthread_mutex_lock(&mutex);
	since = now();
	waited[number] = since - before;
	usleep(length[number]);
	held[number] = now() - since;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];
	long i;

	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, hold, (void *)i);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%#lx %d %d %lld %lld %lld %lld %lld\n", (unsigned long)&mutex, tids[1], tids[2], held[1], held[0], held[2],
	       waited[1], waited[2]);
	return 0;
}
