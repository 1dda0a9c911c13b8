/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common parts of the programs that test the module's interface: they print one line "ok NAME" or "not
 * NAME: WHY" for each test. They need the module; no other recording may run.
 */
#ifndef RULES_H
#define RULES_H

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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/wire.h>

#define PAGE_BYTES 16384 /* size of a ring page with 8 frames per CPU or more */

static inline void expect(const char *name, bool good, const char *why)
{
	if (good)
		printf("ok %s\n", name);
	else
		printf("not %s: %s\n", name, why);
	fflush(stdout);
}

static inline int open_device(void)
{
	int fd = open(FKT_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		perror(FKT_DEVICE);
		exit(1);
	}
	return fd;
}

/* Starts a recording of system calls. out: file descriptor that the kernel writes pages to, or -1. */
static inline int start_to(int device, int out, __u32 flags)
{
	struct fkt_start s = {
		.abi = FKT_ABI_VERSION, .size = sizeof(s), .out_fd = out, .flags = flags,
		.mask = 1 << FKT_L_SYSTEM, .recording = 0x6c656e64,
	};

	return ioctl(device, FKT_START, &s);
}

static inline int start(int device, __u32 flags)
{
	return start_to(device, -1, flags);
}

static inline void call(unsigned int times)
{
	while (times--)
		syscall(SYS_getppid);
}

static inline struct fkt_status status_of(int device)
{
	struct fkt_status status = { 0 };

	ioctl(device, FKT_STATUS, &status);
	return status;
}

static inline bool header_is_whole(const struct fkt_page_header *h)
{
	return h->magic == FKT_PAGE_MAGIC && h->checksum == fkt_page_checksum(h);
}

/* All h->used bytes of the page must be in memory: they are read to verify the checksum. */
static inline bool page_is_whole(const struct fkt_page_header *h)
{
	return header_is_whole(h) && h->used <= h->page_bytes && h->events_checksum == fkt_events_checksum(h, h + 1);
}

/* Returns whether poll(2) reports within ms that a page can be taken. */
static inline bool readable(int device, int ms)
{
	struct pollfd ready = { .fd = device, .events = POLLIN };

	return poll(&ready, 1, ms) == 1 && ready.revents & POLLIN;
}

#endif /* RULES_H */
