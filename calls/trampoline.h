/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by trampoline.S, and the C code that it calls and that uses its addresses. */
#ifndef FKT_CALLS_TRAMPOLINE_H
#define FKT_CALLS_TRAMPOLINE_H

#include <linux/percpu.h>

#include "call.h"

/* In trampoline.S: where a traced function goes first, and what it returns to. C code only uses their addresses. */
void fkt_calls_enter(void);
void fkt_calls_return(void);
void fkt_calls_enter_few(void);
void fkt_calls_return_few(void);
void fkt_calls_enter_some(void);
void fkt_calls_return_some(void);
void fkt_calls_enter_many(void);
void fkt_calls_return_many(void);
void fkt_calls_enter_brief(void);
void fkt_calls_return_brief(void);
void fkt_calls_enter_task(void);
void fkt_calls_return_task(void);
void fkt_calls_enter_held(void);
void fkt_calls_return_held(void);
void fkt_calls_enter_held_brief(void);
void fkt_calls_return_held_brief(void);
void fkt_calls_enter_task_many(void);
void fkt_calls_return_task_many(void);
void fkt_calls_enter_arguments(void);
void fkt_calls_return_arguments(void);

/* Called by trampoline.S in any context, NMI included: fkt_call_fn and the others of call.h. */
bool fkt_calls_entered(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room);
void fkt_calls_returned_kept(const struct fkt_call *call, u64 ticks, unsigned long body, const u64 *kept);
void fkt_calls_returned_task(const struct fkt_call *call, u64 ticks, unsigned long body, const u64 *kept,
			     const struct fkt_call_task *task);
/* The call has a struct fkt_call_task behind it (fkt_call_task_behind()). */
void fkt_calls_returned_held(const struct fkt_call *call, u64 ticks, unsigned long body);
void fkt_calls_hold(const struct fkt_call *call, u64 ticks, unsigned long body);

/* Of the task that runs on the CPU (tasks.c). */
DECLARE_PER_CPU(u64, fkt_calls_off);
DECLARE_PER_CPU(u64, fkt_calls_depth);

#endif /* FKT_CALLS_TRAMPOLINE_H */
