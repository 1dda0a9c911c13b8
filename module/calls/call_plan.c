// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions whose calls are traced, by kinds of frames (call_plan.h). An ftrace_ops whose trampoline is set before
 * it is registered keeps it: ftrace then patches each function that has no other user to call trampoline.S directly.
 * Where a function has other users, ftrace calls share(), which makes it go on to trampoline.S.
 */

#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/percpu.h>

#include "arch/arch.h"
#include "base/compat.h"
#include "call.h"
#include "call_plan.h"
#include "traceable.h"
#include "traced.h"
#include "trampoline.h"

/* As in struct fkt_calls_totals, since the module was loaded. */
DEFINE_PER_CPU(u64, fkt_plan_taken);
DEFINE_PER_CPU(u64, fkt_plan_shared);

/* By kind of frame; NULL: no functions. */
static struct ftrace_ops *traced[FKT_CALLS_FRAMES];

#define CODE(SUFFIX) { fkt_calls_enter##SUFFIX, fkt_calls_share##SUFFIX, fkt_calls_return##SUFFIX }

static const struct {
	void (*enter)(void);
	void (*share)(void);
	void (*back)(void);
} code[FKT_CALLS_FRAMES] = {
	[FKT_CALLS_PLAIN] = CODE(),
	[FKT_CALLS_FEW] = CODE(_few),
	[FKT_CALLS_SOME] = CODE(_some),
	[FKT_CALLS_MANY] = CODE(_many),
	[FKT_CALLS_BRIEF] = CODE(_brief),
	[FKT_CALLS_TASK] = CODE(_task),
	[FKT_CALLS_HELD] = CODE(_held),
	[FKT_CALLS_HELD_BRIEF] = CODE(_held_brief),
	[FKT_CALLS_TASK_FEW] = CODE(_task_few),
	[FKT_CALLS_TASK_SOME] = CODE(_task_some),
	[FKT_CALLS_TASK_MANY] = CODE(_task_many),
	[FKT_CALLS_ARGUMENTS] = CODE(_arguments),
};

/* Returns whether a traced function returns to this address. */
bool fkt_plan_returns(unsigned long address)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(code); i++)
		if (address == (unsigned long)code[i].back)
			return true;
	return false;
}

/*
 * Called by ftrace, in any context, for a function that has other ftrace_ops too. If one of them sets a direct call,
 * now or later in the same call of ftrace, it must not be replaced: a BPF program would not run. The same holds for
 * a function that a live patch has replaced.
 */
static void share(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *regs)
{
	if (fkt_functions_direct(ip) || fkt_ip(ftrace_get_regs(regs)) != ip + FKT_CALLS_NOP_BYTES) {
		this_cpu_inc(fkt_plan_taken);
		return;
	}
	this_cpu_inc(fkt_plan_shared);
	fkt_ftrace_go_to(regs, (unsigned long)op->private);
}

/* No function may be traced. */
void fkt_plan_free(void)
{
	unsigned int frame;

	for (frame = 0; frame < ARRAY_SIZE(traced); frame++) {
		if (traced[frame])
			fkt_traced_free(traced[frame]);
		traced[frame] = NULL;
	}
}

/* Makes the ftrace_ops of a kind of frame, or returns an ERR_PTR (traced.h). */
static struct ftrace_ops *make_frame(unsigned int frame, unsigned long *functions, unsigned int count)
{
	/* share() changes a register. */
	const struct ftrace_ops like = {
		.func = share, .flags = FTRACE_OPS_FL_SAVE_REGS, .trampoline = (unsigned long)code[frame].enter,
		.private = code[frame].share,
	};

	return fkt_traced_make(functions, count, &like);
}

/* Makes what traces the plan's functions (call.h). After an error the caller must call fkt_plan_free(). */
int fkt_plan_make(const struct fkt_calls_plan *plan)
{
	struct ftrace_ops *ops;
	unsigned int frame;
	int err = -ENOENT;

	for (frame = 0; frame < ARRAY_SIZE(traced); frame++) {
		if (!plan->frames[frame].count)
			continue;
		ops = make_frame(frame, plan->frames[frame].functions, plan->frames[frame].count);
		if (ops == ERR_PTR(-ENOENT))
			continue;
		if (IS_ERR(ops))
			return PTR_ERR(ops);
		traced[frame] = ops;
		err = 0;
	}
	return err;
}

/* Returns when no CPU is between a function's patched nop and trampoline.S any more. */
void fkt_plan_unregister(void)
{
	unsigned int frame;

	for (frame = 0; frame < ARRAY_SIZE(traced); frame++)
		if (traced[frame])
			fkt_traced_unregister(traced[frame]);
}

/* -ENODEV: ftrace is off. After an error no function is traced. */
int fkt_plan_register(void)
{
	unsigned int frame;
	int err = 0;

	for (frame = 0; !err && frame < ARRAY_SIZE(traced); frame++)
		if (traced[frame])
			err = fkt_traced_register(traced[frame]);
	if (err)
		fkt_plan_unregister();
	return err;
}

/* Traces these functions too, in this kind of frame. Returns their number, or a negative errno. */
static int arm_frame(unsigned int frame, unsigned long *functions, unsigned int count)
{
	int allowed = fkt_functions_allow(functions, count, true), err;
	struct ftrace_ops *ops = traced[frame];

	if (allowed <= 0)
		return allowed;
	if (ops && fkt_traced_is_registered(ops)) {
		err = fkt_traced_add(ops, functions, allowed);
		return err ?: allowed;
	}
	/* Not registered: all its functions were in modules that are gone. */
	if (ops)
		fkt_traced_free(ops);
	traced[frame] = NULL;
	ops = make_frame(frame, functions, allowed);
	if (IS_ERR(ops))
		return PTR_ERR(ops);
	err = fkt_traced_register(ops);
	if (err)
		fkt_traced_free(ops);
	else
		traced[frame] = ops;
	return err ?: allowed;
}

/*
 * Traces the functions of this plan, too. Returns 0, -ENOENT if none of them may be traced, or another negative errno.
 * A function that is in two kinds of frames now is called through that for which ftrace calls share() last.
 */
int fkt_plan_arm(const struct fkt_calls_plan *plan)
{
	unsigned int frame, wanted = 0;
	int armed = 0;

	for (frame = 0; frame < ARRAY_SIZE(traced); frame++) {
		int n = arm_frame(frame, plan->frames[frame].functions, plan->frames[frame].count);

		if (n < 0)
			return n;
		wanted += plan->frames[frame].count;
		armed += n;
	}
	return wanted && !armed ? -ENOENT : 0;
}

/* Traces only the functions of this plan, which was armed or made. */
void fkt_plan_disarm(const struct fkt_calls_plan *plan)
{
	unsigned int frame;

	for (frame = 0; frame < ARRAY_SIZE(traced); frame++) {
		unsigned long *functions = plan->frames[frame].functions;

		if (!traced[frame] || fkt_traced_keep(traced[frame], functions,
						      fkt_functions_known(functions, plan->frames[frame].count)))
			continue;
		fkt_traced_free(traced[frame]);
		traced[frame] = NULL;
	}
}

/* As fkt_traced_drop(), of all functions. */
void fkt_plan_drop(const struct module *module)
{
	unsigned int frame;

	for (frame = 0; frame < ARRAY_SIZE(traced); frame++)
		if (traced[frame])
			fkt_traced_drop(traced[frame], module);
}
