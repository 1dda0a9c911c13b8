// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests the permissions of /dev/fkt directly, without the tools' own checks. Each test prints a word or an
 * errno's name.
 *
 *   access_rules start none|no-self|join|PID   starts and ends a recording with that filter: "started"
 *   access_rules pow N      FKT_SETINITPOWPAGES: "set"
 *   access_rules low        FKT_SETTRYDMA: "set"
 *   access_rules counts     the present recording's counts, of FKT_STATUS and FKT_CPU_STATUS: a sum
 *   access_rules keep N     records with 1 << N frames per CPU, and leaves freeing them to the last close: "kept"
 *   access_rules apart      settings of one open file must not apply to another: frames of a CPU's ring
 *   access_rules joins      FKT_JOIN by two processes before either makes a call: bytes of each
 *   access_rules execs      FKT_JOIN and exec by a thread that is not its process's first: "recorded" if its calls were
 *   access_rules foreign    FKT_JOIN by an open file that does not record
 *   access_rules record     FKT_POINT_RECORD with good and bad arguments: "described" or an errno for each
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fkt/ioctl.h>
#include <fkt/page_walk.h>

#define CALLS 1000

static int must(int result, const char *what)
{
	if (result < 0)
		perror(what);
	if (result < 0)
		exit(1);
	return result;
}

static int say(int result, const char *done)
{
	puts(result < 0 ? strerrorname_np(errno) : done);
	return 0;
}

static int open_device(void)
{
	return must(open(FKT_DEVICE, O_RDWR | O_CLOEXEC), FKT_DEVICE);
}

static int start(int device, enum fkt_filter filter, int pid)
{
	struct fkt_start s = {
		.abi = FKT_ABI_VERSION, .size = sizeof(s), .out_fd = -1, .recording = 1,
		.mask = 1 << FKT_L_SYSTEM, .filter = filter, .filter_pid = pid, .flags = FKT_START_NO_PAIRS,
	};

	return ioctl(device, FKT_START, &s);
}

static int start_by_name(const char *name)
{
	if (!strcmp(name, "none"))
		return start(open_device(), FKT_FILTER_NONE, 0);
	if (!strcmp(name, "no-self"))
		return start(open_device(), FKT_FILTER_NOT_SELF, 0);
	if (!strcmp(name, "join"))
		return start(open_device(), FKT_FILTER_JOIN, 0);
	return start(open_device(), FKT_FILTER_PROCESS, atoi(name));
}

static int keep(__u32 pow)
{
	int device = open_device();

	must(ioctl(device, FKT_SETINITPOWPAGES, &pow), "FKT_SETINITPOWPAGES");
	must(start(device, FKT_FILTER_NONE, 0), "FKT_START");
	must(ioctl(device, FKT_STOP), "FKT_STOP");
	return say(0, "kept");
}

static int apart(void)
{
	int one = open_device(), other = open_device();
	struct fkt_status status;
	__u32 pow = 3;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	must(ioctl(one, FKT_SETINITPOWPAGES, &pow), "FKT_SETINITPOWPAGES");
	must(start(other, FKT_FILTER_NONE, 0), "FKT_START");
	must(ioctl(other, FKT_STATUS, &status), "FKT_STATUS");
	printf("%ld\n", (long)status.pages_total * status.page_bytes / 4096 / cpus);
	return 0;
}

static int counts(void)
{
	int device = open_device();
	struct fkt_status all;
	__u64 sum;

	must(ioctl(device, FKT_STATUS, &all), "FKT_STATUS");
	sum = all.events + all.lost + all.discarded + all.pages_written + all.bytes_written + all.pages_free +
	      all.wakeups + all.drain_ns + all.sampled_bytes + all.lowest_free;
	for (__u32 cpu = 0; cpu < all.cpus; cpu++) {
		struct fkt_cpu_status one = { .cpu = cpu };

		must(ioctl(device, FKT_CPU_STATUS, &one), "FKT_CPU_STATUS");
		sum += one.events + one.pages_free + one.lost + one.discarded + one.pages_written;
	}
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}

static int foreign(void)
{
	int owner = open_device(), other = open_device();

	must(start(owner, FKT_FILTER_JOIN, 0), "FKT_START");
	return say(ioctl(other, FKT_JOIN), "joined");
}

/* ---- joins ---- */

static pid_t children[2], asked;

static int is_asked(__u32 tid)
{
	return (pid_t)tid == asked;
}

/* There is no system call of this program between the two children's FKT_JOINs. */
static void join_and_call(int device, volatile int *joined, int which)
{
	int i;

	must(ioctl(device, FKT_JOIN), "FKT_JOIN");
	joined[which] = 1;
	while (!joined[!which])
		;
	for (i = 0; i < CALLS; i++)
		getppid();
	_exit(0);
}

