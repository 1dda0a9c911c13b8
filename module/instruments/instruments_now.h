/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of instruments that is in force, as probes take it (instruments.h exchanges it). */
#ifndef FKT_INSTRUMENTS_NOW_H
#define FKT_INSTRUMENTS_NOW_H

#include <linux/rcupdate.h>

#include "instrument_slot.h"

extern struct fkt_instrument_table __rcu *fkt_instruments_now;

/*
 * Returns the table in force; NULL: there is none. For probes, with preemption disabled, in any context, also where RCU
 * does not watch: before a table is freed, every CPU has switched tasks (instruments.c). Pairs with the release in
 * put_into_force(). A probe must call this once for a hit, so that it uses one table throughout.
 */
static __always_inline const struct fkt_instrument_table *fkt_instruments(void)
{
	return rcu_dereference_raw(fkt_instruments_now);
}

#endif /* FKT_INSTRUMENTS_NOW_H */
