/* SPDX-License-Identifier: GPL-2.0-only */
/* The instruments of a recording, and their places. */
#ifndef FKT_INSTRUMENT_TABLE_H
#define FKT_INSTRUMENT_TABLE_H

#include <linux/types.h>

#include <fkt/ioctl.h>

#include "given.h"
#include "instrument_slot.h"

struct file;

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
