// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the module's interface for flight recorders; prints one line "ok NAME" or "not NAME: WHY"
 * for each. Needs the module; no other recording may run.
 */
#define _GNU_SOURCE
#include <sys/resource.h>

#include <fkt/trigger_hit.h>

#include "lend.h"

#define SMALL_BYTES ((off_t)5 * PAGE_BYTES)

static int flight(int device, __u32 step)
{
	return ioctl(device, FKT_FLIGHT, &step) ? errno : 0;
}

static void flight_recorder(void)
{
	static __u32 numbers[ROOM];
	int device = open_device();
	struct fkt_status status;
	struct fkt_lend lend;
	__u32 n, flags;
	char *map;

	expect("flight: none without a recording", flight(device, FKT_FLIGHT_LEAVE) == ENODATA, "accepted");
	start(device, FKT_START_ENGINE(FKT_ENGINE_URING));
	expect("flight: not of an ordinary recording", flight(device, FKT_FLIGHT_LEAVE) == EOPNOTSUPP, "accepted");
	ioctl(device, FKT_STOP);
	expect("flight: start", !start(device, FKT_START_ENGINE(FKT_ENGINE_URING) | FKT_START_OVERWRITE), "FKT_START");
	map = mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, device, 0);
	expect("flight: no such step", flight(device, 9) == EINVAL, "accepted");
	call(100000);
	expect("flight: pages stay", take_all(device, numbers, &flags) == 0, "taken");
	expect("flight: leave", !flight(device, FKT_FLIGHT_LEAVE), "refused");
	n = take_all(device, numbers, &flags);
	expect("flight: all that was there, and the open pages", n > 0 && all_pages(map, numbers, n) &&
	       events_of(map, numbers, n) >= 200000, "fewer events");
	move(device, FKT_GIVE, numbers, n, &lend);
	call(1000);
	flight(device, FKT_FLIGHT_CLOSE);
	n = take_all(device, numbers, &flags);
	expect("flight: what came after", events_of(map, numbers, n) >= 2000, "fewer events");
	move(device, FKT_GIVE, numbers, n, &lend);
	expect("flight: stay", !flight(device, FKT_FLIGHT_STAY), "refused");
	call(10000);
	expect("flight: pages stay again", take_all(device, numbers, &flags) == 0, "taken");
	ioctl(device, FKT_STOP);
	n = take_all(device, numbers, &flags);
	expect("flight: the rest", n > 0 && flags == FKT_LEND_OVER && events_of(map, numbers, n) >= 20000,
	       "fewer events");
	move(device, FKT_GIVE, numbers, n, &lend);
	ioctl(device, FKT_STATUS, &status);
	expect("flight: nothing lost or overwritten", !status.lost && !status.overwritten && !status.discarded,
	       "some were");
	munmap(map, MAP_BYTES);
	close(device);
}

/*
 * Runs in a child that dies: a flight recorder in the middle of a snapshot. Reports which pages it had
 * given back.
 */
static void snapshot_and_die(int out, int said)
{
	static __u32 numbers[ROOM];
	int device = open_device();
	struct fkt_lend lend;
	__u64 given[2];
	char *map;

	if (start_to(device, out, FKT_START_ENGINE(FKT_ENGINE_URING) | FKT_START_OVERWRITE))
		_exit(1);
	map = mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, device, 0);
	call(100000);
	flight(device, FKT_FLIGHT_LEAVE);
	/* Takes 20 pages, and gives back the first two, the younger one first. */
	move(device, FKT_TAKE, numbers, 20, &lend);
	given[0] = events_of(map, numbers, 2);
	given[1] = lend.count;
	move(device, FKT_GIVE, numbers + 1, 1, &lend);
	move(device, FKT_GIVE, numbers, 1, &lend);
	readable(device, 0);
	if (write(said, given, sizeof(given)) != sizeof(given))
		_exit(1);
	kill(getpid(), SIGKILL);
}

/* What is in the output of a recorder that has died, once its recording is over. */
struct left {
	struct fkt_status status;
	bool in_order; /* whole pages, each CPU's from its first one on, without a hole */
	__u64 events;
	off_t size;
};

