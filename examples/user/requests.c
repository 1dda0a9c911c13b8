/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A program with events of its own: a few threads answer requests.
 *
 *   cc -O2 requests.c -o requests && fkt_record --user-only ./requests && fkt_print
 *
 * requests THREADS REQUESTS: prints how many events each thread has, and the sum of what it has recorded.
 */
#include <fkt/user.h>

struct worker {
	pthread_t thread;
	long number, requests, events, sum;
};

static long answer(long number, long request)
{
	FKT_USER_SCOPE("answer");
	fkt_user_probe2(17, (int)number, (int)request);
	return number + request;
}

static void *work(void *argument)
{
	static const char *const paths[] = {"/etc/passwd", "/", "/usr/share/doc"};
	struct worker *w = (struct worker *)argument;
	long i;

	for (i = 0; i < w->requests; i++) {
		const char *path = paths[i % 3];
		const long result = answer(w->number, i);

		FKT_USER_EVENT("request", FKT_U32("bytes", i), FKT_I32("result", -result), FKT_TEXT("path", path));
		FKT_USER_COUNTER("waiting", w->requests - i);
		w->events += 5;
		w->sum += i - result;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const long threads = argc > 1 ? atol(argv[1]) : 2, requests = argc > 2 ? atol(argv[2]) : 1000;
	struct worker *workers = (struct worker *)calloc((size_t)threads, sizeof(*workers));
	long i;

	if (!workers || threads < 1)
		return 1;
	FKT_USER_BEGIN("run", FKT_INT("threads", threads));
	for (i = 0; i < threads; i++) {
		workers[i].number = i;
		workers[i].requests = requests;
		FKT_USER_ASYNC_BEGIN("worker", i);
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 1;
	}
	for (i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		FKT_USER_ASYNC_END("worker", i);
		printf("%ld events, sum %ld\n", workers[i].events, workers[i].sum);
	}
	FKT_USER_END("run");
	free(workers);
	return 0;
}
