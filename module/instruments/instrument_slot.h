/* SPDX-License-Identifier: GPL-2.0-only */
/* An instrument in the kernel, its counts of hits, and the table of all of them (instrument_table.h makes it). */
#ifndef FKT_INSTRUMENT_SLOT_H
#define FKT_INSTRUMENT_SLOT_H

#include <linux/percpu.h>
#include <linux/types.h>

#include <fkt/ioctl.h>

struct fkt_call_table;
struct fkt_handler;
struct fkt_histogram;
struct fkt_point_table;
struct fkt_user_table;

/* What becomes of a hit. */
enum fkt_fate {
	FKT_FATE_KEPT = 0,
	FKT_FATE_DROPPED = 1,
	FKT_FATE_MISSED = 2, /* + enum fkt_missed */
	FKT_FATES = FKT_FATE_MISSED + FKT_MISSED_REASONS,
};

/* Counts of one CPU, changed only there, with one instruction each: an interrupt comes before or after it. */
struct fkt_hits {
	u64 of[FKT_FATES];
};

/* An instrument: all its places refer to it. */
struct fkt_instrument_slot {
	struct fkt_hits __percpu *hits;
	u32 action; /* enum fkt_action */
	u32 layer; /* number of its bit in the mask; FKT_ACTION_START, FKT_ACTION_PRIME: a bit of their own */
	u32 number; /* its index */
	/* FKT_ACTION_SET, FKT_ACTION_CLEAR: FKT_FLAG_OF_TASK may be set; of the others FKT_FLAG_NOT_SELF or 0 */
	u32 flag;
	fkt_handler_fn handle; /* FKT_ACTION_HANDLER; else NULL */
	struct fkt_handler *handler; /* reference to the handler of `handle`; else NULL */
	struct fkt_histogram *histogram; /* FKT_ACTION_HISTOGRAM; else NULL */
	struct fkt_instrument given; /* what it was made from */
};

struct fkt_instrument_table {
	struct fkt_instrument_slot *slots;
	u32 count;
	u32 threads; /* fkt_instruments.threads */
	u32 handed_on; /* instruments, the first ones, whose counts and histograms the next table has taken over */
	/* The places: NULL if there are none. */
	struct fkt_call_table *calls, *entries, *instructions;
	struct fkt_point_table *points;
	struct fkt_user_table *users;
};

#endif /* FKT_INSTRUMENT_SLOT_H */
