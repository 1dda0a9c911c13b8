/* SPDX-License-Identifier: GPL-2.0-only */
/* The instruments of the recording: the table in force, and its exchange. */
#ifndef FKT_INSTRUMENTS_H
#define FKT_INSTRUMENTS_H

#include <linux/rcupdate.h>
#include <linux/types.h>

#include "instrument_table.h"

struct file;
struct fkt_exchange;

extern struct fkt_instrument_table __rcu *fkt_instruments_now;

/*
 * Returns the table in force; NULL: there is none. For probes, with preemption disabled, in any context, also where RCU
 * does not watch: before a table is freed, every CPU has switched tasks (instruments.c). Pairs with the release in
 * put_into_force(); a hit must take it once, so that all of the hit is of one table.
 */
static __always_inline const struct fkt_instrument_table *fkt_instruments(void)
{
	return rcu_dereference_raw(fkt_instruments_now);
}

struct fkt_instrument_table *fkt_instruments_locked(void);
int fkt_instruments_begin(struct fkt_instrument_table *table, u64 *refused);
void fkt_instruments_end(void);
void fkt_instruments_free(void);
int fkt_instruments_exchange(const struct file *file, struct fkt_exchange *exchange, u64 *refused);

#endif /* FKT_INSTRUMENTS_H */
