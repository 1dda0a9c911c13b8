/* SPDX-License-Identifier: GPL-2.0-only */
/* The condition: the owner is notified when it comes true. */
#ifndef FKT_WHEN_H
#define FKT_WHEN_H

#include <linux/types.h>

struct fkt_fired;
struct fkt_start;
struct fkt_when;
struct task_struct;

struct fkt_when *fkt_when_get(const struct fkt_start *start);
int fkt_when_start(struct fkt_when *condition);
void fkt_when_stop(void);
bool fkt_when_pairs(void);
bool fkt_when_pending(void);
int fkt_when_fired(struct fkt_fired *fired);
bool fkt_when_calls(void);
bool fkt_when_lockups(void);
bool fkt_when_measures(void);
void fkt_when_calls_begin(void);
void fkt_when_forget(pid_t tid);
void fkt_when_renumber(pid_t old, pid_t new_);
void fkt_when_entry(const struct task_struct *task, bool returns);
void fkt_when_exit(const struct task_struct *task, u32 id, long ret);

#endif /* FKT_WHEN_H */
