// SPDX-License-Identifier: GPL-2.0-only
/*
 * alloc_faults OUTPUT [SCENE]: makes each allocation of each call on /dev/fkt fail once: in the first run of
 * the call its first allocation, then the second, until the call makes no more (/proc/PID/fail-nth,
 * Documentation/fault-injection). After each failure the call must either have succeeded without that memory,
 * or return ENOMEM and undo everything: a recording started next, without a failure, must have its events.
 * Does this for the drain thread's allocations too, while it writes to OUTPUT.
 *
 * Prints a line for each scene: "NAME allocations N failed N": number of allocations, and how many of them made
 * the call fail. SCENE: only scenes whose name begins with this. Needs a kernel with failslab and
 * fail_page_alloc.
 *
 * The scene "kprobe" runs only if it is named: the kernel warns when it cannot disarm a kprobe, and fkt.ko
 * then cannot be unloaded.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fkt/trigger_hit.h>
#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/wire.h>

#define MOST 2000 /* largest number of allocations of one call */
#define PAGES 3 /* FKT_SETINITPOWPAGES: two ring pages per CPU */
#define ALL_LAYERS (1 << FKT_L_SYSTEM | 1 << FKT_L_FKT | 1 << FKT_L_PROCESS)

static const char *output;
static const struct fkt_program always;
static struct fkt_trigger trigger = { .bytes = sizeof(always), .tids = 32768 };

static void die(const char *scene, unsigned int nth, const char *what)
{
	printf("not %s: allocation %u: %s: %s\n", scene, nth, what, strerror(errno));
	exit(1);
}

/* ---- failing ---- */

static void write_nth(const char *path, unsigned int nth)
{
	char text[16];
	int fd = open(path, O_WRONLY | O_CLOEXEC), n = snprintf(text, sizeof(text), "%u", nth);

	if (fd < 0 || write(fd, text, n) != n) {
		perror(path);
		exit(2);
	}
	close(fd);
}

/* Returns the rest of the countdown; 0: an allocation failed. */
static unsigned int read_nth(const char *path)
{
	char text[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0) {
		perror(path);
		exit(2);
	}
	close(fd);
	return atoi(text);
}

#define OWN_NTH "/proc/thread-self/fail-nth"

/* Opened in advance: otherwise the allocations of opening it would be counted. */
static int own_nth(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open(OWN_NTH, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		perror(OWN_NTH);
		exit(2);
	}
	return fd;
}

static void arm(unsigned int nth)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	if (pwrite(own_nth(), text, n, 0) != n) {
		perror(OWN_NTH);
		exit(2);
	}
}

/* Returns whether an allocation failed since arm(). */
static bool disarm(void)
{
	char text[16] = "";
	bool failed = pread(own_nth(), text, sizeof(text) - 1, 0) > 0 && !atoi(text);

	arm(0);
	return failed;
}

/* ---- recordings ---- */

static int open_device(void)
{
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		perror(FKT_DEVICE);
		exit(2);
	}
	return fd;
}

static struct fkt_start plain_start(void)
{
	return (struct fkt_start){
		.abi = FKT_ABI_VERSION, .size = sizeof(struct fkt_start), .out_fd = -1,
		.mask = 1 << FKT_L_FKT, .recording = 0x6661756c74,
	};
}

static void call(unsigned int times)
{
	while (times--)
		syscall(SYS_getppid);
}

/* Opens the device without kept pages, so that a start allocates all it needs. */
static int fresh_device(void)
{
	__u32 pow = PAGES;
	int fd = open_device();

	ioctl(fd, FKT_FREEBUFFER);
	ioctl(fd, FKT_SETINITPOWPAGES, &pow);
	return fd;
}

/* After a failure: no recording must run, and a recording of mask changes, which needs no hook, must have them. */
static void expect_sound(const char *scene, unsigned int nth)
{
	struct fkt_start s = plain_start();
	struct fkt_status status;
	int i, fd = open_device();

	if (ioctl(fd, FKT_STATUS, &status))
		die(scene, nth, "status");
	if (status.state != FKT_IDLE)
		die(scene, nth, "a recording is left");
	if (ioctl(fd, FKT_START, &s))
		die(scene, nth, "the next start");
	for (i = 0; i < 10; i++)
		if (ioctl(fd, FKT_SETMASK, &s.mask))
			die(scene, nth, "a mask of the next recording");
	if (ioctl(fd, FKT_STOP) || ioctl(fd, FKT_STATUS, &status))
		die(scene, nth, "the next stop");
	if (status.events < 10 || status.lost)
		die(scene, nth, "the next recording has too few events");
	close(fd);
}

