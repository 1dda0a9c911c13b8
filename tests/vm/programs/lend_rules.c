// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the module promises about lent pages and flight recorders, one line "ok NAME" or "not NAME:
 * WHY" each. Needs the module, and nobody else recording.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/wire.h>

#define MAP_BYTES ((size_t)FKT_MAP_PAGES * 16384)
#define ROOM 4096

static void expect(const char *name, bool good, const char *why)
{
	if (good)
		printf("ok %s\n", name);
	else
		printf("not %s: %s\n", name, why);
}

static int open_device(void)
{
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		perror(FKT_DEVICE);
		exit(1);
	}
	return fd;
}

static int start(int device, __u32 flags)
{
	struct fkt_start s = {
		.abi = FKT_ABI_VERSION, .size = sizeof(s), .out_fd = -1, .flags = flags,
		.mask = 1 << FKT_L_SYSTEM, .recording = 0x6c656e64,
	};

	return ioctl(device, FKT_START, &s);
}

static void call(unsigned int times)
{
	while (times--)
		syscall(SYS_getppid);
}

static int move(int device, unsigned long what, __u32 *numbers, __u32 count, struct fkt_lend *lend)
{
	*lend = (struct fkt_lend){ .pages = (unsigned long)numbers, .count = count };
	return ioctl(device, what, lend) ? errno : 0;
}

static sigjmp_buf faulted;

static void on_bus(int sig)
{
	siglongjmp(faulted, sig);
}

/* Does reading there raise SIGBUS? */
static bool bus_error(const volatile char *at)
{
	if (sigsetjmp(faulted, 1))
		return true;
	(void)*at;
	return false;
}

static bool all_pages(const char *map, const __u32 *numbers, __u32 count)
{
	for (__u32 i = 0; i < count; i++) {
		const struct fkt_page_header *h = (const void *)(map + (size_t)numbers[i] * 16384);

		if (h->magic != FKT_PAGE_MAGIC || h->checksum != fkt_page_checksum(h))
			return false;
	}
	return count > 0;
}

/* Takes all there is, at most ROOM; returns how many. */
static __u32 take_all(int device, __u32 *numbers, __u32 *flags)
{
	struct fkt_lend lend;

	if (move(device, FKT_TAKE, numbers, ROOM, &lend))
		return 0;
	*flags = lend.flags;
	return lend.count;
}

static void lending(void)
{
	static __u32 numbers[ROOM];
	struct fkt_lend lend;
	int device = open_device(), other = open_device();
	__u32 n, flags, bad = FKT_MAP_PAGES - 1;
	char *map;

	expect("no mapping before the start",
	       mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, device, 0) == MAP_FAILED, "mapped");
	expect("start", !start(device, FKT_START_ENGINE(FKT_ENGINE_LEND)), "FKT_START");
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
	expect("still there", !bus_error(map + (size_t)numbers[0] * 16384), "SIGBUS");
	ioctl(device, FKT_FREEBUFFER);
	expect("nothing after the end", bus_error(map + (size_t)numbers[0] * 16384) &&
	       bus_error(map + (size_t)numbers[n - 1] * 16384), "readable");
	close(other);
	close(device);
	munmap(map, MAP_BYTES);
}

static __u64 events_of(const char *map, const __u32 *numbers, __u32 count)
{
	__u64 events = 0;

	for (__u32 i = 0; i < count; i++)
		events += ((const struct fkt_page_header *)(map + (size_t)numbers[i] * 16384))->events;
	return events;
}

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
	start(device, FKT_START_ENGINE(FKT_ENGINE_LEND));
	expect("flight: not of an ordinary recording", flight(device, FKT_FLIGHT_LEAVE) == EOPNOTSUPP, "accepted");
	ioctl(device, FKT_STOP);
	expect("flight: start", !start(device, FKT_START_ENGINE(FKT_ENGINE_LEND) | FKT_START_OVERWRITE), "FKT_START");
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

int main(void)
{
	signal(SIGBUS, on_bus);
	lending();
	flight_recorder();
	return 0;
}
