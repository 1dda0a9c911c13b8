// SPDX-License-Identifier: GPL-2.0-only
/*
 * A group of tasks for the filter tests: a thread, a child, a grandchild that moves to its own session
 * and outlives its parent, a child that execs. Each calls getppid a different number of times; prints
 * lines "ROLE TID CALLS".
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void call(const char *role, int times)
{
	char line[64];
	int i, n;

	for (i = 0; i < times; i++)
		syscall(SYS_getppid);
	n = snprintf(line, sizeof(line), "%s %ld %d\n", role, syscall(SYS_gettid), times);
	if (write(1, line, n) != n)
		_exit(1);
}

static void *thread(void *unused)
{
	(void)unused;
	call("thread", 200);
	return NULL;
}

/* As a daemon does: fork, setsid, fork; the pipe is closed when the grandchild is done. */
static void daemonize(int done)
{
	pid_t parent;

	if (fork())
		_exit(0);
	setsid();
	parent = getpid();
	if (fork())
		_exit(0);
	/* Waits until this process is orphaned, whichever process becomes its parent. */
	while (getppid() == parent)
		usleep(1000);
	call("orphan", 400);
	close(done);
	_exit(0);
}

int main(int argc, char **argv)
{
	int ends[2];
	pthread_t t;
	char c;

	if (argc > 1 && !strcmp(argv[1], "exec")) {
		call("exec", 800);
		return 0;
	}
	call("main", 100);
	if (pthread_create(&t, NULL, thread, NULL) || pipe(ends))
		return 1;
	pthread_join(t, NULL);
	if (!fork())
		execl("/proc/self/exe", "members", "exec", NULL);
	if (!fork())
		daemonize(ends[1]);
	close(ends[1]);
	while (wait(NULL) > 0)
		;
	return read(ends[0], &c, 1);
}
