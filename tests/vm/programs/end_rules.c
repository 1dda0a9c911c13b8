// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the end of a recording, and of its output; prints one line "ok NAME" or "not NAME: WHY" for each. Needs the
 * module; no other recording may run. Argument: a directory on a file system that can be frozen, for outputs.
 */
#define _GNU_SOURCE
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>

#include "rules.h"

#define OFFSET 4096 /* of the first page in the output */

/* ---- the output ---- */

static int start_by(int device, int out, enum fkt_engine_id engine)
{
	struct fkt_start s = {
		.abi = FKT_ABI_VERSION, .size = sizeof(s), .out_fd = out, .flags = FKT_START_ENGINE(engine),
		.mask = 1 << FKT_L_SYSTEM, .recording = 0x656e64, .offset = OFFSET,
	};

	return ioctl(device, FKT_START, &s);
}

/* O_APPEND, which FKT_START refuses, is set after it: the pages must be where they were to be. */
static void append(const char *name, enum fkt_engine_id engine, int direct)
{
	int device = open_device(), out = open("out", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | direct, 0600);
	static char page[PAGE_BYTES] __attribute__((aligned(4096)));
	struct fkt_status status;
	__u64 events = 0;

	expect(name, out >= 0 && !start_by(device, out, engine), "FKT_START");
	expect(name, !fcntl(out, F_SETFL, O_APPEND | direct), "F_SETFL");
	call(50000);
	ioctl(device, FKT_STOP);
	status = status_of(device);
	for (__u64 i = 0; i < status.pages_written; i++) {
		const struct fkt_page_header *h = (const void *)page;

		if (pread(out, page, PAGE_BYTES, OFFSET + (off_t)i * PAGE_BYTES) != PAGE_BYTES || !page_is_whole(h))
			break;
		events += h->events;
	}
	expect(name, events >= 100000 && events == status.events, "its pages are elsewhere");
	close(out);
	close(device);
	unlink("out");
}

/* ---- FKT_STOP by two threads ---- */

static int shared; /* the device */
static volatile bool is_calm, has_stopped;

static void run_on(int cpu, int policy)
{
	const struct sched_param param = { .sched_priority = policy == SCHED_FIFO ? 50 : 0 };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) || sched_setscheduler(0, policy, &param))
		perror("end_rules: where a thread runs");
}

/* Runs late when it is woken, because the other thread of its CPU comes first and is never idle. */
static void *stop_late(void *unused)
{
	run_on(1, SCHED_OTHER);
	ioctl(shared, FKT_STOP);
	has_stopped = true;
	return unused;
}

static void *keep_busy(void *unused)
{
	run_on(1, SCHED_FIFO);
	while (!is_calm)
		;
	return unused;
}

/* Lets the file system write again when both wait in FKT_STOP. */
static void *thaw(void *directory)
{
	pthread_t busy;

	sleep(2);
	pthread_create(&busy, NULL, keep_busy, NULL);
	usleep(20000);
	ioctl(*(int *)directory, FITHAW, 0);
	pthread_join(busy, NULL);
	return NULL;
}

/* One of them starts the next recording before the other one has run: that one must not wait for its end, too. */
static void two_stops(void)
{
	int directory = open(".", O_RDONLY | O_CLOEXEC), out = open("out", O_RDWR | O_CREAT | O_CLOEXEC | O_DIRECT, 0600);
	pthread_t late, thaws;

	shared = open_device();
	run_on(0, SCHED_OTHER);
	expect("two stops: start", !start_by(shared, out, FKT_ENGINE_DIRECT), "FKT_START");
	expect("two stops: freeze", !ioctl(directory, FIFREEZE, 0), "FIFREEZE");
	call(20000);
	pthread_create(&thaws, NULL, thaw, &directory);
	pthread_create(&late, NULL, stop_late, NULL);
	expect("two stops: the first one", !ioctl(shared, FKT_STOP), "FKT_STOP");
	expect("two stops: the next start", !start(shared, 0), "FKT_START");
	is_calm = true;
	for (int tries = 0; !has_stopped && tries < 500; tries++)
		usleep(10000);
	expect("two stops: both have come back", has_stopped, "one waits for the next recording's end");
	ioctl(shared, FKT_STOP);
	pthread_join(late, NULL);
	pthread_join(thaws, NULL);
	close(shared);
	close(out);
	close(directory);
	unlink("out");
}

/* An engine that writes needs an output, and one that there is not is none. */
static void engines_without_output(void)
{
	static const enum fkt_engine_id ids[] = { FKT_ENGINE_DIRECT, FKT_ENGINE_BUFFERED, FKT_ENGINE_CHECKIN, 7, 255 };
	int device = open_device();

	for (unsigned int i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		expect("no output", start_by(device, -1, ids[i]) && errno == EOPNOTSUPP, "accepted");
	expect("no output: fetched", !start_by(device, -1, FKT_ENGINE_SENDFILE), "FKT_START");
	close(device);
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1])) {
		fputs("end_rules: usage: see the head of tests/vm/programs/end_rules.c\n", stderr);
		return 2;
	}
	append("append: direct", FKT_ENGINE_DIRECT, O_DIRECT);
	append("append: buffered", FKT_ENGINE_BUFFERED, 0);
	append("append: checkin", FKT_ENGINE_CHECKIN, 0);
	engines_without_output();
	two_stops();
	return 0;
}
