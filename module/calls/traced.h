/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An ftrace_ops and the functions that it traces. Functions of a module that is unloaded are
 * removed from it: ftrace itself keeps their addresses, and would trace, without a check, what is loaded there next.
 * Callers serialise all calls.
 */
#ifndef FKT_CALLS_TRACED_H
#define FKT_CALLS_TRACED_H

#include <linux/ftrace.h>

struct module;

struct ftrace_ops *fkt_traced_make(unsigned long *functions, unsigned int count, const struct ftrace_ops *like);
int fkt_traced_register(struct ftrace_ops *ops);
bool fkt_traced_unregister(struct ftrace_ops *ops);
bool fkt_traced_is_registered(struct ftrace_ops *ops);
int fkt_traced_add(struct ftrace_ops *ops, const unsigned long *nops, unsigned int count);
bool fkt_traced_keep(struct ftrace_ops *ops, const unsigned long *nops, unsigned int count);
void fkt_traced_drop(struct ftrace_ops *ops, const struct module *module);
void fkt_traced_free(struct ftrace_ops *ops);

#endif /* FKT_CALLS_TRACED_H */
