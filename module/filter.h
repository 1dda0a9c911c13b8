/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls from the process hooks to the filter. */
#ifndef FKT_FILTER_H
#define FKT_FILTER_H

#include <linux/types.h>

struct task_struct;

bool fkt_filter_exec(void);
bool fkt_filter_leaves(void);
void fkt_filter_leave(void);
void fkt_filter_fork(const struct task_struct *child);
void fkt_filter_renumber(pid_t old, pid_t new_);
void fkt_filter_free(pid_t tid);
void fkt_filter_exit(void);

#endif /* FKT_FILTER_H */
