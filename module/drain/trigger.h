/* SPDX-License-Identifier: GPL-2.0-only */
/* The trigger: the owner is told when it comes true. */
#ifndef FKT_TRIGGER_H
#define FKT_TRIGGER_H

#include <linux/types.h>

#include "instruments/trigger_event.h"

struct fkt_fired;
struct fkt_start;
struct fkt_trigger_plan;
struct task_struct;

struct fkt_trigger_plan *fkt_trigger_get(const struct fkt_start *start);
int fkt_trigger_start(struct fkt_trigger_plan *plan);
void fkt_trigger_stop(void);
bool fkt_trigger_pairs(void);
bool fkt_trigger_pending(void);
void fkt_trigger_hit(u32 instrument);
int fkt_trigger_fired(struct fkt_fired *fired);
bool fkt_trigger_calls(void);
bool fkt_trigger_lockups(void);
bool fkt_trigger_measures(void);
void fkt_trigger_calls_begin(void);
void fkt_trigger_forget(pid_t tid);
void fkt_trigger_renumber(pid_t old, pid_t new_);
void fkt_trigger_entry(const struct task_struct *task, bool returns);
void fkt_trigger_exit(const struct task_struct *task, u32 id, long ret);

#endif /* FKT_TRIGGER_H */
