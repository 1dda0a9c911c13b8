// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the module's interface for lent pages; prints one line "ok NAME" or "not NAME: WHY" for
 * each. Needs the module; no other recording may run.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <time.h>

#include <fkt/page_walk.h>

#include "lend.h"

static void lending(void)
{
	static __u32 numbers[ROOM];
	struct fkt_lend lend;
	int device = open_device(), other = open_device();
	__u32 n, flags, bad = FKT_MAP_PAGES - 1;
	char *map;

	expect("no mapping before the start",
	       mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, device, 0) == MAP_FAILED, "mapped");
	expect("start", !start(device, FKT_START_ENGINE(FKT_ENGINE_URING)), "FKT_START");
	expect("no mapping for writing",
	       mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, device, 0) == MAP_FAILED, "mapped");
	expect("no private mapping", mmap(NULL, MAP_BYTES, PROT_READ, MAP_PRIVATE, device, 0) == MAP_FAILED,
	       "mapped");
	expect("no mapping for another file", mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, other, 0) == MAP_FAILED,
	       "mapped");
	map = mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, device, 0);
	expect("mapping", map != MAP_FAILED, "refused");
	expect("not made writable later", mprotect(map, 4096, PROT_READ | PROT_WRITE), "mprotect");
	expect("nothing where nothing was lent", bus_error(map), "readable");
	expect("another file takes nothing", move(other, FKT_TAKE, numbers, 1, &lend) == EBADF, "taken");
	call(20000);
	ioctl(device, FKT_STOP);
	n = take_all(device, numbers, &flags);
	expect("pages", n > 0 && flags == FKT_LEND_OVER && all_pages(map, numbers, n), "damaged or not over");
	expect("a page that was not lent", move(device, FKT_GIVE, &bad, 1, &lend) == EINVAL, "accepted");
	expect("gives back", !move(device, FKT_GIVE, numbers, n - 1, &lend), "refused");
	expect("not twice", move(device, FKT_GIVE, numbers, 1, &lend) == EINVAL, "accepted");
	expect("still there", !bus_error(map + (size_t)numbers[0] * PAGE_BYTES), "SIGBUS");
	ioctl(device, FKT_FREEBUFFER);
	expect("nothing after the end", bus_error(map + (size_t)numbers[0] * PAGE_BYTES) &&
	       bus_error(map + (size_t)numbers[n - 1] * PAGE_BYTES), "readable");
	close(other);
	close(device);
	munmap(map, MAP_BYTES);
}

/* Two pages per CPU are used several times; the recording is freed while poll(2) reports that there are more. */
static void freed_while_readable(void)
{
	static __u32 numbers[ROOM];
	__u32 n, flags, small = 3, usual = 10, laps = 0;
	int device = open_device();
	struct fkt_lend lend;

	ioctl(device, FKT_FREEBUFFER);
	expect("few pages", !ioctl(device, FKT_SETINITPOWPAGES, &small), "FKT_SETINITPOWPAGES");
	start(device, FKT_START_ENGINE(FKT_ENGINE_URING));
	while (laps < 16) {
		call(1000);
		readable(device, 0);
		n = take_all(device, numbers, &flags);
		move(device, FKT_GIVE, numbers, n, &lend);
		laps += n;
	}
	call(5000);
	expect("freed: something to take", readable(device, 5000), "poll");
	ioctl(device, FKT_STOP);
	expect("freed with a page that poll has seen", !ioctl(device, FKT_FREEBUFFER), "refused");
	ioctl(device, FKT_SETINITPOWPAGES, &usual);
	close(device);
}

/* Pages that were lent, or never taken, when a recording is freed must be counted as discarded. */
static void freed_unread(void)
{
	static __u32 numbers[ROOM];
	struct fkt_status stopped, freed;
	int device = open_device();
	struct fkt_lend lend;
	__u64 given;
	char *map;

	start(device, FKT_START_ENGINE(FKT_ENGINE_URING));
	map = mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, device, 0);
	call(20000);
	ioctl(device, FKT_STOP);
	stopped = status_of(device);
	move(device, FKT_TAKE, numbers, 4, &lend);
	given = events_of(map, numbers, 1);
	move(device, FKT_GIVE, numbers, 1, &lend);
	munmap(map, MAP_BYTES);
	ioctl(device, FKT_FREEBUFFER);
	freed = status_of(device);
	printf("freed unread: events %llu given %llu discarded %llu\n", (unsigned long long)stopped.events,
	       (unsigned long long)given, (unsigned long long)freed.discarded);
	expect("freed unread: all events are counted", freed.events == stopped.events && stopped.events >= 40000,
	       "fewer");
	expect("freed unread: discarded", given && freed.discarded == stopped.events - given,
	       "events vanished");
	close(device);
}

