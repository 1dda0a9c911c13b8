// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process keeps its memory map locked, so that no place in its program can be armed or disarmed (held_map.h). Only the
 * one who wants that waits: all other calls on the device return, the recorder can stop and be killed, other open files
 * can be closed, and an attempt to send the machine to sleep ends. Needs root and FUSE.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

#include "held_map.h"
#include "user_plan.h"

/* ---- calls with a time limit, in threads of their own ---- */

struct job {
	int (*run)(int device); /* returns 0 or an errno */
	int device;
	int result;
	volatile bool is_done;
	pthread_t thread;
};

static void *run_job(void *data)
{
	struct job *job = data;

	job->result = job->run(job->device);
	job->is_done = true;
	return NULL;
}

static struct job *begin_job(int (*run)(int device), int device)
{
	struct job *job = calloc(1, sizeof(*job));

	job->run = run;
	job->device = device;
	if (pthread_create(&job->thread, NULL, run_job, job))
		exit(1);
	return job;
}

static bool ends_within(struct job *job, int seconds)
{
	for (int tries = 0; !job->is_done && tries < seconds * 20; tries++)
		usleep(50000);
	return job->is_done;
}

static void expect_within(const char *name, struct job *job, int seconds, int result)
{
	char why[100];

	if (ends_within(job, seconds))
		snprintf(why, sizeof(why), "%s", job->result ? strerrorname_np(job->result) : "done");
	else
		snprintf(why, sizeof(why), "it does not return within %d s", seconds);
	expect(name, job->is_done && job->result == result, why);
}

static int errno_of(int result)
{
	return result < 0 ? errno : 0;
}

static int start_plan(int device)
{
	return errno_of(ioctl(device, FKT_START, &plan.start));
}

static int exchange_plan(int device)
{
	struct fkt_exchange exchange = { .instruments = plan.start.instruments };

	return errno_of(ioctl(device, FKT_EXCHANGE, &exchange));
}

static int stop(int device)
{
	return errno_of(ioctl(device, FKT_STOP));
}

static int ask_status(int device)
{
	struct fkt_status status;

	return errno_of(ioctl(device, FKT_STATUS, &status));
}

static int enable(int device)
{
	__u64 none = 0;

	return errno_of(ioctl(device, FKT_ENABLE, &none));
}

static int close_device(int device)
{
	return errno_of(close(device));
}

static int write_text(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY), err = fd < 0 || write(fd, text, strlen(text)) < 0 ? errno : 0;

	close(fd);
	return err;
}

static int reach(int device)
{
	(void)device;
	first();
	return 0;
}

/* The kernel's test of freezing: it wakes the tasks again at once. Returns 0: it did not fail. */
static int sleep_now(int device)
{
	(void)device;
	return write_text("/sys/power/state", "mem") ? EBUSY : 0;
}

/* All calls that others may make. enabled: what FKT_ENABLE says. */
static void expect_others_return(const char *when, int enabled)
{
	int other = open_device();

	printf("%s:\n", when);
	expect_within("another's status", begin_job(ask_status, other), 10, 0);
	expect_within("another's FKT_ENABLE", begin_job(enable, other), 10, enabled);
	expect_within("another's FKT_STOP", begin_job(stop, other), 10, ENODATA);
	expect_within("another's start", begin_job(start_plan, other), 20, EBUSY);
	expect_within("another's close", begin_job(close_device, other), 3, 0);
}

/* ---- the tests ---- */

static void starting(void)
{
	int device = open_device();
	struct held_map held = held_begin();
	struct job *job = begin_job(start_plan, device);

	expect("a start waits", !ends_within(job, 1), "it does not");
	expect_others_return("while one starts", ENODATA);
	if (!access("/sys/power/pm_test", W_OK)) {
		write_text("/sys/power/pm_test", "freezer");
		write_text("/sys/power/pm_freeze_timeout", "3000");
		expect_within("no sleep while one starts", begin_job(sleep_now, device), 40, EBUSY);
		write_text("/sys/power/pm_test", "none");
	}
	held_end(&held);
	expect_within("the start ends", job, 20, 0);
	expect("stop", !stop(device), "FKT_STOP");
	close(device);
}

static void stopping(void)
{
	int device = open_device(), err;
	struct fkt_hit_counts counts = { .cpu = FKT_ALL_CPUS };
	struct held_map held;
	struct job *reached;

	err = start_plan(device);
	expect("a start before a stop", !err, err ? strerrorname_np(err) : "");
	held = held_begin();
	first();
	second();
	expect_within("a stop", begin_job(stop, device), 10, 0);
	/* Until 6.12 the kernel lets a thread that reaches a place wait while it disarms it. */
	reached = begin_job(reach, device);
	ends_within(reached, 1);
	ioctl(device, FKT_HIT_COUNTS, &counts);
	expect("hits up to the stop", counts.kept == 2, "more or fewer");
	expect_others_return("after a stop", ENODATA);
	expect_within("a start after the stop", begin_job(start_plan, device), 20, EBUSY);
	expect_within("the close after the stop", begin_job(close_device, device), 20, 0);
	held_end(&held);
	expect_within("who reaches a place that is disarmed goes on", reached, 20, 0);
	device = open_device();
	expect_within("a start when the places are disarmed", begin_job(start_plan, device), 20, 0);
	close(device);
}

static void exchanging(void)
{
	int device = open_device(), err;
	struct job *exchange, *end;
	struct held_map held;

	plan.users.count = 1;
	err = start_plan(device);
	expect("a start before an exchange", !err, err ? strerrorname_np(err) : "");
	held = held_begin();
	plan.users.count = PLACES;
	exchange = begin_job(exchange_plan, device);
	expect("an exchange waits", !ends_within(exchange, 1), "it does not");
	end = begin_job(stop, device);
	expect_others_return("while one exchanges", 0);
	expect("a stop waits for an exchange", !end->is_done, "it does not");
	held_end(&held);
	expect_within("the exchange ends", exchange, 20, 0);
	expect_within("the stop ends", end, 20, 0);
	close(device);
}

/* The recorder is killed, with the places armed. */
static void killed(void)
{
	int status, ready[2], device, tries;
	struct held_map held;
	pid_t recorder;
	char byte;

	if (pipe(ready))
		exit(1);
	recorder = fork();
	if (!recorder) {
		byte = start_plan(open_device());
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	if (read(ready[0], &byte, 1) != 1)
		exit(1);
	expect("the recorder that is killed starts", !byte, "FKT_START");
	held = held_begin();
	kill(recorder, SIGKILL);
	for (tries = 0; tries < 400 && !waitpid(recorder, &status, WNOHANG); tries++)
		usleep(50000);
	expect("the recorder can be killed", tries < 400, "it is still there after 20 s");
	expect_others_return("after the recorder was killed", ENODATA);
	held_end(&held);
	device = open_device();
	expect_within("a start after the recorder was killed", begin_job(start_plan, device), 20, 0);
	close(device);
}

int main(void)
{
	self = open("/proc/self/exe", O_RDONLY);
	make_sound();
	starting();
	stopping();
	exchanging();
	killed();
	return 0;
}
