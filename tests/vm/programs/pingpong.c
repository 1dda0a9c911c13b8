// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two processes on two CPUs send a byte back and forth over pipes, N times (default 200). Prints "A B
 * N": the two pids; A's write wakes B, B's write wakes A.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
}

int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 200, to[2], fro[2];
	pid_t child;
	char c = 0;

	if (pipe(to) || pipe(fro))
		return 1;
	child = fork();
	if (!child) {
		pin(1);
		for (i = 0; i < n; i++)
			if (read(to[0], &c, 1) != 1 || write(fro[1], &c, 1) != 1)
				_exit(1);
		_exit(0);
	}
	pin(0);
	for (i = 0; i < n; i++)
		if (write(to[1], &c, 1) != 1 || read(fro[0], &c, 1) != 1)
			return 1;
	printf("%d %d %d\n", getpid(), child, n);
	return waitpid(child, &i, 0) == child && i == 0 ? 0 : 1;
}
