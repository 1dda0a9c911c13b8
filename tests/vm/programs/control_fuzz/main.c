// SPDX-License-Identifier: GPL-2.0-only
/*
 * control_fuzz [--seed N] [--seconds S] [--calls N] [--hang S] [--hotplug] [--alone] [OUTPUT...]
 *
 * Four processes with two threads each make random calls on /dev/fkt: every ioctl, mappings, read, splice,
 * sendfile, tee, poll, fork, close and dup, with plausible numbers, boundary values and arbitrary ones. OUTPUTs are
 * files and block devices that recordings are written to, besides pipes, sockets and memfds. Each process is replaced
 * after a few thousand calls, or killed earlier. --hotplug: CPU 1 goes offline and online at random times.
 *
 * Prints the seed first: the same seed makes the same calls in each thread, but not in the same order between
 * threads; with --alone there is only one thread, which makes the same calls each time.
 * At the end, prints "kind NAME calls N good N" for each kind and "calls N seconds S lives N killed N crashed N".
 * Exit status 1: a call did not return within --hang seconds (30); its stack is printed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fkt/ioctl.h>

#include "fuzz.h"

#define ROUND_MS 50

static struct {
	pid_t worker[WORKERS];
	pid_t dead[WORKERS]; /* the previous process in this place */
	int inherited[SHARED];
	uint64_t random, lives_random; /* random state of the supervisor's actions, and of the processes' calls */
	unsigned long lives, killed, crashed;
} run;

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void open_inherited(int i)
{
	if (run.inherited[i] >= 0)
		close(run.inherited[i]);
	run.inherited[i] = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);
	if (run.inherited[i] < 0) {
		perror(FKT_DEVICE);
		exit(2);
	}
}

static void start_worker(const struct options *o, struct shared *shared, int index)
{
	uint64_t seed = next_random(&run.lives_random);
	int i;

	if (run.dead[index])
		atomic_compare_exchange_strong(&shared->owner, &run.dead[index], 0);
	/* The calls of the previous process are over. */
	for (i = 0; i < THREADS; i++) {
		atomic_store(&shared->doing[index * THREADS + i].tid, 0);
		atomic_store(&shared->doing[index * THREADS + i].since_ns, 0);
	}
	/* Reopen the shared files at times: otherwise they would never be closed for good. */
	if (seed % 3 == 0)
		open_inherited(seed / 3 % SHARED);
	fflush(NULL);
	run.worker[index] = fork();
	if (run.worker[index] < 0) {
		run.worker[index] = 0;
		return;
	}
	/* A process group of its own, so that its children are killed with it. */
	if (run.worker[index])
		setpgid(run.worker[index], run.worker[index]);
	else
		work(o, shared, index, seed, run.inherited);
	run.lives++;
}

static void ended(pid_t pid, int status)
{
	int i;

	for (i = 0; i < WORKERS; i++) {
		if (run.worker[i] != pid)
			continue;
		run.worker[i] = 0;
		run.dead[i] = pid;
		run.crashed += WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL;
	}
}

static void reap(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		ended(pid, status);
}

/* ---- hung calls ---- */

/* Reads a file of the thread in /proc; an empty text if there is none. */
static void read_of(pid_t pid, pid_t tid, const char *file, char *text, size_t room)
{
	char path[80];
	ssize_t n;
	int fd;

	text[0] = 0;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, room - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
}

/*
 * Returns whether the call is not to blame for the time that it takes: it waits for user memory whose page faults
 * nobody serves (world.faulty), which is the caller's own doing. Its process is killed, which must end the call.
 */
static bool waits_for_its_caller(const struct options *o, pid_t pid, pid_t tid, double seconds)
{
	char stack[4096];

	read_of(pid, tid, "stack", stack, sizeof(stack));
	if (seconds > 2 * o->hang_s || !strstr(stack, "handle_userfault"))
		return false;
	kill(-pid, SIGKILL);
	return true;
}

/* Prints the threads' current calls if `print`; returns true if one has taken too long. */
static bool hangs(const struct options *o, const struct shared *shared, bool print)
{
	char text[4096];
	bool any = false;
	int i;

	for (i = 0; i < WORKERS * THREADS; i++) {
		uint64_t since = atomic_load(&shared->doing[i].since_ns);
		pid_t tid = atomic_load(&shared->doing[i].tid), pid = run.worker[i / THREADS];
		double seconds = now_s() - since / 1e9;

		if (!since || !tid || !pid)
			continue;
		if (seconds > o->hang_s && !waits_for_its_caller(o, pid, tid, seconds))
			any = true;
		if (!print)
			continue;
		printf("thread %d of process %d: %s for %.1f s\n", tid, pid,
		       kind_name(atomic_load(&shared->doing[i].kind)), seconds);
		/* Its state and its CPU times: a thread without a stack may be running, or a zombie. */
		read_of(pid, tid, "stat", text, sizeof(text));
		printf("  stat: %s", text);
		read_of(pid, tid, "stack", text, sizeof(text));
		printf("  stack: %s\n", text);
	}
	return any;
}