/* ---- calls of this process ---- */

struct scene {
	const char *name;
	void (*set)(struct fkt_start *s);
	/* Called once the recording runs; NULL: allocations of the start itself fail. */
	int (*then)(int fd);
	bool by_name; /* runs only if SCENE names it */
	bool is_open; /* the output is opened for the start */
	int flags;
};

static void set_all(struct fkt_start *s)
{
	s->mask = ALL_LAYERS;
}

static void set_trigger(struct fkt_start *s)
{
	trigger.program = (unsigned long)&always;
	memset(trigger.watched, 0xff, sizeof(trigger.watched));
	s->trigger = (unsigned long)&trigger;
}

/* Address of vfs_read; tests/vm/cases/alloc_faults has loaded fkt_calls. */
static unsigned long long address_of_vfs_read(void)
{
	FILE *symbols = fopen("/proc/kallsyms", "r");
	unsigned long long address = 0, found = 0;
	char line[512], name[256], type;

	while (symbols && !found && fgets(line, sizeof(line), symbols))
		if (sscanf(line, "%llx %c %255s", &address, &type, name) == 3 && !strcmp(name, "vfs_read"))
			found = address;
	if (symbols)
		fclose(symbols);
	return found;
}

static const struct fkt_instrument instrument = { .action = FKT_ACTION_RECORD, .layer = FKT_L_INSTRUMENTS };
static struct fkt_instruments instruments;

/* Returns an instrument on functions or tracepoints, of which the caller sets one. */
static struct fkt_instruments *set_instrument(struct fkt_start *s)
{
	instruments = (struct fkt_instruments){ .instruments = (unsigned long)&instrument, .count = 1 };
	s->mask |= 1ULL << FKT_L_INSTRUMENTS;
	s->instruments = (unsigned long)&instruments;
	return &instruments;
}

static void set_calls(struct fkt_start *s)
{
	static const __u64 programs[2]; /* without instructions: they keep every call */
	static struct fkt_called called;
	static struct fkt_calls calls;

	if (!called.function)
		called.function = address_of_vfs_read();
	calls = (struct fkt_calls){
		.functions = (unsigned long)&called, .programs = (unsigned long)programs, .count = 1,
		.program_bytes = sizeof(programs), .program_count = 1,
	};
	set_instrument(s)->calls = (unsigned long)&calls;
}

static void set_entries(struct fkt_start *s)
{
	set_calls(s);
	instruments.entries = instruments.instructions = instruments.calls;
	instruments.calls = 0;
}

static void set_points(struct fkt_start *s)
{
	static const __u64 programs[2]; /* without instructions: they keep every hit */
	static struct fkt_point point[] = {
		{ .name = "sched_switch" },
		{ .name = "ext4_sync_file_enter", .number = 1 },
	};
	static struct fkt_points points;

	points = (struct fkt_points){
		.points = (unsigned long)point, .programs = (unsigned long)programs, .count = 2,
		.program_bytes = sizeof(programs),
	};
	set_instrument(s)->points = (unsigned long)&points;
}

/* The address is looked up before the allocations that fail. */
static void set_before_exchange(struct fkt_start *s)
{
	set_calls(s);
	set_points(s);
}

/* All kinds of places of one instrument. */
static void set_everything(struct fkt_start *s)
{
	__u64 points;

	set_points(s);
	points = instruments.points;
	set_calls(s);
	instruments.points = points;
	instruments.entries = instruments.instructions = instruments.calls;
}

/*
 * Neither calls nor entries. The instruction stays: a kprobe that the kernel cannot remove without memory keeps fkt.ko
 * loaded.
 */
static void set_fewer(struct fkt_start *s)
{
	__u64 calls;

	set_calls(s);
	calls = instruments.calls;
	set_points(s);
	instruments.instructions = calls;
}

static int exchange_for(int fd, void (*set)(struct fkt_start *s))
{
	static char lines[] = "name\tfunction\t0\tvfs_read\n";
	struct fkt_exchange exchange = {
		.instruments = (unsigned long)&instruments, .lines = (unsigned long)lines,
		.line_bytes = sizeof(lines) - 1,
	};
	struct fkt_start unused = { 0 };

	set(&unused);
	return ioctl(fd, FKT_EXCHANGE, &exchange);
}

