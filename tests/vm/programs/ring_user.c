// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uses /dev/fkt directly, for tests of what the tools do not use. Handles pages only, no record files.
 *
 *   ring_user record [--by kernel|direct|read|sendfile|splice|lend|lend-direct] [--pow N] [--mask M] [--limit BYTES]
 *                    [--slow MS] OUT -- COMMAND...
 *       OUT: a file or device, pipe:FILE or tcp:FILE (a child process copies the received bytes to FILE,
 *       MS ms late); prints "events N lost N discarded N pages N bytes N engine N reason N"
 *   ring_user check FILE    decodes every page; prints "pages N events N lost N gaps N cpus N"
 *   ring_user start [ABI]   starts and ends a recording; prints "started" or the error's name
 *   ring_user hold          starts a recording and keeps it until it gets a signal
 *   ring_user own CALLS     records calls that it makes itself; prints "own N of N": bytes of the sampled pages
 *   ring_user waitready     FKT_WAITREADY, then prints "ready"
 *   ring_user status        prints "state N recorder N mask 0xN lost N"
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/wire.h>

#define RECORDING 0x6d6f636b5f667574ULL
#define CPUS 64
#define LENT_BYTES ((size_t)FKT_MAP_PAGES * 16384)

static void die(const char *what)
{
	fprintf(stderr, "ring_user: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void check(bool ok, const char *what)
{
	if (!ok)
		die(what);
}

static void sleep_ms(long ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* ---- check ---- */

static unsigned int words_of[1 << FKT_ID_BITS]; /* + 1; 0: no event */

static void learn_words(void)
{
#define FKT_EVENT(id, NAME, LAYER, name, role, words, fields) words_of[id] = (words) + 1;
#define FKT_PAIR(id, NAME, count, BEGIN, END, end_arg)      \
	for (unsigned int i = (id); i < (id) + (count); i++) \
		words_of[i] = 1;
#include <fkt/events.def>
}

struct cpu {
	__u64 seq, clock, lost;
};

static struct {
	__u64 pages, events, lost, gaps, cpus;
} sums;

static void wrong(const struct fkt_page_header *h, const char *what)
{
	fprintf(stderr, "ring_user: page %llu of CPU %u: %s\n", (unsigned long long)h->seq, h->cpu, what);
	exit(1);
}

static const __u64 *check_gap(const struct fkt_page_header *h, struct cpu *cpu, const __u64 *w)
{
	/*
	 * Equal: the probe that began the gap was interrupted before it counted its own loss; a later
	 * page has the count.
	 */
	if (w[1] < cpu->lost)
		wrong(h, "fewer events lost than before");
	if (w[2] < cpu->clock)
		wrong(h, "a gap that began before the last event");
	cpu->lost = w[1];
	sums.gaps++;
	return w + 1 + FKT_LOST_WORDS;
}

static void check_words(const struct fkt_page_header *h, struct cpu *cpu)
{
	const __u64 *w = (const void *)((const char *)h + h->header_bytes);
	const __u64 *end = (const void *)((const char *)h + h->used);
	__u64 clock = h->first_clock;
	__u32 id, n, events = 0;

	while (w < end) {
		id = fkt_word_id(*w);
		clock = id == FKT_W_TIME ? fkt_time_word_clock(*w, clock) : fkt_word_clock(*w, clock);
		if (id == FKT_W_TIME || id == FKT_W_PID) {
			w++;
		} else if (id == FKT_W_LOST) {
			w = check_gap(h, cpu, w);
		} else {
			n = words_of[id];
			if (!n)
				wrong(h, "an unknown event");
			if (n == FKT_VARIABLE + 1)
				n = 1 + (fkt_word_arg(*w) & FKT_VAR_MASK);
			events++;
			if (id >= FKT_PAIR_ID && fkt_word_arg(*w)) {
				clock += fkt_pair_ticks(fkt_word_arg(*w));
				events++;
			}
			w += n;
		}
	}
	if (w != end)
		wrong(h, "an event longer than the page");
	if (events != h->events)
		wrong(h, "another number of events than its header says");
	if (clock > h->end_clock)
		wrong(h, "an event behind its end");
	cpu->clock = h->end_clock;
	sums.events += events;
}

static void check_page(const struct fkt_page_header *h, struct cpu *cpus)
{
	struct cpu *cpu = &cpus[h->cpu % CPUS];
	const char *bytes = (const char *)h;
	__u32 i;

	if (h->magic != FKT_PAGE_MAGIC || h->recording != RECORDING)
		wrong(h, "not a page of this recording");
	if (h->checksum != fkt_page_checksum(h))
		wrong(h, "wrong checksum");
	if (h->used <= h->page_bytes && h->events_checksum != fkt_events_checksum(h, h + 1))
		wrong(h, "wrong checksum of its events");
	if (h->seq != cpu->seq++)
		wrong(h, "out of order");
	if (h->commit || h->used > h->page_bytes || h->used < h->header_bytes)
		wrong(h, "not complete");
	if (h->first_clock < cpu->clock)
		wrong(h, "time goes back");
	check_words(h, cpu);
	for (i = h->used; i < h->page_bytes; i++)
		if (bytes[i])
			wrong(h, "rests behind its end");
	sums.cpus += h->seq == 0;
	sums.pages++;
}

static int check_file(const char *path)
{
	static struct cpu cpus[CPUS];
	struct stat st;
	int i, fd = open(path, O_RDONLY);
	const char *bytes;
	off_t at;

	check(fd >= 0 && !fstat(fd, &st), path);
	bytes = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	check(bytes != MAP_FAILED, "mmap");
	learn_words();
	for (at = 0; at < st.st_size;) {
		const struct fkt_page_header *h = (const void *)(bytes + at);

		if (at + h->page_bytes > st.st_size || h->page_bytes < FKT_PAGE_MIN_BYTES)
			wrong(h, "cut short");
		check_page(h, cpus);
		at += h->page_bytes;
	}
	for (i = 0; i < CPUS; i++)
		sums.lost += cpus[i].lost;
	printf("pages %llu events %llu lost %llu gaps %llu cpus %llu\n",
	       (unsigned long long)sums.pages, (unsigned long long)sums.events,
	       (unsigned long long)sums.lost, (unsigned long long)sums.gaps,
	       (unsigned long long)sums.cpus);
	return 0;
}

/* ---- record ---- */

static struct {
	const char *by, *out;
	__u32 pow;
	__u64 mask, limit;
	long slow_ms;
	char **command;
} options = { .by = "kernel", .mask = 1 << FKT_L_SYSTEM | 1 << FKT_L_PROCESS };

static volatile sig_atomic_t child_ended;

static void on_child(int sig)
{
	(void)sig;
	child_ended = 1;
}

/* Starts a process that copies the bytes from fd to the file, with a delay; returns its pid. */
static pid_t start_copier(int fd, int other, const char *path)
{
	static char buf[1 << 16];
	pid_t pid = fork();
	ssize_t n;
	int out;

	check(pid >= 0, "fork");
	if (pid)
		return pid;
	close(other);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	check(out >= 0, path);
	sleep_ms(options.slow_ms);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		check(write(out, buf, n) == n, path);
	_exit(n < 0);
}

static int tcp_to(const char *path, pid_t *copier)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), out = socket(AF_INET, SOCK_STREAM, 0), in;

	check(!bind(listener, (void *)&address, len) && !listen(listener, 1), "listen");
	check(!getsockname(listener, (void *)&address, &len), "getsockname");
	check(!connect(out, (void *)&address, len), "connect");
	in = accept(listener, NULL, NULL);
	check(in >= 0, "accept");
	*copier = start_copier(in, out, path);
	close(in);
	close(listener);
	return out;
}

static int pipe_to(const char *path, pid_t *copier)
{
	int ends[2];

	check(!pipe(ends), "pipe");
	*copier = start_copier(ends[0], ends[1], path);
	close(ends[0]);
	return ends[1];
}

static int open_output(pid_t *copier)
{
	int flags = O_WRONLY | (strstr(options.by, "direct") ? O_DIRECT : 0);
	struct stat st;
	int fd;

	*copier = 0;
	if (!strncmp(options.out, "pipe:", 5))
		return pipe_to(options.out + 5, copier);
	if (!strncmp(options.out, "tcp:", 4))
		return tcp_to(options.out + 4, copier);
	fd = stat(options.out, &st) || !S_ISBLK(st.st_mode) ?
		     open(options.out, flags | O_CREAT | O_TRUNC, 0600) : open(options.out, flags);
	check(fd >= 0, options.out);
	return fd;
}

static ssize_t splice_all(int from, int to)
{
	static int ends[2] = { -1 };
	ssize_t n, done = 0, part;

	if (ends[0] < 0)
		check(!pipe(ends), "pipe");
	n = splice(from, NULL, ends[1], NULL, 1 << 16, SPLICE_F_MOVE);
	while (done < n) {
		part = splice(ends[0], NULL, to, NULL, n - done, SPLICE_F_MOVE);
		check(part > 0 || errno == EINTR, "splice out of the pipe");
		done += part > 0 ? part : 0;
	}
	return n;
}

static void write_all(int to, const char *bytes, ssize_t n)
{
	ssize_t done = 0, part;

	while (done < n) {
		part = write(to, bytes + done, n - done);
		check(part >= 0 || errno == EINTR, "write");
		done += part > 0 ? part : 0;
	}
}

static ssize_t copy_all(int from, int to)
{
	static char buf[10000];
	ssize_t n = read(from, buf, sizeof(buf));

	write_all(to, buf, n);
	return n;
}

static bool lends(void)
{
	return !strncmp(options.by, "lend", 4);
}

static const char *lent_pages(int device)
{
	static const char *pages;

	if (!pages) {
		pages = mmap(NULL, LENT_BYTES, PROT_READ, MAP_SHARED, device, 0);
		check(pages != MAP_FAILED, "mmap of the device");
	}
	return pages;
}

/* Writes lent pages, and gives them back, the last one first. Like read(2), returns 0 at the end. */
static ssize_t write_lent(int device, int out)
{
	__u32 numbers[7], i;
	struct fkt_lend lend = { .pages = (unsigned long)numbers, .count = 7 };
	struct fkt_status status;
	const char *pages = lent_pages(device);

	check(!ioctl(device, FKT_TAKE, &lend), "FKT_TAKE");
	check(!ioctl(device, FKT_STATUS, &status), "FKT_STATUS");
	for (i = 0; i < lend.count; i++)
		write_all(out, pages + (size_t)numbers[i] * status.page_bytes, status.page_bytes);
	if (!lend.count && lend.flags & FKT_LEND_OVER)
		return 0;
	for (i = lend.count; i-- > 0;) {
		struct fkt_lend one = { .pages = (unsigned long)(numbers + i), .count = 1 };

		check(!ioctl(device, FKT_GIVE, &one), "FKT_GIVE");
	}
	return 1;
}

static ssize_t fetch(int device, int out)
{
	if (lends())
		return write_lent(device, out);
	if (!strcmp(options.by, "read"))
		return copy_all(device, out);
	if (!strcmp(options.by, "splice"))
		return splice_all(device, out);
	return sendfile(out, device, NULL, 1 << 20);
}

/* Fetches pages until the workload has ended; then stops the recording and fetches the rest. */
static void fetch_while(int device, int out)
{
	struct pollfd ready = { .fd = device, .events = POLLIN };
	bool stopped = false;
	ssize_t n;

	for (;;) {
		if (child_ended && !stopped) {
			check(!ioctl(device, FKT_STOP), "FKT_STOP");
			stopped = true;
		}
		if (poll(&ready, 1, 100) <= 0)
			continue;
		n = fetch(device, out);
		if (n == 0)
			return;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			die(options.by);
	}
}

static void wait_for_child(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		check(errno == EINTR, "waitpid");
	if (status)
		fprintf(stderr, "ring_user: a child ended with status 0x%x\n", status);
	if (status)
		exit(1);
}

static pid_t start_workload(void)
{
	pid_t pid = fork();

	check(pid >= 0, "fork");
	if (!pid) {
		execvp(options.command[0], options.command);
		die(options.command[0]);
	}
	return pid;
}

static void print_totals(const struct fkt_status *status)
{
	struct fkt_status s = *status;

	printf("events %llu lost %llu discarded %llu pages %llu bytes %llu engine %u reason %u\n",
	       (unsigned long long)s.events, (unsigned long long)s.lost, (unsigned long long)s.discarded,
	       (unsigned long long)s.pages_written, (unsigned long long)s.bytes_written, s.engine,
	       s.stop_reason);
}

static int open_device(void)
{
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);

	check(fd >= 0, FKT_DEVICE);
	return fd;
}

