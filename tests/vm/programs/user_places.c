// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose functions are recorded (tests/vm/cases/user_places): user_places N [FOLLOW-UP] calls each of them N
 * times with arguments that follow from the number of the call, and prints what it has called. FOLLOW-UP: "threads" does
 * it in four threads at once; "fork" once more in a child; "exec" once more after an exec; "die" is killed in a function.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT __attribute__((noipa, noinline, used))

struct node {
	long first, second;
	const char *name;
};

KEPT long place_many(int a, unsigned int b, long c, const void *d, long e, long f, long g, long h)
{
	return a + b + c + (d != NULL) + e + f + g + h;
}

KEPT int place_text(const char *text)
{
	return -(int)strlen(text);
}

KEPT long place_node(const struct node *node)
{
	return node->second;
}

KEPT unsigned long place_deep(unsigned long n);

/* The compiler would make a loop of it. */
static unsigned long (*volatile deeper)(unsigned long n) = place_deep;

KEPT unsigned long place_deep(unsigned long n)
{
	return n ? deeper(n - 1) + 1 : 0;
}

KEPT void place_dies(int how)
{
	if (how)
		kill(getpid(), SIGKILL);
}

static long calls;

static void *call_all(void *unused)
{
	const struct node node = { .first = 11, .second = 22, .name = "the node's name" };
	long i;

	(void)unused;
	for (i = 0; i < calls; i++) {
		place_many(-(int)i, 7, i << 33, &node, 5, 6, i + 1000, i + 2000);
		place_text(i % 2 ? "odd" : "an even one");
		place_node(&node);
		place_deep(3);
		place_dies(0);
	}
	return NULL;
}

static int in_threads(void)
{
	pthread_t threads[4];
	int i;

	for (i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, call_all, NULL))
			return 1;
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *then = argc > 2 ? argv[2] : "";

	calls = argc > 1 ? atol(argv[1]) : 1;
	if (!strcmp(then, "threads"))
		return in_threads();
	call_all(NULL);
	if (!strcmp(then, "fork")) {
		if (!fork())
			call_all(NULL);
		else
			wait(NULL);
	} else if (!strcmp(then, "exec")) {
		execl(argv[0], argv[0], argv[1], (char *)NULL);
		return 1;
	} else if (!strcmp(then, "die")) {
		place_dies(1);
	}
	return 0;
}
