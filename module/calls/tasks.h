/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts what struct fkt_call_task has. The lock of calls.c protects fkt_tasks_begin() and fkt_tasks_end().
 */
#ifndef FKT_CALLS_TASKS_H
#define FKT_CALLS_TASKS_H

#include <linux/types.h>

struct task_struct;
struct fkt_call_task;

extern u64 fkt_tasks_mark;

int fkt_tasks_begin(u32 threads);
void fkt_tasks_end(void);
bool fkt_tasks_switch(const struct task_struct *prev, const struct task_struct *next);
void fkt_tasks_newtask(const struct task_struct *task);
const struct fkt_call_task *fkt_tasks_known(const struct fkt_call_task *task);

#endif /* FKT_CALLS_TASKS_H */