static int start(int device, int out, __u32 abi, __u32 flags)
{
	struct fkt_start s = {
		.abi = abi, .size = sizeof(s), .out_fd = out, .mask = options.mask, .recording = RECORDING,
		.limit = options.limit, .flags = flags,
	};

	return ioctl(device, FKT_START, &s);
}

static int record(void)
{
	struct sigaction action = { .sa_handler = on_child };
	bool by_kernel = !strcmp(options.by, "kernel") || !strcmp(options.by, "direct");
	struct fkt_status status;
	pid_t copier, workload;
	int device = open_device(), out = open_output(&copier);

	if (options.pow)
		check(!ioctl(device, FKT_SETINITPOWPAGES, &options.pow), "FKT_SETINITPOWPAGES");
	check(!start(device, by_kernel ? out : -1, FKT_ABI_VERSION, lends() ? FKT_START_ENGINE(FKT_ENGINE_URING) : 0),
	      "FKT_START");
	/* No SA_RESTART: the signal must end waiting calls. A copier that ends early makes a write fail. */
	sigaction(SIGCHLD, &action, NULL);
	workload = start_workload();
	if (!by_kernel)
		fetch_while(device, out);
	wait_for_child(workload);
	if (by_kernel)
		check(!ioctl(device, FKT_STOP), "FKT_STOP");
	check(!ioctl(device, FKT_STATUS, &status), "FKT_STATUS");
	/* The kernel allocates space ahead; devices and sockets cannot be truncated and need not be. */
	if (by_kernel && ftruncate(out, status.bytes_written) && errno != EINVAL)
		die("ftruncate");
	close(out);
	if (copier)
		wait_for_child(copier);
	print_totals(&status);
	if (options.pow)
		check(!ioctl(device, FKT_FREEBUFFER), "FKT_FREEBUFFER");
	return 0;
}

