/* SPDX-License-Identifier: GPL-2.0-only */
/* Records entries of functions. */
#ifndef FKT_PROBES_ENTRIES_H
#define FKT_PROBES_ENTRIES_H

struct fkt_call_table;

int fkt_record_entries_begin(struct fkt_call_table *table);
void fkt_record_entries_end(void);
void fkt_record_entries_free(void);

#endif /* FKT_PROBES_ENTRIES_H */