static struct left left_in(int out)
{
	struct left left = { .in_order = true };
	__u64 next_seq[64] = { 0 };
	int device = open_device();
	const char *bytes;

	for (int tries = 0; (left.status = status_of(device)).state != FKT_IDLE && tries < 1000; tries++)
		usleep(10000);
	close(device);
	left.size = lseek(out, 0, SEEK_END);
	bytes = mmap(NULL, left.size, PROT_READ, MAP_SHARED, out, 0);
	for (off_t at = 0; bytes != MAP_FAILED && at < left.size; at += PAGE_BYTES) {
		const struct fkt_page_header *h = (const void *)(bytes + at);

		left.in_order = left.in_order && page_is_whole(h) &&
				(!next_seq[h->cpu % 64] || h->seq == next_seq[h->cpu % 64]);
		next_seq[h->cpu % 64] = h->seq + 1;
		left.events += h->events;
	}
	munmap((void *)bytes, left.size);
	printf("dies: events %llu in the file %llu discarded %llu overwritten %llu\n",
	       (unsigned long long)left.status.events, (unsigned long long)left.events,
	       (unsigned long long)left.status.discarded, (unsigned long long)left.status.overwritten);
	return left;
}

static int open_output(void)
{
	int out = open("inherited", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (out < 0)
		exit(1);
	return out;
}

static void close_output(int out)
{
	close(out);
	unlink("inherited");
}

/* Runs `run` in a child, which writes to a pipe. Returns the child's number, and in `from` the pipe's end to read. */
static pid_t begin_recorder(void (*run)(int out, int said), int out, int *from)
{
	int ends[2];
	pid_t child;

	if (pipe(ends))
		exit(1);
	child = fork();
	if (!child)
		run(out, ends[1]);
	close(ends[1]);
	*from = ends[0];
	return child;
}

/* The pages that the dead recorder had must be in the output, before those that were in the rings. */
static void dies_in_a_snapshot(void)
{
	int said, out = open_output();
	__u64 given[2] = { 0 };
	struct left left;
	pid_t child = begin_recorder(snapshot_and_die, out, &said);

	expect("dies: takes pages", read(said, given, sizeof(given)) == sizeof(given) && given[1] == 20, "fewer");
	waitpid(child, NULL, 0);
	close(said);
	left = left_in(out);
	expect("dies: pages in order, without a hole", left.in_order && left.events > 0, "damaged");
	expect("dies: no event vanished", left.status.events >= 200000 &&
	       left.status.events == left.events + given[0] + left.status.discarded + left.status.overwritten,
	       "events vanished");
	expect("dies: all but what was given back is in the file", !left.status.discarded && !left.status.overwritten,
	       "discarded");
	close_output(out);
}

/* Runs in a child that is killed while, or after, it calls FKT_STOP. */
static void stop_and_wait(int out, int said)
{
	int device = open_device();

	if (start_to(device, out, FKT_START_ENGINE(FKT_ENGINE_URING) | FKT_START_OVERWRITE))
		_exit(1);
	call(30000);
	if (write(said, "s", 1) != 1)
		_exit(1);
	ioctl(device, FKT_STOP);
	pause();
}

/* Likewise, but its output may not get larger than a few pages. */
static void stop_with_little_room(int out, int said)
{
	const struct rlimit limit = { SMALL_BYTES, SMALL_BYTES };

	if (setrlimit(RLIMIT_FSIZE, &limit))
		_exit(1);
	stop_and_wait(out, said);
}

/* Returns what is in the output of such a recorder when it was killed `after` microseconds into its stop. */
static struct left left_at_the_stop(void (*run)(int out, int said), useconds_t after)
{
	int said, out = open_output();
	struct left left;
	char byte;
	pid_t child = begin_recorder(run, out, &said);

	if (read(said, &byte, 1) != 1)
		exit(1);
	usleep(after);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	left = left_in(out);
	close(said);
	close_output(out);
	return left;
}

static void dies_at_the_stop(useconds_t after)
{
	const struct left left = left_at_the_stop(stop_and_wait, after);
	const struct left few = left_at_the_stop(stop_with_little_room, after);
	char name[64];

	snprintf(name, sizeof(name), "dies: all is there %u ms into the stop", after / 1000);
	expect(name, left.in_order && left.events >= 60000 && left.events == left.status.events, "events vanished");
	snprintf(name, sizeof(name), "dies: no more than there is room for %u ms into the stop", after / 1000);
	expect(name, few.in_order && few.size > 0 && few.size <= SMALL_BYTES && few.status.discarded &&
	       few.events + few.status.discarded == few.status.events, "events vanished");
}

/* How the owner ends that has written some of the pages after the stop. */
enum end { KILLED, KILLED_AFTER_GIVING_UP, CLOSED };

/* Runs in a child: takes 20 pages after the stop, writes the first 5, and gives back 3 of these. */
static void write_some_and_end(int out, enum end end)
{
	static __u32 numbers[ROOM];
	int device = open_device();
	struct fkt_lend lend;
	char *map;

	if (start_to(device, out, FKT_START_ENGINE(FKT_ENGINE_URING) | FKT_START_OVERWRITE))
		_exit(1);
	map = mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, device, 0);
	call(100000);
	ioctl(device, FKT_STOP);
	if (move(device, FKT_TAKE, numbers, 20, &lend) || lend.count != 20)
		_exit(1);
	for (int i = 0; i < 5; i++)
		if (pwrite(out, map + (size_t)numbers[i] * PAGE_BYTES, PAGE_BYTES, (off_t)i * PAGE_BYTES) != PAGE_BYTES)
			_exit(1);
	if (move(device, FKT_GIVE, numbers, 3, &lend))
		_exit(1);
	lend = (struct fkt_lend){ .pages = (unsigned long)(numbers + 3), .count = 1, .flags = FKT_LEND_UNWRITTEN };
	if (end == KILLED_AFTER_GIVING_UP && ioctl(device, FKT_GIVE, &lend))
		_exit(1);
	if (end != CLOSED)
		kill(getpid(), SIGKILL);
	_exit(0);
}