/* Adds up the bytes of each child's words. */
static void read_pages(int device, unsigned long sums[2])
{
	static char page[1 << 16] __attribute__((aligned(8)));
	const struct fkt_page_header *header = (void *)page;
	struct fkt_status status;
	ssize_t n;
	int i;

	must(ioctl(device, FKT_STATUS, &status), "FKT_STATUS");
	while ((n = read(device, page, status.page_bytes)) > 0) {
		for (i = 0; i < 2; i++) {
			asked = children[i];
			sums[i] += fkt_page_bytes_of(header, header->used, is_asked);
		}
	}
	must(n, "read");
}

static int joins(void)
{
	volatile int *joined = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int i, status, device = open_device();
	unsigned long sums[2] = {};

	must(joined == MAP_FAILED ? -1 : 0, "mmap");
	must(start(device, FKT_FILTER_JOIN, 0), "FKT_START");
	for (i = 0; i < 2; i++) {
		children[i] = must(fork(), "fork");
		if (!children[i])
			join_and_call(device, joined, i);
	}
	for (i = 0; i < 2; i++)
		must(waitpid(children[i], &status, 0), "waitpid");
	must(ioctl(device, FKT_STOP), "FKT_STOP");
	read_pages(device, sums);
	/* Each call has an entry and an exit of 8 bytes. */
	return say(0, sums[0] >= CALLS * 16 && sums[1] >= CALLS * 16 ? "both" : "not both");
}

/* ---- execs ---- */

static int joined_device;

/* The thread gets its process's number in the exec, and must stay a member. */
static void *join_and_exec(void *unused)
{
	must(ioctl(joined_device, FKT_JOIN), "FKT_JOIN");
	must(execl("/proc/self/exe", "access_rules", "calls", NULL), "exec");
	return unused;
}

static int calls(void)
{
	int i;

	for (i = 0; i < CALLS; i++)
		getppid();
	return 0;
}

static int execs(void)
{
	unsigned long sums[2] = {};
	pthread_t thread;
	int status;

	joined_device = open_device();
	must(start(joined_device, FKT_FILTER_JOIN, 0), "FKT_START");
	children[0] = must(fork(), "fork");
	if (!children[0]) {
		pthread_create(&thread, NULL, join_and_exec, NULL);
		pause();
	}
	must(waitpid(children[0], &status, 0), "waitpid");
	must(ioctl(joined_device, FKT_STOP), "FKT_STOP");
	read_pages(joined_device, sums);
	return say(0, sums[0] >= CALLS * 16 ? "recorded" : "not recorded");
}

/* ---- records of tracepoints ---- */

static void describe(int device, const char *name, size_t bytes, void *fields)
{
	struct fkt_point_record record = { .fields = (unsigned long)fields };

	memcpy(record.name, name, bytes);
	say(ioctl(device, FKT_POINT_RECORD, &record), "described");
}

static int record(void)
{
	static struct fkt_record_field fields[FKT_RECORD_FIELDS];
	static char long_name[FKT_POINT_NAME_BYTES];
	int device = open_device();

	memset(long_name, 'a', sizeof(long_name));
	describe(device, "sched_switch", sizeof("sched_switch"), fields);
	describe(device, "no_such_event", sizeof("no_such_event"), fields);
	describe(device, long_name, sizeof(long_name), fields);
	describe(device, "sched_switch", sizeof("sched_switch"), NULL);
	return say(ioctl(device, FKT_POINT_RECORD, NULL), "described");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	__u32 pow = argc > 2 ? atoi(argv[2]) : 0;

	if (!strcmp(what, "start") && argc == 3)
		return say(start_by_name(argv[2]), "started");
	if (!strcmp(what, "pow") && argc == 3)
		return say(ioctl(open_device(), FKT_SETINITPOWPAGES, &pow), "set");
	if (!strcmp(what, "keep") && argc == 3)
		return keep(pow);
	if (!strcmp(what, "low"))
		return say(ioctl(open_device(), FKT_SETTRYDMA, &(__u32){ 1 }), "set");
	if (!strcmp(what, "counts"))
		return counts();
	if (!strcmp(what, "apart"))
		return apart();
	if (!strcmp(what, "joins"))
		return joins();
	if (!strcmp(what, "execs"))
		return execs();
	if (!strcmp(what, "calls"))
		return calls();
	if (!strcmp(what, "foreign"))
		return foreign();
	if (!strcmp(what, "record"))
		return record();
	fputs("access_rules: usage: see the head of tests/vm/programs/access_rules.c\n", stderr);
	return 2;
}
