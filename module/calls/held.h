/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls that are held until it is known whether a call that contains them is recorded. The lock of calls.c protects
 * fkt_held_begin(), fkt_held_stop() and fkt_held_end_all().
 */
#ifndef FKT_CALLS_HELD_H
#define FKT_CALLS_HELD_H

#include <linux/types.h>

#include "call.h"

struct task_struct;

int fkt_held_begin(const struct fkt_calls_keep *keep, u32 threads);
void fkt_held_stop(void);
void fkt_held_end_all(void);
void fkt_held_pause(void);
void fkt_held_go_on(void);
void fkt_held_end(const struct fkt_call_task *task);
void fkt_held_switch(const struct task_struct *prev, const struct task_struct *next, bool is_in_call);
void fkt_held_newtask(const struct task_struct *task);
u64 fkt_calls_take_held(const struct fkt_call *call, u64 ticks, const struct fkt_call_task *task,
			fkt_take_held_fn take, void *context);

#endif /* FKT_CALLS_HELD_H */
