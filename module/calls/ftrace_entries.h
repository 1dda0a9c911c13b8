/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces entries of kernel functions, by ftrace itself. For one user at a time. */
#ifndef FKT_CALLS_FTRACE_ENTRIES_H
#define FKT_CALLS_FTRACE_ENTRIES_H

#include <linux/ftrace.h>

struct module;

int fkt_entries_begin(unsigned long *functions, unsigned int count, ftrace_func_t entered);
int fkt_entries_arm(unsigned long *functions, unsigned int count, ftrace_func_t entered);
void fkt_entries_disarm(unsigned long *functions, unsigned int count);
bool fkt_entries_end(void);
void fkt_entries_drop(const struct module *module);

#endif /* FKT_CALLS_FTRACE_ENTRIES_H */
