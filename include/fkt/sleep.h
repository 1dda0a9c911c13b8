/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How a recording's clock goes on after the machine slept. The module and the unit tests compile this. */
#ifndef FKT_SLEEP_H
#define FKT_SLEEP_H

#include <linux/types.h>

/*
 * What must be added to a counter so that it goes on as if it had counted the sleep. before, now: what it
 * said then and says now; slept: the time between; slack: how far that may be wrong (all ticks).
 * 0: it has counted. Otherwise it stood still, or began anew, maybe above what it said before.
 */
static inline __u64 fkt_sleep_offset(__u64 before, __u64 slept, __u64 now, __u64 slack)
{
	const __s64 missing = (__s64)(before + slept - now);

	if ((__s64)(now - before) >= 0 && missing <= (__s64)slack && missing >= -(__s64)slack)
		return 0;
	return (__u64)missing;
}

#endif /* FKT_SLEEP_H */
