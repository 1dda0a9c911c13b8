// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the module's interface for owners that fetch pages by read(2) and splice(2); prints one line
 * "ok NAME" or "not NAME: WHY" for each. Needs the module; no other recording may run.
 */
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <pthread.h>

#include "rules.h"

/* The pages fetched, one after the other. */
static char pages[64 * PAGE_BYTES];

/* Returns whether the bytes are whole pages only, in order from the first page of each CPU on. */
static bool all_whole(size_t bytes)
{
	__u64 next_seq[64] = { 0 };

	for (size_t at = 0; at + PAGE_BYTES <= bytes; at += PAGE_BYTES) {
		const struct fkt_page_header *h = (const void *)(pages + at);

		if (!page_is_whole(h) || h->seq != next_seq[h->cpu % 64]++)
			return false;
	}
	return bytes >= PAGE_BYTES;
}

static __u64 events_in(size_t bytes)
{
	__u64 events = 0;

	for (size_t at = 0; at + PAGE_BYTES <= bytes; at += PAGE_BYTES)
		events += ((const struct fkt_page_header *)(pages + at))->events;
	return events;
}

/*
 * Splices at most `bytes` into a pipe, and reads at most `wanted` of them to pages + at; returns how
 * many were read.
 */
static ssize_t splice_some(int device, size_t at, size_t bytes, size_t wanted)
{
	int ends[2];
	ssize_t n;

	if (pipe(ends))
		return -1;
	n = splice(device, NULL, ends[1], NULL, bytes, 0);
	if (n > 0)
		n = read(ends[0], pages + at, wanted);
	close(ends[0]);
	close(ends[1]);
	return n;
}

/* Bytes left in a pipe that is closed, or spliced to a pipe without a reader, must be delivered again. */
static void reader_gone(void)
{
	int device = open_device(), ends[2];
	struct fkt_status status;
	size_t at = 0;
	ssize_t n;

	start(device, 0);
	call(20000);
	ioctl(device, FKT_STOP);
	n = splice_some(device, 0, 40000, 1000);
	expect("reader gone: a part of what is in the pipe", n == 1000, "another size");
	at = n;
	n = splice_some(device, at, 6000, 6000);
	expect("reader gone: a part of a page", n > 0, "nothing");
	at += n;
	if (pipe(ends))
		exit(1);
	close(ends[0]);
	expect("reader gone: EPIPE", splice(device, NULL, ends[1], NULL, 30000, 0) < 0 && errno == EPIPE, "accepted");
	while ((n = splice_some(device, at, sizeof(pages) - at, sizeof(pages) - at)) > 0)
		at += n;
	status = status_of(device);
	expect("reader gone: no hole", all_whole(at), "pages are damaged or missing");
	expect("reader gone: all events", events_in(at) == status.events && !status.discarded, "some are missing");
	expect("reader gone: pages counted once", status.pages_written == at / PAGE_BYTES, "another number");
	close(ends[1]);
	close(device);
}

/* As above, but without another fetch: those bytes were delivered to no reader. */
static void nobody_reads(void)
{
	int device = open_device(), ends[2];
	struct fkt_status stopped, freed;

	start(device, 0);
	call(20000);
	ioctl(device, FKT_STOP);
	stopped = status_of(device);
	if (pipe(ends))
		exit(1);
	close(ends[0]);
	splice(device, NULL, ends[1], NULL, 3 * PAGE_BYTES, 0);
	expect("nobody reads: one page by read", read(device, pages, PAGE_BYTES) == PAGE_BYTES, "another size");
	expect("nobody reads: and a part", read(device, pages + PAGE_BYTES, 100) == 100, "another size");
	ioctl(device, FKT_FREEBUFFER);
	freed = status_of(device);
	printf("nobody reads: events %llu read %llu discarded %llu pages %llu\n", (unsigned long long)stopped.events,
	       (unsigned long long)events_in(PAGE_BYTES), (unsigned long long)freed.discarded,
	       (unsigned long long)freed.pages_written);
	expect("nobody reads: all events are counted", freed.events == stopped.events && freed.events >= 40000,
	       "fewer");
	expect("nobody reads: discarded", freed.discarded == stopped.events - events_in(PAGE_BYTES),
	       "events vanished");
	expect("nobody reads: pages", freed.pages_written == 1, "another number");
	close(ends[1]);
	close(device);
}

/* Two threads read in varying sizes: every byte must come once. */
static void *read_along(void *arg)
{
	static char rest[sizeof(pages)];
	int device = *(int *)arg;
	ssize_t n, *sum = malloc(sizeof(*sum));

	*sum = 0;
	while ((n = read(device, rest, 5000)) > 0)
		*sum += n;
	return sum;
}

