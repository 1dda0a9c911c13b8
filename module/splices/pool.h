/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory for detours: text of this module, so that jumps reach it, and the unwinder finds what is said of it. */
#ifndef FKT_POOL_H
#define FKT_POOL_H

#include <linux/bitmap.h>
#include <linux/types.h>

#include "detour.h"

struct fkt_pool {
	u8 *code;
	unsigned long *used; /* bitmap of `count` */
	unsigned int count, bytes; /* number of detours, size of each */
	unsigned int first_free; /* all numbers below are used */
	unsigned int stacks; /* entries for the unwinder of each */
	unsigned int first_stack; /* in the table of unwind.c */
};

/* In the order of their addresses, one directly behind the other (detour_pool.S). */
#define FKT_POOL_COUNTERS 0
#define FKT_POOL_MARKERS 1
#define FKT_POOLS 2
extern struct fkt_pool fkt_pools[FKT_POOLS];

extern u8 fkt_counter_pool[FKT_COUNTERS][FKT_COUNTER_BYTES];
extern u8 fkt_marker_pool[FKT_MARKERS][FKT_MARKER_BYTES];

static inline u8 *fkt_pool_place(const struct fkt_pool *pool, unsigned int number)
{
	return pool->code + number * pool->bytes;
}

bool fkt_pool_take(struct fkt_pool *pool, unsigned int *number);
void fkt_pool_give(struct fkt_pool *pool, unsigned int number);

#endif /* FKT_POOL_H */
