/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Watches switches of tasks and new tasks, for what is counted and held for each task. The lock of calls.c protects
 * fkt_switches_begin() and fkt_switches_end().
 */
#ifndef FKT_CALLS_SWITCHES_H
#define FKT_CALLS_SWITCHES_H

#include <linux/types.h>

struct tracepoint;

void fkt_switches_match(struct tracepoint *tracepoint);
int fkt_switches_begin(u32 threads);
void fkt_switches_end(void);

#endif /* FKT_CALLS_SWITCHES_H */
