// SPDX-License-Identifier: GPL-2.0-only
/* The program "Pulsar" of the report of 2000: rounds of forks with sleeps between them; prints its own pid. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 5
#define FORKS 32

int main(void)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	int round, i;

	printf("%d\n", getpid());
	fflush(stdout);
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < FORKS; i++) {
			pid_t child = fork();

			if (child < 0)
				return 1;
			if (!child)
				_exit(0);
		}
		for (i = 0; i < FORKS; i++)
			if (wait(NULL) < 0)
				return 1;
		nanosleep(&pause, NULL);
	}
	return 0;
}