static int exchange_for_more(int fd)
{
	return exchange_for(fd, set_everything);
}

static int exchange_for_less(int fd)
{
	return exchange_for(fd, set_fewer);
}

static void set_process(struct fkt_start *s)
{
	s->filter = FKT_FILTER_PROCESS;
	s->filter_pid = getpid();
}

static void set_lend(struct fkt_start *s)
{
	s->mask = 1 << FKT_L_SYSTEM;
	s->flags = FKT_START_ENGINE(FKT_ENGINE_URING);
}

static void set_fetch(struct fkt_start *s)
{
	s->mask = 1 << FKT_L_SYSTEM;
}

static void set_checkin(struct fkt_start *s)
{
	s->mask = 1 << FKT_L_SYSTEM;
	s->flags = FKT_START_ENGINE(FKT_ENGINE_CHECKIN);
}

static void set_checkin_no_hooks(struct fkt_start *s)
{
	s->flags = FKT_START_ENGINE(FKT_ENGINE_CHECKIN);
}

static int enable(int fd)
{
	__u64 mask = ALL_LAYERS;

	return ioctl(fd, FKT_ENABLE, &mask);
}

static int take(int fd)
{
	__u32 numbers[8];
	struct fkt_lend lend = { .pages = (unsigned long)numbers, .count = 8 };

	return ioctl(fd, FKT_TAKE, &lend);
}

static void *mapped = MAP_FAILED; /* unmapped when allocations succeed again: munmap(2) allocates, too */

static int map(int fd)
{
	mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	return mapped == MAP_FAILED ? -1 : 0;
}

static void unmap(void)
{
	if (mapped != MAP_FAILED)
		munmap(mapped, 4096);
	mapped = MAP_FAILED;
}

static int splice_out(int fd)
{
	int ends[2], ret;

	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC))
		return -1;
	ret = splice(fd, NULL, ends[1], NULL, 1 << 16, SPLICE_F_NONBLOCK) < 0 ? -1 : 0;
	close(ends[0]);
	close(ends[1]);
	return ret;
}

static int stop(int fd)
{
	return ioctl(fd, FKT_STOP);
}

/* Makes the nth allocation fail; returns false if the call made fewer allocations. */
static bool try_nth(const struct scene *scene, unsigned int nth, unsigned int *failed)
{
	struct fkt_start s = plain_start();
	bool hit;
	int ret, error, fd = fresh_device();

	if (scene->set)
		scene->set(&s);
	if (scene->is_open)
		s.out_fd = open(output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | scene->flags, 0600);
	if (scene->then) {
		if (ioctl(fd, FKT_START, &s))
			die(scene->name, nth, "start");
		call(3000);
	}
	arm(nth);
	ret = scene->then ? scene->then(fd) : ioctl(fd, FKT_START, &s);
	error = errno;
	hit = disarm();
	errno = error;
	if (ret && hit && error != ENOMEM && error != ENFILE)
		die(scene->name, nth, "another error than ENOMEM");
	if (ret && !hit)
		die(scene->name, nth, "failed without a failure");
	*failed += !!ret;
	unmap();
	close(fd);
	if (s.out_fd >= 0)
		close(s.out_fd);
	if (hit)
		expect_sound(scene->name, nth);
	return hit;
}

static void walk(const struct scene *scene)
{
	unsigned int nth = 1, failed = 0;

	while (try_nth(scene, nth, &failed))
		if (++nth > MOST)
			die(scene->name, nth, "no end of allocations");
	printf("%s allocations %u failed %u\n", scene->name, nth - 1, failed);
}

/* ---- the drain ---- */

/* Finds the path of the drain thread's fail-nth. */
static bool find_drain(char *path, size_t room)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	while (!found && (entry = readdir(proc))) {
		char name[300], comm[32] = "";
		FILE *file;

		snprintf(name, sizeof(name), "/proc/%s/comm", entry->d_name);
		file = entry->d_name[0] > '0' && entry->d_name[0] <= '9' ? fopen(name, "r") : NULL;
		if (!file)
			continue;
		found = fgets(comm, sizeof(comm), file) && !strcmp(comm, "fkt_drain\n");
		fclose(file);
		if (found)
			snprintf(path, room, "/proc/%.20s/task/%.20s/fail-nth", entry->d_name, entry->d_name);
	}
	closedir(proc);
	return found;
}

