/* SPDX-License-Identifier: GPL-2.0-only */
/* The instruments of a recording, and their places. */
#ifndef FKT_INSTRUMENT_TABLE_H
#define FKT_INSTRUMENT_TABLE_H

#include <linux/percpu.h>
#include <linux/types.h>

#include <fkt/ioctl.h>

#include "given.h"

struct file;
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

/* Hits of one CPU, which alone counts; each with one instruction, so interrupts cannot come between. */
struct fkt_hits {
	u64 of[FKT_FATES];
};

/* An instrument: all its places refer to it. */
struct fkt_instrument_slot {
	struct fkt_hits __percpu *hits;
	u32 action; /* enum fkt_action */
	u32 layer; /* number of its bit in the mask; of FKT_ACTION_START and FKT_ACTION_PRIME: of its own */
	u32 number; /* its index */
	/* FKT_ACTION_SET, FKT_ACTION_CLEAR: FKT_FLAG_OF_TASK may be set; of the others FKT_FLAG_NOT_SELF or 0 */
	u32 flag;
	fkt_handler_fn handle; /* FKT_ACTION_HANDLER; else NULL */
	struct fkt_handler *handler; /* that `handle` is of */
	struct fkt_histogram *histogram; /* FKT_ACTION_HISTOGRAM; else NULL */
	struct fkt_instrument given; /* what it was made from */
};

struct fkt_instrument_table {
	struct fkt_instrument_slot *slots;
	u32 count;
	u32 threads; /* fkt_instruments.threads */
	u32 handed_on; /* instruments whose counts and histograms the next table has: the first ones */
	/* The places: NULL if there are none. */
	struct fkt_call_table *calls, *entries, *instructions;
	struct fkt_point_table *points;
	struct fkt_user_table *users;
};

struct fkt_instrument_table *fkt_instrument_table_get(const struct file *file, u64 at, u32 clock, enum fkt_given by);
int fkt_instrument_table_follows(struct fkt_instrument_table *table, const struct fkt_instrument_table *before);
void fkt_instrument_table_take_results(struct fkt_instrument_table *table, struct fkt_instrument_table *before);
void fkt_instrument_table_free(struct fkt_instrument_table *table);
const struct fkt_histogram *fkt_instrument_table_histogram(const struct fkt_instrument_table *table, u32 number);
int fkt_instrument_table_counts(const struct fkt_instrument_table *table, struct fkt_hit_counts *counts);
bool fkt_instrument_table_leaves_out(const struct fkt_instrument_table *table);
bool fkt_instrument_table_has(const struct fkt_instrument_table *table, enum fkt_action action);
u64 fkt_instrument_table_layers(const struct fkt_instrument_table *table);

#endif /* FKT_INSTRUMENT_TABLE_H */
