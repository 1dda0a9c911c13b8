/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions whose calls or entries are recorded, or the instructions, and the programs that decide about each of
 * them.
 */
#ifndef FKT_CALL_TABLE_H
#define FKT_CALL_TABLE_H

#include <linux/types.h>

#include <fkt/call_place.h>

#include "call_slots.h"
#include "given.h"

struct fkt_instrument_slot;
struct fkt_instrument_table;

struct fkt_call_table *fkt_call_table_get(u64 at, enum fkt_call_form form,
					  const struct fkt_instrument_table *instruments, enum fkt_given by);
struct fkt_call_table *fkt_call_table_make(const struct fkt_call_table *before);
bool fkt_call_table_same_keep(const struct fkt_call_table *table, const struct fkt_call_table *before);
bool fkt_call_table_same_probes(const struct fkt_call_table *table, const struct fkt_call_table *before);
int fkt_call_table_add_gone(struct fkt_call_table *table, const struct fkt_call_table *before,
			    const struct fkt_instrument_slot *instruments,
			    const struct fkt_instrument_slot *instruments_before);
void fkt_call_table_clear(struct fkt_call_table *table);
void fkt_call_table_free(struct fkt_call_table *table);

unsigned long fkt_call_body(unsigned long function);

#endif /* FKT_CALL_TABLE_H */
