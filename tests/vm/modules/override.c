// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overrides the result of a function that fkt_calls traces, as BPF and fault injection do, for tests/vm/cases/own_code:
 * another user of ftrace sets the result and lets the function return at once. At a write to the parameter `run` the
 * function is called with and without it; /sys/module/override/parameters/counts has the calls recorded and the wrong
 * results.
 *
 *   insmod override.ko frame=3; echo 1 >/sys/module/override/parameters/run
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ftrace.h>
#include <linux/module.h>
#include <asm/ibt.h>

#include "../../../module/calls/calls.h"
#include "../../../module/base/compat.h"

#define CALLS 100
#define OVERRIDDEN 0x123456789abcdefUL

static unsigned int frame; /* kind of frame (module/calls/frames.h) */
module_param(frame, uint, 0444);

static unsigned int traced, wrong;

/* In trampoline.S's place: the body of an overridden function. */
void override_return(void);
asm(".pushsection .text\n"
    ".type override_return, @function\n"
    "override_return:\n\t"
    ASM_ENDBR
    ASM_RET
    ".size override_return, . - override_return\n"
    ".popsection\n");

static noinline unsigned long victim(unsigned long a, unsigned long b, unsigned long c)
{
	barrier();
	return a + 2 * b + 3 * c;
}

static void notrace override(unsigned long ip, unsigned long caller, struct ftrace_ops *unused,
			     struct ftrace_regs *ftrace_regs)
{
	struct pt_regs *regs = ftrace_get_regs(ftrace_regs);

	regs->ax = OVERRIDDEN;
	regs->ip = (unsigned long)override_return;
}

static struct ftrace_ops ops = { .func = override, .flags = FTRACE_OPS_FL_SAVE_REGS };

/* ---- what fkt_calls calls ---- */

static void notrace count(u64 unused, u64 ticks, u64 now)
{
	traced++;
}

static bool notrace ask(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room)
{
	memset64(kept, arguments[0], room);
	return true;
}

static void notrace count_kept(const struct fkt_call *call, u64 ticks, const unsigned long *body, const u64 *kept,
			       const struct fkt_call_task *task)
{
	traced++;
}

static enum fkt_call_held notrace count_held(const struct fkt_call *call, u64 ticks, const unsigned long *body,
					     const struct fkt_call_task *task)
{
	traced++;
	return FKT_CALL_DONE;
}

static int begin(void)
{
	unsigned long functions[] = { (unsigned long)victim };
	struct fkt_calls_plan plan = {
		.record = count, .record_arguments = count, .ask = ask, .record_kept = count_kept,
		.record_held = count_held, .threads = 1 << 16,
	};
	unsigned int i;

	for (i = 0; i < FKT_CALLS_FRAMES; i++)
		plan.frames[i].shortest = U64_MAX;
	plan.frames[frame].functions = functions;
	plan.frames[frame].count = 1;
	plan.frames[frame].shortest = 0;
	return fkt_calls_begin(&plan);
}

static void call_all(bool is_overridden)
{
	unsigned long i;

	for (i = 0; i < CALLS; i++)
		wrong += victim(i, i, i) != (is_overridden ? OVERRIDDEN : 6 * i);
}

/* ftrace calls the users of a function from the last registered one to the first: fkt_calls before this one. */
static int set_run(const char *text, const struct kernel_param *unused)
{
	int err = ftrace_set_filter_ip(&ops, (unsigned long)victim, 0, 1);

	err = err ?: register_ftrace_function(&ops);
	if (err)
		return err;
	err = begin();
	if (!err)
		call_all(true);
	unregister_ftrace_function(&ops);
	if (err)
		return err;
	call_all(false);
	fkt_calls_end();
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = set_run };
module_param_cb(run, &run_ops, NULL, 0200);

static int get_counts(char *buffer, const struct kernel_param *unused)
{
	return scnprintf(buffer, PAGE_SIZE, "%u %u\n", traced, wrong);
}

static const struct kernel_param_ops counts_ops = { .get = get_counts };
module_param_cb(counts, &counts_ops, NULL, 0444);

static int __init override_init(void)
{
	return frame < FKT_CALLS_FRAMES ? 0 : -EINVAL;
}

static void __exit override_exit(void)
{
}

module_init(override_init);
module_exit(override_exit);

MODULE_DESCRIPTION("Overrides the result of a function");
MODULE_LICENSE("GPL");
