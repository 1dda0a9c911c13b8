/* SPDX-License-Identifier: GPL-2.0-only */
/* Taking, reading and giving back lent pages, for the test programs. */
#ifndef LEND_H
#define LEND_H

#include <setjmp.h>

#include "rules.h"

#define MAP_BYTES ((size_t)FKT_MAP_PAGES * PAGE_BYTES)
#define ROOM 4096

static inline int move(int device, unsigned long what, __u32 *numbers, __u32 count, struct fkt_lend *lend)
{
	*lend = (struct fkt_lend){ .pages = (unsigned long)numbers, .count = count };
	return ioctl(device, what, lend) ? errno : 0;
}

static __thread sigjmp_buf faulted;

static inline void on_bus(int sig)
{
	siglongjmp(faulted, sig);
}

/* Returns whether reading there raises SIGBUS. */
static inline bool bus_error(const volatile char *at)
{
	if (sigsetjmp(faulted, 1))
		return true;
	(void)*at;
	return false;
}

static inline bool all_pages(const char *map, const __u32 *numbers, __u32 count)
{
	for (__u32 i = 0; i < count; i++) {
		if (!page_is_whole((const void *)(map + (size_t)numbers[i] * PAGE_BYTES)))
			return false;
	}
	return count > 0;
}

/* Takes all available pages, at most ROOM; returns how many. */
static inline __u32 take_all(int device, __u32 *numbers, __u32 *flags)
{
	struct fkt_lend lend;

	if (move(device, FKT_TAKE, numbers, ROOM, &lend))
		return 0;
	*flags = lend.flags;
	return lend.count;
}

static inline __u64 events_of(const char *map, const __u32 *numbers, __u32 count)
{
	__u64 events = 0;

	for (__u32 i = 0; i < count; i++)
		events += ((const struct fkt_page_header *)(map + (size_t)numbers[i] * PAGE_BYTES))->events;
	return events;
}

#endif /* LEND_H */
