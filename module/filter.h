/* SPDX-License-Identifier: GPL-2.0-only */
/* What the process hooks tell the filter. */
#ifndef FKT_FILTER_H
#define FKT_FILTER_H

#include <linux/types.h>

struct task_struct;

void fkt_filter_fork(const struct task_struct *child);
void fkt_filter_renumber(pid_t old, pid_t new_);
void fkt_filter_free(pid_t tid);
void fkt_filter_exit(void);

#endif /* FKT_FILTER_H */
