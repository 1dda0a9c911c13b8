/* SPDX-License-Identifier: GPL-2.0-only */
/* The instruments of the recording: the table in force, and its exchange. */
#ifndef FKT_INSTRUMENTS_H
#define FKT_INSTRUMENTS_H

#include <linux/types.h>

#include "instrument_table.h"

struct file;
struct fkt_exchange;

int fkt_instruments_begin(struct fkt_instrument_table *table, u64 *refused);
void fkt_instruments_end(void);
void fkt_instruments_free(void);
int fkt_instruments_exchange(const struct file *file, struct fkt_exchange *exchange, u64 *refused);

#endif /* FKT_INSTRUMENTS_H */
