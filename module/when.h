/* SPDX-License-Identifier: GPL-2.0-only */
/* The condition: the owner is notified when it comes true. */
#ifndef FKT_WHEN_H
#define FKT_WHEN_H

#include <linux/jump_label.h>
#include <linux/types.h>

struct fkt_fired;
struct fkt_start;
struct fkt_when;
struct task_struct;

/* A condition is evaluated for events that are not system calls. */
DECLARE_STATIC_KEY_FALSE(fkt_key_when_events);

struct fkt_when *fkt_when_get(const struct fkt_start *start);
int fkt_when_start(struct fkt_when *condition);
void fkt_when_stop(void);
bool fkt_when_pairs(void);
bool fkt_when_pending(void);
void fkt_when_event(u32 id);
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
