/* SPDX-License-Identifier: GPL-2.0-only */
/* Selects whose events are recorded. */
#ifndef FKT_FILTER_H
#define FKT_FILTER_H

#include <linux/types.h>

#include <fkt/ioctl.h>

struct file;
struct task_struct;

int fkt_filter_start(const struct file *owner, enum fkt_filter filter, pid_t pid);
int fkt_filter_adopt(void);
void fkt_filter_stop(void);
int fkt_filter_join(void);
void fkt_filter_own(const struct task_struct *task);

/* Called from the process hooks. */
bool fkt_filter_exec(void);
bool fkt_filter_leaves(void);
void fkt_filter_leave(void);
void fkt_filter_fork(const struct task_struct *child);
void fkt_filter_renumber(pid_t old, pid_t new_);
void fkt_filter_free(pid_t tid);
void fkt_filter_exit(void);

#endif /* FKT_FILTER_H */