static struct left left_after(enum end end)
{
	int status, out = open_output();
	struct left left;
	pid_t child = fork();

	if (!child)
		write_some_and_end(out, end);
	waitpid(child, &status, 0);
	expect("dies: takes pages after the stop", status == (end == CLOSED ? 0 : SIGKILL), "it did not");
	left = left_in(out);
	close_output(out);
	return left;
}

static void dies_after_the_stop(void)
{
	struct left left = left_after(KILLED);

	expect("dies: the rest is behind what it had written", left.in_order && left.events >= 200000 &&
	       left.events == left.status.events && !left.status.discarded, "events vanished");
	left = left_after(KILLED_AFTER_GIVING_UP);
	expect("dies: nothing is written when it had given up", left.size == 5 * PAGE_BYTES && left.status.discarded,
	       "its file was changed");
	left = left_after(CLOSED);
	expect("dies: nothing is written when it had closed the device", left.size == 5 * PAGE_BYTES &&
	       left.status.discarded, "its file was changed");
}

/* Returns what of `events` poll(2) reports at once. */
static short polled(int device, short events)
{
	struct pollfd ready = { .fd = device, .events = events };

	return poll(&ready, 1, 0) == 1 ? ready.revents : 0;
}

/* The trigger is true for each system call of this process. After the stop poll(2) must not report that any more. */
static void fired_and_stopped(void)
{
	static struct {
		struct fkt_program head;
		struct fkt_insn insn;
	} program = { .head.insns = 1, .insn = { .index = FKT_TRIGGER_TID, .target = FKT_TARGET_DROP } };
	static struct fkt_trigger trigger = { .bytes = FKT_PROGRAM_BYTES(1, 0) };
	struct fkt_start s = {
		.abi = FKT_ABI_VERSION, .size = sizeof(s), .out_fd = -1, .mask = 1 << FKT_L_SYSTEM,
		.recording = 0x6669726564, .trigger = (unsigned long)&trigger,
		.flags = FKT_START_ENGINE(FKT_ENGINE_URING) | FKT_START_OVERWRITE,
	};
	int device = open_device();
	struct fkt_fired fired;

	program.insn.value = getpid();
	trigger.program = (unsigned long)&program;
	memset(trigger.watched, 0xff, sizeof(trigger.watched));
	expect("fired: start", !ioctl(device, FKT_START, &s), "FKT_START");
	call(10);
	expect("fired: poll reports it", polled(device, POLLRDBAND) & POLLRDBAND, "not reported");
	ioctl(device, FKT_STOP);
	expect("fired: nothing after the stop", ioctl(device, FKT_FIRED, &fired) && errno == ENODATA, "accepted");
	expect("fired: poll neither", !(polled(device, POLLRDBAND) & POLLRDBAND), "reported");
	close(device);
}

