// SPDX-License-Identifier: GPL-2.0-only
// births HOW: processes that are born in each way, whose functions are called before, in and after it. main() is not seen.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))
#define APART __attribute__((noinline))

extern char **environ;
volatile int sink;
static char stack[1 << 16] __attribute__((aligned(16)));

APART void leaf(void) { sink = 1; }
APART void work(void) { leaf(); sink = 2; }
APART void ends(void)
{
	leaf();
	_exit(0);
}
APART void executes(void)
{
	char *words[] = {"true", NULL};

	leaf();
	execve("/bin/true", words, environ);
	_exit(1);
}
APART int runs(void *given)
{
	leaf();
	sink = (int)(intptr_t)given;
	return 0;
}
APART void waits(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status)
		abort();
}

APART void by_vfork(void (*child)(void))
{
	pid_t pid = vfork();

	if (!pid)
		child();
	waits(pid);
}
// A child that begins another process itself.
APART void begins_another(void)
{
	by_vfork(ends);
	_exit(0);
}
APART void by_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		ends();
	waits(pid);
}
APART void by_clone(int flags)
{
	waits(clone(runs, stack + sizeof(stack), flags | SIGCHLD, NULL));
}
APART void by_spawn(void)
{
	char *words[] = {"true", NULL};
	pid_t pid;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, words, environ))
		abort();
	waits(pid);
}
UNSEEN static void *in_thread(void *lasting)
{
	work();
	pthread_setname_np(pthread_self(), lasting ? "lasting" : "short");
	work();
	if (lasting)
		pause();
	return NULL;
}
/* One thread ends long before the process, one with it. */
APART void has_threads(void)
{
	pthread_t one, other;

	pthread_create(&one, NULL, in_thread, NULL);
	pthread_create(&other, NULL, in_thread, (void *)1);
	pthread_join(one, NULL);
	usleep(1500000);
}

APART int deep(int n) { return n ? deep(n - 1) + 1 : sink; }

UNSEEN int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int i, n = argc > 2 ? atoi(argv[2]) : 3;

	for (i = 0; i < n; i++) {
		if (!strcmp(how, "vfork"))
			by_vfork(ends);
		if (!strcmp(how, "exec"))
			by_vfork(executes);
		if (!strcmp(how, "nested"))
			by_vfork(begins_another);
		if (!strcmp(how, "clone"))
			by_clone(CLONE_VM | CLONE_VFORK);
		if (!strcmp(how, "copied"))
			by_clone(CLONE_VFORK);
		if (!strcmp(how, "spawn"))
			by_spawn();
		if (!strcmp(how, "fork"))
			by_fork();
		work();
	}
	if (!strcmp(how, "deep"))
		sink = deep(70000);
	else if (!strcmp(how, "threads"))
		has_threads();
	else
		by_fork();
	return 0;
}