static void two_readers(void)
{
	int device = open_device();
	struct fkt_status status;
	size_t at = 0;
	pthread_t other;
	void *sum;
	ssize_t n;

	start(device, 0);
	call(60000);
	ioctl(device, FKT_STOP);
	status = status_of(device);
	pthread_create(&other, NULL, read_along, &device);
	while ((n = read(device, pages, 7000)) > 0)
		at += n;
	pthread_join(other, &sum);
	at += *(ssize_t *)sum;
	free(sum);
	expect("two readers: every byte once", at && at % PAGE_BYTES == 0 &&
	       status_of(device).pages_written == at / PAGE_BYTES, "another number of bytes");
	ioctl(device, FKT_FREEBUFFER);
	expect("two readers: all events", status_of(device).events == status.events && !status_of(device).discarded,
	       "some are missing");
	close(device);
}

/* ---- a page fault that is never served ---- */

static char *silent_page(int *uffd)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register what = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	what.range.start = (unsigned long)page;
	what.range.len = 4096;
	if (*uffd < 0 || ioctl(*uffd, UFFDIO_API, &api) || ioctl(*uffd, UFFDIO_REGISTER, &what))
		return NULL;
	return page;
}

struct reading {
	int device;
	char *to;
	ssize_t n;
};

static void *read_silent(void *arg)
{
	struct reading *reading = arg;

	reading->n = read(reading->device, reading->to, 4096);
	return NULL;
}

static void *stop_and_free(void *arg)
{
	struct reading *reading = arg;

	ioctl(reading->device, FKT_STOP);
	ioctl(reading->device, FKT_FREEBUFFER);
	return NULL;
}

/* Returns whether FKT_STATUS returns in another process. */
static bool another_answers(void)
{
	pid_t child = fork();
	int tries, status;

	if (!child) {
		status_of(open_device());
		_exit(0);
	}
	for (tries = 0; tries < 1000; tries++) {
		if (waitpid(child, &status, WNOHANG) == child)
			return !status;
		usleep(10000);
	}
	return false;
}

/* An owner that reads into memory whose fault is never served must block only itself. */
static void silent_owner(void)
{
	struct reading reading = { .device = open_device() };
	struct uffdio_zeropage zero = { .range.len = 4096 };
	struct uffd_msg fault;
	pthread_t reader, stopper;
	int uffd;

	reading.to = silent_page(&uffd);
	if (!reading.to) {
		printf("ok silent owner: no userfaultfd here\n");
		return;
	}
	start(reading.device, 0);
	call(20000);
	pthread_create(&reader, NULL, read_silent, &reading);
	/* The reader is now in the page fault. */
	expect("silent owner: reads", read(uffd, &fault, sizeof(fault)) == sizeof(fault), "no fault");
	expect("silent owner: a glance at its own device", readable(reading.device, 5000), "not readable");
	pthread_create(&stopper, NULL, stop_and_free, &reading);
	usleep(200000);
	expect("silent owner: others are answered", another_answers(), "they hang");
	zero.range.start = (unsigned long)reading.to;
	ioctl(uffd, UFFDIO_ZEROPAGE, &zero);
	pthread_join(stopper, NULL);
	pthread_join(reader, NULL);
	expect("silent owner: gets its bytes at last", reading.n == 4096 &&
	       header_is_whole((const void *)reading.to), "another size, or damaged");
	close(uffd);
	close(reading.device);
}

/* ---- numbers while recording ---- */

static void *fetch_all(void *arg)
{
	static char bytes[1 << 16];

	while (read(*(int *)arg, bytes, sizeof(bytes)) > 0)
		;
	return NULL;
}

static volatile bool called_enough;

static void *call_on(void *arg)
{
	(void)arg;
	while (!called_enough)
		call(100);
	return NULL;
}

/* While two CPUs record and pages are fetched, the reported number of events must only grow. */
static void figures_grow(void)
{
	int device = open_device(), other = open_device(), back = 0;
	__u64 events, before = 0, first = 0;
	pthread_t fetcher, caller;

	start(device, 0);
	pthread_create(&fetcher, NULL, fetch_all, &device);
	pthread_create(&caller, NULL, call_on, NULL);
	for (int i = 0; i < 20000; i++) {
		events = status_of(other).events;
		back += events < before;
		before = events;
		first = first ? first : events;
	}
	called_enough = true;
	pthread_join(caller, NULL);
	ioctl(device, FKT_STOP);
	pthread_join(fetcher, NULL);
	printf("figures: %llu events, %d times fewer than before\n", (unsigned long long)(before - first), back);
	expect("figures: the number of events only grows", before > first && !back, "it shrank");
	close(other);
	close(device);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	reader_gone();
	nobody_reads();
	two_readers();
	silent_owner();
	figures_grow();
	return 0;
}