/* A page that FKT_GIVE refuses must not be recorded as recycled (event pages_recycled). */
static void refused_page(void)
{
	struct fkt_start s = {
		.abi = FKT_ABI_VERSION, .size = sizeof(s), .out_fd = -1,
		.mask = 1 << FKT_L_FKT | 1 << FKT_L_SYSTEM,
		.flags = FKT_START_ENGINE(FKT_ENGINE_URING) | FKT_START_NO_PAIRS, .recording = 1,
	};
	static __u32 numbers[ROOM];
	__u32 n, flags, back = 0, events = 0, bad = FKT_MAP_PAGES - 1;
	int device = open_device();
	struct fkt_lend lend;
	char *map;

	ioctl(device, FKT_START, &s);
	map = mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, device, 0);
	move(device, FKT_GIVE, &bad, 1, &lend);
	ioctl(device, FKT_STOP);
	n = take_all(device, numbers, &flags);
	for (__u32 i = 0; i < n; i++) {
		const struct fkt_page_header *h = (const void *)(map + (size_t)numbers[i] * PAGE_BYTES);
		const __u64 *w = (const void *)(h + 1), *end = (const void *)((const char *)h + h->used);

		for (; w < end; w += 1 + fkt_words_after(fkt_word_id(*w), fkt_word_arg(*w)))
			if (fkt_word_id(*w) == FKT_E_PAGES_RECYCLED)
				back += fkt_word_arg(*w);
		events += h->events;
	}
	printf("a refused page: %u events, %u pages came back\n", events, back);
	expect("a refused page did not come back", events && !back, "counted");
	munmap(map, MAP_BYTES);
	close(device);
}

/* A mapping with room for few pages, whose places are reused again and again. */
static void few_places(void)
{
	enum { PLACES = 4, PAGES = 40 };
	static __u32 numbers[ROOM];
	__u32 n = 0, flags, seen = 0, outside = 0;
	__u64 next_seq[64] = { 0 };
	int device = open_device();
	struct fkt_lend lend;
	bool in_order = true;
	char *map;

	start(device, FKT_START_ENGINE(FKT_ENGINE_URING));
	map = mmap(NULL, PLACES * PAGE_BYTES, PROT_READ, MAP_SHARED, device, 0);
	call(1000 * PAGES * 2);
	ioctl(device, FKT_STOP);
	n = take_all(device, numbers, &flags);
	expect("few places: no more than the mapping has", n == PLACES && !flags, "another number of pages");
	expect("few places: all are lent", move(device, FKT_TAKE, numbers + n, 1, &lend) == ENOBUFS, "taken");
	do {
		for (__u32 i = 0; i < n; i++) {
			const struct fkt_page_header *h = (const void *)(map + (size_t)numbers[i] * PAGE_BYTES);

			outside += numbers[i] >= PLACES;
			if (numbers[i] >= PLACES)
				continue;
			in_order = in_order && page_is_whole(h) && h->seq == next_seq[h->cpu % 64]++;
			seen++;
		}
		move(device, FKT_GIVE, numbers, n, &lend);
		n = take_all(device, numbers, &flags);
	} while (n);
	expect("few places: every page, in order", in_order && !outside && seen >= PAGES && flags == FKT_LEND_OVER,
	       "some are missing");
	munmap(map, PLACES * PAGE_BYTES);
	close(device);
}

static void pin_to_cpu0(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Few pages at long intervals: too few for the module to wake the drain, and too young to be closed. */
static void trickle(void)
{
	const struct timespec pause = { .tv_nsec = 50000000 };

	pin_to_cpu0();
	for (;;) {
		call(250);
		nanosleep(&pause, NULL);
	}
}

static void wakes_pollers(void)
{
	struct fkt_start s = {
		.abi = FKT_ABI_VERSION, .size = sizeof(s), .out_fd = -1, .mask = 1 << FKT_L_SYSTEM,
		.flags = FKT_START_ENGINE(FKT_ENGINE_URING), .filter = FKT_FILTER_PROCESS,
		.recording = 1,
	};
	static __u32 numbers[ROOM];
	__u32 n, flags;
	int device = open_device();

	s.filter_pid = fork();
	if (!s.filter_pid)
		trickle();
	expect("trickle: start", !ioctl(device, FKT_START, &s), "FKT_START");
	expect("trickle: woken", readable(device, 60000), "poll");
	n = take_all(device, numbers, &flags);
	printf("trickle: %u pages\n", n);
	expect("trickle: woken for few pages", n && n < 10, "pages waited");
	kill(s.filter_pid, SIGKILL);
	waitpid(s.filter_pid, NULL, 0);
	close(device);
}

/* tests/vm/modules/interrupts.c interrupts the call with this number that this program makes. */
static bool interrupt_lock(const char *number)
{
	int fd = open("/sys/module/interrupts/parameters/number", O_WRONLY);
	bool is_set = write(fd, number, 1) == 1;

	close(fd);
	return is_set;
}

/* A signal comes when a part of the pages was given back: the call must not begin again with these. */
static void given_once(void)
{
	enum { PAGES = 80 };
	static __u32 numbers[ROOM];
	int device = open_device(), err;
	struct fkt_lend lend;
	__u32 n, flags;

	start(device, FKT_START_ENGINE(FKT_ENGINE_URING));
	call(1000 * PAGES * 2);
	ioctl(device, FKT_STOP);
	n = take_all(device, numbers, &flags);
	expect("given once: enough pages", n >= PAGES, "too few");
	expect("given once: a signal can come", interrupt_lock("2"), "no module");
	err = move(device, FKT_GIVE, numbers, n, &lend);
	expect("given once: all of them, in one call", !err, err == 512 ? "begins again" : strerrorname_np(err));
	/* If no later batch took it, the interruption is still to come. */
	interrupt_lock("0");
	expect("given once: and no more", move(device, FKT_GIVE, numbers, 1, &lend) == EINVAL, "accepted");
	interrupt_lock("1");
	err = move(device, FKT_GIVE, numbers, 1, &lend);
	expect("given once: before the first one a signal ends the wait", err == 512, "it does not");
	interrupt_lock("0");
	close(device);
}

int main(void)
{
	signal(SIGBUS, on_bus);
	lending();
	freed_while_readable();
	freed_unread();
	refused_page();
	few_places();
	wakes_pollers();
	given_once();
	return 0;
}
