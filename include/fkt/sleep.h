/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How a recording's clock continues after the machine slept. Compiled by the module and the unit tests. */
#ifndef FKT_SLEEP_H
#define FKT_SLEEP_H

#include <linux/types.h>

/*
 * Returns the ticks to add to a counter so that it continues as if it had counted during the sleep.
 * before, now: its values before and after the sleep; slept: the time between them; slack: the error of
 * that time (all ticks). Returns 0 if the counter did count. Otherwise it stood still or restarted,
 * possibly above its old value.
 */
static inline __u64 fkt_sleep_offset(__u64 before, __u64 slept, __u64 now, __u64 slack)
{
	const __s64 missing = (__s64)(before + slept - now);

	if ((__s64)(now - before) >= 0 && missing <= (__s64)slack && missing >= -(__s64)slack)
		return 0;
	return (__u64)missing;
}

#endif /* FKT_SLEEP_H */
