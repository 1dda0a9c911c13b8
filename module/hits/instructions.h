/* SPDX-License-Identifier: GPL-2.0-only */
/* Records when instructions are reached. */
#ifndef FKT_INSTRUCTIONS_H
#define FKT_INSTRUCTIONS_H

#include <linux/types.h>

struct fkt_call_table;
struct fkt_instrument_table;

int fkt_record_instructions_arm(const struct fkt_call_table *table, u64 *refused);
void fkt_record_instructions_disarm(const struct fkt_instrument_table *table);
void fkt_record_instructions_end(const struct fkt_instrument_table *table);

#endif /* FKT_INSTRUCTIONS_H */
