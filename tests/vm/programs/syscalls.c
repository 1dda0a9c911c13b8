// SPDX-License-Identifier: GPL-2.0-only
/*
 * A deterministic mix of system calls, to compare counts with strace: quick ones, failing ones,
 * sleeping ones, a thread, a child, an exec of itself.
 *
 *   syscalls [compat]   compat: 32-bit calls (int 0x80) as well, 1000 getppid and 10 time
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NR32_TIME 13
#define NR32_GETPPID 64

static void check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void files(void)
{
	char name[] = "syscalls.tmp", buf[64] = "";
	int i, fd, ends[2];

	for (i = 0; i < 50; i++) {
		fd = open(name, O_RDWR | O_CREAT, 0600);
		check(fd >= 0, "open");
		check(write(fd, buf, sizeof(buf)) == sizeof(buf), "write");
		check(lseek(fd, 0, SEEK_SET) == 0, "lseek");
		check(read(fd, buf, sizeof(buf)) == sizeof(buf), "read");
		check(close(fd) == 0, "close");
		check(unlink(name) == 0, "unlink");
		check(unlink(name) == -1 && errno == ENOENT, "unlink of nothing");
	}
	check(pipe(ends) == 0, "pipe");
	for (i = 0; i < 100; i++) {
		check(write(ends[1], "x", 1) == 1, "write to the pipe");
		check(read(ends[0], buf, 1) == 1, "read from the pipe");
	}
}

static void memory(void)
{
	size_t size = 1 << 20, i;
	char *p;
	int round;

	for (round = 0; round < 20; round++) {
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		check(p != MAP_FAILED, "mmap");
		for (i = 0; i < size; i += 4096)
			p[i] = 1;
		check(mprotect(p, size, PROT_READ) == 0, "mprotect");
		check(munmap(p, size) == 0, "munmap");
	}
}

/* Sleeps first, so that pthread_join always waits, and with a single futex call. */
static void *thread(void *unused)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	int i;

	(void)unused;
	nanosleep(&pause, NULL);
	for (i = 0; i < 100; i++)
		syscall(SYS_gettid);
	return NULL;
}

static void tasks(char *self)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	pthread_t t;
	pid_t child;
	int i;

	check(pthread_create(&t, NULL, thread, NULL) == 0, "pthread_create");
	check(pthread_join(t, NULL) == 0, "pthread_join");
	for (i = 0; i < 10; i++)
		nanosleep(&ms, NULL);
	child = fork();
	check(child >= 0, "fork");
	if (!child) {
		execl(self, self, "child", NULL);
		_exit(127);
	}
	check(waitpid(child, &i, 0) == child && i == 0, "waitpid");
}

static long call32(long nr)
{
	long ret;

	asm volatile("int $0x80" : "=a"(ret) : "a"(nr), "b"(0) : "memory", "r8", "r9", "r10", "r11");
	return ret;
}

static void compat(void)
{
	int i;

	for (i = 0; i < 1000; i++)
		check(call32(NR32_GETPPID) == getppid(), "32-bit getppid");
	for (i = 0; i < 10; i++)
		call32(NR32_TIME);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	if (argc > 1 && !strcmp(argv[1], "child"))
		return 0;
	if (argc > 1 && !strcmp(argv[1], "compat"))
		compat();
	for (i = 0; i < 30; i++)
		syscall(SYS_close, -1);
	files();
	memory();
	tasks("/proc/self/exe");
	return 0;
}
