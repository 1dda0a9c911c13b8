// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of mappings of lent pages; prints one line "ok NAME" or "not NAME: WHY" for each: which pages a
 * mapping shows, and that a mapping which outlives its recording is harmless.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "lend.h"

/* Records some calls, and stops. Returns a mapping; numbers, n: the pages taken. */
static char *record(int device, __u32 *numbers, __u32 *n)
{
	__u32 flags;
	char *map;

	start(device, FKT_START_ENGINE(FKT_ENGINE_URING));
	map = mmap(NULL, MAP_BYTES, PROT_READ, MAP_SHARED, device, 0);
	call(20000);
	ioctl(device, FKT_STOP);
	*n = take_all(device, numbers, &flags);
	return map;
}

/* A mapping made in one owner's recording must not show pages of the next owner's. */
static void another_owner(int other, const char *map)
{
	static __u32 numbers[ROOM];
	__u32 n, shown = 0;
	char *own;

	own = record(other, numbers, &n);
	expect("the next owner sees its pages", all_pages(own, numbers, n), "damaged or none");
	for (__u32 i = 0; i < n; i++)
		shown += !bus_error(map + (size_t)numbers[i] * PAGE_BYTES);
	expect("the owner before it does not", !shown, "readable");
	munmap(own, MAP_BYTES);
}

static void owners(void)
{
	static __u32 numbers[ROOM];
	int device = open_device(), other = open_device();
	char *map;
	__u32 n;

	map = record(device, numbers, &n);
	expect("an owner sees its pages", all_pages(map, numbers, n), "damaged or none");
	ioctl(device, FKT_FREEBUFFER);
	another_owner(other, map);
	munmap(map, MAP_BYTES);
	close(other);
	close(device);
}

/*
 * Starts a child that reads the mapping, tells its parent that it has done so, and stays alive if the
 * mapping exists.
 */
static pid_t child_looks(const char *at)
{
	unsigned char resident;
	pid_t child = fork();
	bool there;

	if (child)
		return child;
	there = !mincore((void *)at, 4096, &resident) && !bus_error(at);
	kill(getppid(), SIGUSR1);
	if (there)
		sleep(60);
	_exit(there);
}

/* Mappings that are extended, moved, inherited, or the only reference that keeps the device open. */
static void mappings(void)
{
	static __u32 numbers[ROOM];
	int device = open_device(), other = open_device(), sig, ended;
	sigset_t usr1;
	char *map, *elsewhere;
	bool inherits;
	__u32 n;
	pid_t child;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	elsewhere = mmap(NULL, MAP_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	map = record(device, numbers, &n);
	expect("mapping: does not grow", mremap(map, MAP_BYTES, MAP_BYTES + 4096, MREMAP_MAYMOVE) == MAP_FAILED, "grew");
	child = child_looks(map + (size_t)numbers[0] * PAGE_BYTES);
	sigwait(&usr1, &sig);
	expect("mapping: not for children", waitpid(child, &ended, 0) == child && !ended, "inherited");
	map = mremap(map, MAP_BYTES, MAP_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere);
	expect("mapping: moved", map == elsewhere && all_pages(map, numbers, n), "damaged");
	/* Try to have the child inherit it anyway, which newer kernels refuse for such mappings. */
	inherits = !madvise(map, MAP_BYTES, MADV_DOFORK);
	child = child_looks(map + (size_t)numbers[0] * PAGE_BYTES);
	sigwait(&usr1, &sig);
	close(device);
	expect("mapping: keeps the device open", status_of(other).state == FKT_STOPPED &&
	       all_pages(map, numbers, n), "closed");
	munmap(map, MAP_BYTES);
	expect("mapping: a child's, too", (status_of(other).state == FKT_STOPPED) == inherits,
	       inherits ? "closed" : "inherited");
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	expect("mapping: the last one closes it", status_of(other).state == FKT_IDLE, "open");
	close(other);
}

static volatile bool touch_on;

/* Reads the first places again and again, while their pages change. */
static void *touch(void *arg)
{
	const char *map = arg;

	while (touch_on)
		for (size_t i = 0; i < 32; i++)
			bus_error(map + i * PAGE_BYTES + i % 4 * 4096);
	return NULL;
}

/*
 * Page faults during the ends and starts of recordings, while places change their pages and a mapping
 * is removed.
 */
static void faults_at_the_end(void)
{
	static __u32 numbers[ROOM];
	int device = open_device(), rounds;
	struct fkt_lend lend;
	__u32 n, flags, seen = 0;
	pthread_t toucher;
	char *map, *brief;

	start(device, FKT_START_ENGINE(FKT_ENGINE_URING));
	map = mmap(NULL, 32 * PAGE_BYTES, PROT_READ, MAP_SHARED, device, 0);
	touch_on = true;
	pthread_create(&toucher, NULL, touch, map);
	for (rounds = 0; rounds < 20; rounds++) {
		if (rounds)
			start(device, FKT_START_ENGINE(FKT_ENGINE_URING));
		brief = mmap(NULL, 32 * PAGE_BYTES, PROT_READ, MAP_SHARED, device, 0);
		for (int i = 0; i < 4; i++) {
			call(10000);
			n = take_all(device, numbers, &flags);
			bus_error(brief + PAGE_BYTES * (size_t)i);
			move(device, FKT_GIVE, numbers, n / 2, &lend);
			seen += n;
		}
		ioctl(device, FKT_STOP);
		ioctl(device, FKT_FREEBUFFER);
		munmap(brief, 32 * PAGE_BYTES);
	}
	touch_on = false;
	pthread_join(toucher, NULL);
	expect("faults at the end", seen > 100 && bus_error(map), "readable");
	munmap(map, 32 * PAGE_BYTES);
	close(device);
}

int main(void)
{
	signal(SIGBUS, on_bus);
	owners();
	mappings();
	faults_at_the_end();
	return 0;
}
