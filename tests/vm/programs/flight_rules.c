// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the module's interface for flight recorders; prints one line "ok NAME" or "not NAME: WHY"
 * for each. Needs the module; no other recording may run.
 */
#define _GNU_SOURCE
#include "lend.h"

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

	if (start_to(device, out, FKT_START_ENGINE(FKT_ENGINE_LEND) | FKT_START_OVERWRITE))
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

/* The pages that the dead recorder had must be in the output, before those that were in the rings. */
static void dies_in_a_snapshot(void)
{
	const char *bytes;
	int out = open("inherited", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int ends[2], device;
	struct fkt_status status;
	__u64 given[2] = { 0 }, events = 0, next_seq[64] = { 0 };
	bool in_order = true;
	off_t size;
	pid_t child;

	if (out < 0 || pipe(ends))
		exit(1);
	child = fork();
	if (!child)
		snapshot_and_die(out, ends[1]);
	expect("dies: takes pages", read(ends[0], given, sizeof(given)) == sizeof(given) && given[1] == 20, "fewer");
	waitpid(child, NULL, 0);
	device = open_device();
	for (int tries = 0; (status = status_of(device)).state != FKT_IDLE && tries < 1000; tries++)
		usleep(10000);
	size = lseek(out, 0, SEEK_END);
	bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, out, 0);
	for (off_t at = 0; bytes != MAP_FAILED && at < size; at += PAGE_BYTES) {
		const struct fkt_page_header *h = (const void *)(bytes + at);

		in_order = in_order && page_is_whole(h) && (!next_seq[h->cpu % 64] || h->seq == next_seq[h->cpu % 64]);
		next_seq[h->cpu % 64] = h->seq + 1;
		events += h->events;
	}
	printf("dies: events %llu in the file %llu given %llu discarded %llu overwritten %llu\n",
	       (unsigned long long)status.events, (unsigned long long)events, (unsigned long long)given[0],
	       (unsigned long long)status.discarded, (unsigned long long)status.overwritten);
	expect("dies: pages in order, without a hole", in_order && events > 0, "damaged");
	expect("dies: no event vanished", status.events >= 200000 &&
	       status.events == events + given[0] + status.discarded + status.overwritten, "events vanished");
	expect("dies: all but what was given back is in the file", !status.discarded && !status.overwritten,
	       "discarded");
	munmap((void *)bytes, size);
	close(out);
	close(device);
	unlink("inherited");
}

int main(void)
{
	flight_recorder();
	dies_in_a_snapshot();
	return 0;
}
