// SPDX-License-Identifier: GPL-2.0-only
/* Which detours are used (pool.h). All is protected by fkt_sites_lock. */

#include <linux/bitmap.h>
#include <linux/minmax.h>

#include "pool.h"

static DECLARE_BITMAP(used_counters, FKT_COUNTERS);
static DECLARE_BITMAP(used_markers, FKT_MARKERS);

struct fkt_pool fkt_pools[FKT_POOLS] = {
	[FKT_POOL_COUNTERS] = {
		.code = fkt_counter_pool[0], .used = used_counters, .count = FKT_COUNTERS,
		.bytes = FKT_COUNTER_BYTES, .stacks = FKT_COUNTER_STACKS,
	},
	[FKT_POOL_MARKERS] = {
		.code = fkt_marker_pool[0], .used = used_markers, .count = FKT_MARKERS,
		.bytes = FKT_MARKER_BYTES, .stacks = FKT_MARKER_STACKS,
	},
};

/* Sets *number to that of a detour that is free. Returns whether there is one. */
bool fkt_pool_take(struct fkt_pool *pool, unsigned int *number)
{
	*number = find_next_zero_bit(pool->used, pool->count, pool->first_free);
	pool->first_free = *number;
	if (*number == pool->count)
		return false;
	__set_bit(*number, pool->used);
	return true;
}

void fkt_pool_give(struct fkt_pool *pool, unsigned int number)
{
	__clear_bit(number, pool->used);
	pool->first_free = min(pool->first_free, number);
}
