// SPDX-License-Identifier: GPL-2.0-only
/*
 * mixture [ROUNDS]: situations that are difficult for tracers, some of each: threads that wake each
 * other, forks, vforks, execs (also by a thread that is not its process's first), signals and timers,
 * ptrace, two processes on two CPUs, yields on one, page faults and bad accesses, 32-bit calls, invalid
 * system call numbers.
 *
 * mixture nothing: ends at once, for an exec.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NR32_GETPPID 64

static char *const nothing[] = { "mixture", "nothing", NULL };
static char *const no_environment[] = { NULL };

static void check(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) != pid)
		;
}

/* ---- threads ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

static void *take_turns(void *arg)
{
	int i, mine = *(int *)arg;

	for (i = 0; i < 40; i++) {
		pthread_mutex_lock(&lock);
		while (turn != mine)
			pthread_cond_wait(&turned, &lock);
		turn = (turn + 1) % 3;
		pthread_cond_broadcast(&turned);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void threads(void)
{
	static int numbers[] = { 0, 1, 2 };
	pthread_t t[3];
	int i;

	turn = 0;
	for (i = 0; i < 3; i++)
		check(!pthread_create(&t[i], NULL, take_turns, &numbers[i]), "pthread_create");
	for (i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

/* ---- processes ---- */

static void *exec_nothing(void *unused)
{
	(void)unused;
	execve("/proc/self/exe", nothing, no_environment);
	return NULL;
}

static void exec_by_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, exec_nothing, NULL);
	for (;;)
		pause();
}

static pid_t exec_by_vfork(void)
{
	pid_t pid = vfork();

	if (!pid)
		execve("/proc/self/exe", nothing, no_environment);
	return pid;
}

static void forks(void)
{
	pid_t pid;
	int i;

	for (i = 0; i < 24; i++) {
		pid = i % 4 == 1 ? exec_by_vfork() : fork();
		check(pid >= 0, "fork");
		if (!pid && i % 8 == 2)
			exec_by_thread();
		if (!pid && i % 8 == 6)
			kill(getpid(), SIGKILL);
		if (!pid)
			_exit(i);
		wait_for(pid);
	}
	syscall(SYS_clone, CLONE_THREAD, 0, 0, 0, 0); /* EINVAL */
}

/* ---- signals ---- */

static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
	(void)sig;
	caught++;
}

static void signals(void)
{
	const struct itimerval every = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	const struct timespec ms = { .tv_nsec = 5000000 };
	struct sigaction act = { .sa_handler = on_signal };
	int i;

	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	for (i = 0; i < 100; i++)
		kill(getpid(), SIGUSR1);
	setitimer(ITIMER_REAL, &every, NULL);
	for (i = 0; i < 10; i++)
		nanosleep(&ms, NULL); /* EINTR */
	setitimer(ITIMER_REAL, &never, NULL);
}

/* ---- ptrace ---- */

static void traced(void)
{
	int i;

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	for (i = 0; i < 10; i++)
		syscall(SYS_getppid);
	_exit(0);
}

static void debugger(void)
{
	int status, steps = 0;
	pid_t pid = fork();

	check(pid >= 0, "fork");
	if (!pid)
		traced();
	while (waitpid(pid, &status, 0) == pid && !WIFEXITED(status) && !WIFSIGNALED(status))
		ptrace(steps++ % 3 ? PTRACE_SYSCALL : PTRACE_SINGLESTEP, pid, NULL, NULL);
}

/* ---- two CPUs, one CPU ---- */

static void to_and_fro(void)
{
	int there[2], back[2], i;
	char byte = 0;
	pid_t pid;

	check(!pipe(there) && !pipe(back), "pipe");
	pid = fork();
	check(pid >= 0, "fork");
	on_cpu(!pid);
	for (i = 0; i < 100; i++) {
		if (pid)
			check(write(there[1], &byte, 1) == 1 && read(back[0], &byte, 1) == 1, "pipe");
		else
			check(read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1, "pipe");
	}
	if (!pid)
		_exit(0);
	wait_for(pid);
	close(there[0]);
	close(there[1]);
	close(back[0]);
	close(back[1]);
}

static void yields(void)
{
	pid_t pid = fork();
	int i;

	check(pid >= 0, "fork");
	on_cpu(0);
	for (i = 0; i < 200; i++)
		sched_yield();
	if (!pid)
		_exit(0);
	wait_for(pid);
}

/* ---- memory ---- */

static sigjmp_buf faulted;

static void on_fault(int sig)
{
	siglongjmp(faulted, sig);
}

static void bad_access(void)
{
	volatile char *volatile nowhere = (volatile char *)16;

	if (!sigsetjmp(faulted, 1))
		*nowhere = 1;
}

static void faults(void)
{
	size_t i, bytes = 200 * 4096;
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	check(at != MAP_FAILED, "mmap");
	signal(SIGSEGV, on_fault);
	for (i = 0; i < bytes; i += 4096)
		at[i] = 1;
	pid = fork();
	for (i = 0; i < bytes; i += 4096)
		at[i]++;
	if (!pid)
		_exit(0);
	wait_for(pid);
	for (i = 0; i < 20; i++)
		bad_access();
	madvise(at, bytes, MADV_DONTNEED);
	/* The kernel faults too, when it copies to or from user memory. */
	check(read(STDIN_FILENO, at, 4096) <= 0 || at[0] == 0, "read");
	munmap(at, bytes);
}

/* ---- odd calls ---- */

static void odd_calls(void)
{
	long ret;
	int i;

	for (i = 0; i < 50; i++)
		asm volatile("int $0x80" : "=a"(ret) : "a"(NR32_GETPPID), "b"(0) : "memory", "r8", "r9", "r10", "r11");
	for (i = 0; i < 5; i++) {
		syscall(-1L);
		syscall(600);
		syscall(0x40000027L);
	}
}

int main(int argc, char **argv)
{
	cpu_set_t all;
	int round;

	if (argc > 1 && !strcmp(argv[1], "nothing"))
		return 0;
	sched_getaffinity(0, sizeof(all), &all);
	for (round = argc > 1 ? atoi(argv[1]) : 1; round > 0; round--) {
		threads();
		forks();
		signals();
		debugger();
		to_and_fro();
		yields();
		sched_setaffinity(0, sizeof(all), &all);
		faults();
		odd_calls();
	}
	return 0;
}
