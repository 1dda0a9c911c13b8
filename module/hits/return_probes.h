/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Return probes of the kernel, for calls of functions that cannot be called through: fprobes where the kernel has them
 * (return_fprobe.c), else kretprobes (return_kretprobe.c).
 */
#ifndef FKT_RETURN_PROBES_H
#define FKT_RETURN_PROBES_H

#include <linux/types.h>

struct fkt_call_table;
struct fkt_instrument_table;

/* Calls of one function that can be in progress: the others are missed. */
#define FKT_RETURN_PROBE_CALLS 64

int fkt_return_probes_begin(const struct fkt_call_table *table, u64 *refused);
bool fkt_return_probes_end(const struct fkt_instrument_table *instruments);

#endif /* FKT_RETURN_PROBES_H */