/* Adds up the events in the first pages of a file, as given by their headers. */
static __u64 events_in(int fd, __u64 pages, __u32 page_bytes)
{
	struct fkt_page_header h;
	__u64 sum = 0, i;

	for (i = 0; i < pages; i++) {
		if (pread(fd, &h, sizeof(h), i * page_bytes) != sizeof(h) || h.magic != FKT_PAGE_MAGIC ||
		    h.checksum != fkt_page_checksum(&h))
			return ~0ULL;
		sum += h.events;
	}
	return sum;
}

/* The events in the output and those reported as missing must be all events. */
static void expect_counted(const struct scene *scene, unsigned int nth, const struct fkt_status *status)
{
	int fd = open(output, O_RDONLY | O_CLOEXEC);
	__u64 there = events_in(fd, status->pages_written, status->page_bytes);

	close(fd);
	if (there + status->discarded == status->events)
		return;
	printf("%s: allocation %u: %llu events in the file, %llu discarded, %llu written by probes\n", scene->name, nth,
	       (unsigned long long)there, (unsigned long long)status->discarded,
	       (unsigned long long)status->events);
	die(scene->name, nth, "events that nobody tells of");
}

static bool try_drain(const struct scene *scene, unsigned int nth, unsigned int *failed)
{
	struct fkt_start s = plain_start();
	struct fkt_status status;
	char path[64];
	bool hit;
	int fd = fresh_device();

	scene->set(&s);
	s.out_fd = open(output, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | scene->flags, 0600);
	if (ioctl(fd, FKT_START, &s) || !find_drain(path, sizeof(path)))
		die(scene->name, nth, "start");
	write_nth(path, nth);
	call(20000);
	hit = !read_nth(path);
	if (!hit)
		write_nth(path, 0);
	if (ioctl(fd, FKT_STOP) || ioctl(fd, FKT_STATUS, &status))
		die(scene->name, nth, "stop");
	expect_counted(scene, nth, &status);
	*failed += status.stop_reason == FKT_STOP_ERROR;
	close(fd);
	close(s.out_fd);
	if (hit)
		expect_sound(scene->name, nth);
	return hit;
}

/* The drain allocates as long as it runs: makes the first `most` allocations fail. */
static void walk_drain(const struct scene *scene, unsigned int most)
{
	unsigned int nth = 1, failed = 0;

	while (nth <= most && try_drain(scene, nth, &failed))
		nth++;
	printf("%s allocations %u failed %u\n", scene->name, nth - 1, failed);
}

int main(int argc, char **argv)
{
	static const struct scene scenes[] = {
		{ .name = "start" },
		{ .name = "start, all layers", .set = set_all },
		{ .name = "start, a trigger", .set = set_trigger },
		{ .name = "start, one process", .set = set_process },
		{ .name = "start, calls", .set = set_calls },
		{ .name = "start, entries and instructions", .set = set_entries },
		{ .name = "start, tracepoints", .set = set_points },
		{ .name = "start, buffered", .is_open = true },
		{ .name = "start, direct", .is_open = true, .flags = O_DIRECT },
		{ .name = "start, checkin", .set = set_checkin, .is_open = true },
		{ .name = "start, lend", .set = set_lend },
		{ .name = "exchange, more places", .set = set_before_exchange, .then = exchange_for_more },
		{ .name = "exchange, fewer places", .set = set_everything, .then = exchange_for_less },
		{ .name = "enable", .then = enable },
		{ .name = "take", .set = set_lend, .then = take },
		{ .name = "mmap", .set = set_lend, .then = map },
		{ .name = "splice", .set = set_fetch, .then = splice_out },
		{ .name = "stop", .set = set_checkin_no_hooks, .is_open = true, .then = stop },
		{ .name = "kprobe", .set = set_lend, .then = stop, .by_name = true },
	};
	static const struct scene drains[] = {
		{ .name = "drain, buffered", .set = set_fetch },
		{ .name = "drain, direct", .set = set_fetch, .flags = O_DIRECT },
		{ .name = "drain, checkin", .set = set_checkin },
	};
	unsigned int i;

	if (argc < 2)
		return 2;
	output = argv[1];
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (argc < 3 ? !scenes[i].by_name : !strncmp(scenes[i].name, argv[2], strlen(argv[2])))
			walk(&scenes[i]);
	for (i = 0; i < sizeof(drains) / sizeof(drains[0]); i++)
		if (argc < 3 || !strncmp(drains[i].name, argv[2], strlen(argv[2])))
			walk_drain(&drains[i], 40);
	return 0;
}
