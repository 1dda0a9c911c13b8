/* SPDX-License-Identifier: GPL-2.0-only */
/* Records entries of functions. */
#ifndef FKT_ENTRIES_H
#define FKT_ENTRIES_H

#include <linux/types.h>

struct fkt_call_table;

int fkt_record_entries_arm(struct fkt_call_table *table);
void fkt_record_entries_disarm(struct fkt_call_table *table);
bool fkt_record_entries_end(void);

#endif /* FKT_ENTRIES_H */
