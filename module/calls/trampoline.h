/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by trampoline.S, and the C code that it calls and that uses its addresses. */
#ifndef FKT_CALLS_TRAMPOLINE_H
#define FKT_CALLS_TRAMPOLINE_H

#include <linux/percpu.h>

#include "call.h"

/*
 * The code of a kind of frame in trampoline.S, whose addresses alone C code uses: where a traced function goes first;
 * where it does that has other users of ftrace, too; what it returns to. SUFFIX: of the kind's names.
 */
#define FKT_CALLS_CODE(SUFFIX)            \
	void fkt_calls_enter##SUFFIX(void); \
	void fkt_calls_share##SUFFIX(void); \
	void fkt_calls_return##SUFFIX(void)

FKT_CALLS_CODE();
FKT_CALLS_CODE(_few);
FKT_CALLS_CODE(_some);
FKT_CALLS_CODE(_many);
FKT_CALLS_CODE(_brief);
FKT_CALLS_CODE(_task);
FKT_CALLS_CODE(_held);
FKT_CALLS_CODE(_held_brief);
FKT_CALLS_CODE(_task_few);
FKT_CALLS_CODE(_task_some);
FKT_CALLS_CODE(_task_many);
FKT_CALLS_CODE(_arguments);

/* Called by trampoline.S in any context, NMI included: fkt_call_fn and the others of call.h. */
bool fkt_calls_has_room(unsigned long body);
bool fkt_calls_entered(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room);
void fkt_calls_returned_kept(const struct fkt_call *call, u64 ticks, const unsigned long *body, const u64 *kept);
void fkt_calls_returned_task(const struct fkt_call *call, u64 ticks, const unsigned long *body, const u64 *kept,
			     const struct fkt_call_task *task);
/* The call has a struct fkt_call_task behind it (fkt_call_task_behind()). */
void fkt_calls_returned_held(const struct fkt_call *call, u64 ticks, const unsigned long *body);
void fkt_calls_hold(const struct fkt_call *call, u64 ticks, unsigned long body);

/* Of the task that runs on the CPU (tasks.c). */
DECLARE_PER_CPU(u64, fkt_calls_off);
DECLARE_PER_CPU(u64, fkt_calls_depth);

#endif /* FKT_CALLS_TRAMPOLINE_H */
