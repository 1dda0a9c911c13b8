/* SPDX-License-Identifier: GPL-2.0-only */
/* The instruments of the recording: the table in force, and its exchange. */
#ifndef FKT_INSTRUMENTS_H
#define FKT_INSTRUMENTS_H

#include <linux/types.h>

#include "instruments/instrument_table.h"

struct file;
struct fkt_exchange;
struct fkt_recording;

int fkt_instruments_begin(struct fkt_recording *rec, struct fkt_instrument_table *table, u64 *refused);
void fkt_instruments_end(struct fkt_recording *rec);
void fkt_instruments_free(struct fkt_recording *rec);
void fkt_instruments_disarm_users(struct fkt_recording *rec);
int fkt_instruments_exchange(struct fkt_recording *rec, const struct file *file, struct fkt_exchange *exchange,
			     u64 *refused);

#endif /* FKT_INSTRUMENTS_H */