static int parse_record(int argc, char **argv)
{
	int i;

	for (i = 0; i + 1 < argc && !strncmp(argv[i], "--", 2) && argv[i][2]; i += 2) {
		if (!strcmp(argv[i], "--by"))
			options.by = argv[i + 1];
		else if (!strcmp(argv[i], "--pow"))
			options.pow = strtoul(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--mask"))
			options.mask = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--limit"))
			options.limit = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--slow"))
			options.slow_ms = strtol(argv[i + 1], NULL, 0);
		else
			return 2;
	}
	if (i + 2 >= argc || strcmp(argv[i + 1], "--"))
		return 2;
	options.out = argv[i];
	options.command = argv + i + 2;
	return record();
}

/* ---- the small ones ---- */

static int start_only(__u32 abi)
{
	int device = open_device();

	if (start(device, -1, abi, 0))
		puts(strerrorname_np(errno));
	else
		puts("started");
	return 0;
}

static int hold(void)
{
	int device = open_device();

	check(!start(device, -1, FKT_ABI_VERSION, 0), "FKT_START");
	puts("started");
	fflush(stdout);
	pause();
	return 0;
}

/*
 * Records while this process causes nearly all events: how much of the sampled pages does the module
 * attribute to it?
 */
static int own_share(long calls)
{
	static char bytes[1 << 16];
	struct fkt_status s;
	int device = open_device();

	check(!start(device, -1, FKT_ABI_VERSION, 0), "FKT_START");
	while (calls-- > 0)
		getppid();
	check(!ioctl(device, FKT_STOP), "FKT_STOP");
	while (read(device, bytes, sizeof(bytes)) > 0)
		;
	check(!ioctl(device, FKT_STATUS, &s), "FKT_STATUS");
	printf("own %llu of %llu\n", (unsigned long long)s.own_bytes, (unsigned long long)s.sampled_bytes);
	return 0;
}

static int waitready(void)
{
	check(!ioctl(open_device(), FKT_WAITREADY), "FKT_WAITREADY");
	puts("ready");
	return 0;
}

static int print_status(void)
{
	struct fkt_status s;

	check(!ioctl(open_device(), FKT_STATUS, &s), "FKT_STATUS");
	printf("state %u recorder %d mask 0x%llx lost %llu\n", s.state, s.recorder,
	       (unsigned long long)s.mask, (unsigned long long)s.lost);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "record"))
		return parse_record(argc - 2, argv + 2);
	if (!strcmp(what, "check") && argc == 3)
		return check_file(argv[2]);
	if (!strcmp(what, "start"))
		return start_only(argc > 2 ? strtoul(argv[2], NULL, 0) : FKT_ABI_VERSION);
	if (!strcmp(what, "hold"))
		return hold();
	if (!strcmp(what, "own") && argc == 3)
		return own_share(strtol(argv[2], NULL, 0));
	if (!strcmp(what, "waitready"))
		return waitready();
	if (!strcmp(what, "status"))
		return print_status();
	fputs("ring_user: usage: see the head of tests/vm/programs/ring_user.c\n", stderr);
	return 2;
}