/* ---- supervision ---- */

static uint64_t all_calls(const struct shared *shared)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < count_kinds(); i++)
		sum += atomic_load(&shared->kinds[i].calls);
	return sum;
}

static void plug_cpu(bool online)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, online ? "1" : "0", 1) != 1 && errno != EBUSY)
		perror("cpu1/online");
	close(fd);
}

/* At random times, kills a process or switches CPU 1 off or on. */
static void disturb(const struct options *o, struct shared *shared, unsigned long round)
{
	uint64_t random = next_random(&run.random);
	int victim = random % WORKERS, i;

	if (random >> 8 & 1 && round % 40 == 39 && run.worker[victim] && o->workers > 1) {
		kill(-run.worker[victim], SIGKILL);
		run.killed++;
	}
	if (o->hotplug && round % 40 == 10)
		plug_cpu(false);
	if (o->hotplug && round % 40 == 25)
		plug_cpu(true);
	reap();
	for (i = 0; i < o->workers; i++)
		if (!run.worker[i])
			start_worker(o, shared, i);
}

/* Runs until the time or the calls are over. Returns false if a call hangs. */
static bool supervise(const struct options *o, struct shared *shared)
{
	const struct timespec pause = { .tv_nsec = ROUND_MS * 1000000L };
	double end = now_s() + o->seconds;
	unsigned long round;

	for (round = 0; now_s() < end && (!o->calls || all_calls(shared) < o->calls); round++) {
		disturb(o, shared, round);
		nanosleep(&pause, NULL);
		if (hangs(o, shared, false))
			return false;
	}
	return true;
}

/* Ends all processes. Returns false if one does not end. */
static bool finish(const struct options *o, struct shared *shared)
{
	const struct timespec pause = { .tv_nsec = ROUND_MS * 1000000L };
	double end = now_s() + o->hang_s;
	int i, left = WORKERS;

	atomic_store(&shared->stop, true);
	for (i = 0; i < SHARED; i++)
		close(run.inherited[i]);
	while (left && now_s() < end) {
		for (i = 0, left = 0; i < WORKERS; i++) {
			if (run.worker[i])
				kill(-run.worker[i], SIGKILL);
			left += !!run.worker[i];
		}
		nanosleep(&pause, NULL);
		reap();
	}
	return !left;
}

static void report(const struct shared *shared, double seconds)
{
	unsigned int i;

	for (i = 0; i < count_kinds(); i++)
		printf("kind %s calls %llu good %llu\n", kind_name(i),
		       (unsigned long long)atomic_load(&shared->kinds[i].calls),
		       (unsigned long long)atomic_load(&shared->kinds[i].good));
	printf("calls %llu seconds %.0f lives %lu killed %lu crashed %lu\n", (unsigned long long)all_calls(shared),
	       seconds, run.lives, run.killed, run.crashed);
}

static struct options parse(int argc, char **argv)
{
	static const struct option known[] = {
		{ "seed", 1, NULL, 's' }, { "seconds", 1, NULL, 't' }, { "calls", 1, NULL, 'c' },
		{ "hang", 1, NULL, 'h' }, { "hotplug", 0, NULL, 'p' }, { "nothing", 0, NULL, 'n' }, { "alone", 0, NULL, 'a' },
		{ 0 },
	};
	struct options o = { .seed = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid(), .seconds = 1e9, .hang_s = 30,
			     .workers = WORKERS, .threads = THREADS };
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (c) {
		case 's':
			o.seed = strtoull(optarg, NULL, 0);
			break;
		case 't':
			o.seconds = atof(optarg);
			break;
		case 'c':
			o.calls = strtoull(optarg, NULL, 0);
			break;
		case 'h':
			o.hang_s = atof(optarg);
			break;
		case 'p':
			o.hotplug = true;
			break;
		case 'a':
			o.workers = o.threads = 1;
			break;
		case 'n': /* the program that a child executes */
			exit(0);
		default:
			exit(2);
		}
	}
	while (optind < argc && o.n_paths < PATHS_MAX)
		o.paths[o.n_paths++] = argv[optind++];
	return o;
}

int main(int argc, char **argv)
{
	struct options o = parse(argc, argv);
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	double begin = now_s();
	__u32 pow = 3;
	bool good;
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	printf("seed 0x%llx\n", (unsigned long long)o.seed);
	run.random = run.lives_random = o.seed;
	for (i = 0; i < SHARED; i++) {
		run.inherited[i] = -1;
		open_inherited(i);
	}
	/* Rings of the default size would hardly ever be filled. */
	ioctl(run.inherited[0], FKT_SETINITPOWPAGES, &pow);
	good = shared != MAP_FAILED && supervise(&o, shared);
	if (!good)
		hangs(&o, shared, true);
	if (o.hotplug)
		plug_cpu(true);
	if (good && !finish(&o, shared)) {
		hangs(&o, shared, true);
		good = false;
	}
	report(shared, now_s() - begin);
	return good ? 0 : 1;
}
