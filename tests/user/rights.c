// SPDX-License-Identifier: GPL-2.0-only
/*
 * rights HOW...: calls functions before and after the program has given up rights, or has another namespace, in each of the ways
 * HOW, in their order; also in a child and in a thread. Prints the functions, events and how many of them there were.
 */
#define _GNU_SOURCE
#include <fkt/user.h>

#include <grp.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))
#define APART __attribute__((noinline))

enum { KNOWN, FRESH, CHILDS, THREADS, EVENTS, KINDS };
static const char *const names[KINDS] = {"known", "fresh", "childs", "threads", "event"};
static long *counts;

UNSEEN static inline void count(int kind) { __atomic_fetch_add(&counts[kind], 1, __ATOMIC_RELAXED); }

APART void known(void)
{
	count(KNOWN);
	count(EVENTS);
	FKT_USER_EVENT("event");
}
APART void fresh(void) { count(FRESH); }
APART void childs(void) { count(CHILDS); }
APART void threads(void) { count(THREADS); }

UNSEEN static void *thread(void *given)
{
	threads();
	known();
	return given;
}

struct kind {
	const char *name;
	unsigned long flag;
};
static const struct kind kinds[] = {
	{"mount", CLONE_NEWNS},
	{"uts", CLONE_NEWUTS},
	{"ipc", CLONE_NEWIPC},
	{"user", CLONE_NEWUSER},
	{"pid", CLONE_NEWPID},
	{"net", CLONE_NEWNET},
	{"cgroup", CLONE_NEWCGROUP},
	{"time", CLONE_NEWTIME},
	{"files", CLONE_FILES},
	{"fs", CLONE_FS},
	{"handlers", CLONE_CLEAR_SIGHAND},
};

UNSEEN static unsigned long flag_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return kinds[i].flag;
	exit(3);
}

UNSEEN static void wait_for(pid_t child)
{
	int status;

	if (child < 0 || waitpid(child, &status, 0) != child || status)
		exit(4);
}

/* Goes on in a child that has namespaces of its own. */
UNSEEN static int go_on_in_child(unsigned long flags)
{
	struct clone_args how = {.flags = flags, .exit_signal = SIGCHLD};
	pid_t pid = (pid_t)syscall(SYS_clone3, &how, sizeof(how));

	if (!pid)
		return 0;
	wait_for(pid);
	exit(0);
}

UNSEEN static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2];

	memset(none, 0, sizeof(none));
	return (int)syscall(SYS_capset, &head, none);
}

UNSEEN static int change(const char *how)
{
	const struct rlimit none = {0, 0};

	if (!strncmp(how, "unshare:", 8))
		return unshare((int)flag_of(how + 8));
	if (!strncmp(how, "clone3:", 7))
		return go_on_in_child(flag_of(how + 7));
	if (!strcmp(how, "setuid"))
		return setuid(65534);
	if (!strcmp(how, "seteuid"))
		return seteuid(65534);
	if (!strcmp(how, "setreuid"))
		return setreuid(65534, 65534);
	if (!strcmp(how, "setresuid"))
		return setresuid(65534, 65533, 65532);
	if (!strcmp(how, "setgid"))
		return setgid(65534) || setgroups(0, NULL);
	if (!strcmp(how, "capabilities"))
		return drop_capabilities();
	if (!strcmp(how, "nonewprivs"))
		return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!strcmp(how, "undumpable"))
		return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!strcmp(how, "chroot"))
		return chroot("empty") || chdir("/");
	if (!strcmp(how, "nofiles"))
		return setrlimit(RLIMIT_NOFILE, &none);
	return strcmp(how, "none");
}

UNSEEN int main(int argc, char **argv)
{
	pthread_t one;
	pid_t pid;
	int i;

	counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	known();
	for (i = 1; i < argc; i++) {
		if (change(argv[i])) {
			perror(argv[i]);
			return 77;
		}
	}
	known();
	fresh();
	pid = fork();
	if (!pid) {
		known();
		childs();
		_exit(0);
	}
	wait_for(pid);
	/* The kernel allows none between processes of two pid or time namespaces. */
	if (!pthread_create(&one, NULL, thread, NULL))
		pthread_join(one, NULL);
	known();
	for (i = 0; i < KINDS; i++)
		printf("%s %ld\n", names[i], counts[i]);
	fflush(stdout);
	return 0;
}