/* Whoever may record has triggers; they tell nothing of the kernel's memory, nor where it is. */
static void reads_no_memory(void)
{
	static struct {
		struct fkt_program head;
		struct fkt_insn insn;
		char text[FKT_PROGRAM_TEXT_BYTES];
	} program = { .head.insns = 1 };
	static const struct {
		const char *name;
		struct fkt_insn insn;
	} hostile[] = {
		{ "an address", { .how = FKT_FROM_CONST | FKT_HOW_FETCH, .load = 8, .value = 0xffffffff81000000 } },
		{ "a return value", { .how = FKT_FROM_WORD | FKT_HOW_FETCH, .load = 1, .index = FKT_TRIGGER_RET } },
		{ "the name", { .how = FKT_FROM_WORD | FKT_HOW_FETCH, .load = 8, .index = FKT_TRIGGER_TASK } },
		{ "the name's address", { .index = FKT_TRIGGER_TASK } },
		{ "moved", { .how = FKT_FROM_WORD | FKT_HOW_FETCH, .offset = 64, .index = FKT_TRIGGER_TASK } },
		{ "a text anywhere", { .op = FKT_OP_MATCH, .how = FKT_FROM_CONST, .value = 0 } },
		{ "a text at a result", { .op = FKT_OP_MATCH, .index = FKT_TRIGGER_RET } },
		{ "a text behind the name",
		  { .op = FKT_OP_MATCH, .how = FKT_FROM_WORD | FKT_HOW_FETCH, .offset = 64, .index = FKT_TRIGGER_TASK } },
	};
	static struct fkt_trigger trigger;
	struct fkt_start s = {
		.abi = FKT_ABI_VERSION, .size = sizeof(s), .out_fd = -1, .mask = 1 << FKT_L_SYSTEM,
		.recording = 0x6669726564, .trigger = (unsigned long)&trigger,
		.flags = FKT_START_ENGINE(FKT_ENGINE_URING) | FKT_START_OVERWRITE,
	};
	int device = open_device();

	trigger.program = (unsigned long)&program;
	memset(trigger.watched, 0xff, sizeof(trigger.watched));
	for (unsigned int i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		program.insn = hostile[i].insn;
		program.insn.target = FKT_TARGET_DROP;
		program.head.texts = program.insn.op == FKT_OP_MATCH;
		trigger.bytes = FKT_PROGRAM_BYTES(1, program.head.texts);
		expect(hostile[i].name, ioctl(device, FKT_START, &s) && errno == EINVAL, "not refused");
		ioctl(device, FKT_STOP);
	}
	/* The same place is right for a match of the name itself. */
	program.insn = (struct fkt_insn){ .op = FKT_OP_MATCH, .index = FKT_TRIGGER_TASK, .target = FKT_TARGET_DROP };
	expect("the name is matched", !ioctl(device, FKT_START, &s), "refused");
	ioctl(device, FKT_STOP);
	close(device);
}

int main(void)
{
	static const useconds_t after_ms[] = { 0, 10, 50, 150, 500 };

	flight_recorder();
	fired_and_stopped();
	reads_no_memory();
	dies_in_a_snapshot();
	for (unsigned int i = 0; i < sizeof(after_ms) / sizeof(*after_ms); i++)
		dies_at_the_stop(after_ms[i] * 1000);
	dies_after_the_stop();
	return 0;
}
