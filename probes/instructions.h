/* SPDX-License-Identifier: GPL-2.0-only */
/* Records when instructions are reached. */
#ifndef FKT_PROBES_INSTRUCTIONS_H
#define FKT_PROBES_INSTRUCTIONS_H

#include <linux/types.h>

struct fkt_call_table;

int fkt_record_instructions_begin(struct fkt_call_table *table, u64 *refused);
void fkt_record_instructions_end(void);
void fkt_record_instructions_free(void);

#endif /* FKT_PROBES_INSTRUCTIONS_H */
