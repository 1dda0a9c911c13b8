// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces functions that call themselves, for tests/vm/cases/deep_stack, in a kind of frame (module/calls/frames.h) that
 * is given. Writing to the parameter `run` calls them in a task, a softirq, a hard interrupt and an NMI. The parameter
 * `counts` then shows a line for each of them, "WHERE CALLS TRACED MISSED WRONG": how often the functions were called,
 * how many of these calls were recorded, how many missed because the stack was nearly used up, and how many results
 * were wrong.
 *
 *   insmod deep.ko frame=3 levels=60 share=85; echo 1 >/sys/module/deep/parameters/run
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bottom_half.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched/task_stack.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#include "../../../module/calls/calls.h"

static unsigned int frame;
module_param(frame, uint, 0444);
static unsigned int levels = 60; /* that it calls itself, with 64 bytes of its own */
module_param(levels, uint, 0444);
/*
 * Percent of each stack that the function with nothing of its own would use up, if every frame fitted; 0: it is not
 * called.
 */
static unsigned int share;
module_param(share, uint, 0444);

enum where { IN_TASK, IN_SOFTIRQ, IN_IRQ, IN_NMI, WHERES };
static const char *const names[] = { "task", "softirq", "irq", "nmi" };
static struct {
	u64 calls, traced, missed, wrong;
} counts[WHERES];

static enum where notrace where(void)
{
	if (in_nmi())
		return IN_NMI;
	if (in_hardirq())
		return IN_IRQ;
	return in_serving_softirq() ? IN_SOFTIRQ : IN_TASK;
}

/* ---- the functions; they are called by one CPU at a time ---- */

static noinline u64 descend(unsigned int more)
{
	u64 own[8];

	own[more % ARRAY_SIZE(own)] = more;
	barrier_data(own);
	return more ? descend(more - 1) + own[more % ARRAY_SIZE(own)] : 0;
}

static unsigned long lowest;

static noinline u64 descend_barely(unsigned int more)
{
	u64 sum = 0;

	lowest = current_stack_pointer;
	if (more)
		sum = descend_barely(more - 1);
	/* So that the compiler makes no loop of it. */
	OPTIMIZER_HIDE_VAR(sum);
	return sum + more;
}

static u64 notrace sum_to(u64 n)
{
	return n * (n + 1) / 2;
}

static void notrace run(unsigned int more)
{
	const enum where here = where();

	counts[here].calls += more + 1;
	counts[here].wrong += descend(more) != sum_to(more);
}

/* Levels of which the cost is measured: few, so that their frames fit on every stack. */
#define FIRST_LEVELS 5

/* left: of the stack. Interrupts, which would need much more of it, stay out. */
static void notrace run_barely(unsigned long left)
{
	const enum where here = where();
	unsigned long flags;
	unsigned int more;

	if (!share)
		return;
	local_irq_save(flags);
	descend_barely(FIRST_LEVELS);
	more = left * share / 100 * (FIRST_LEVELS + 1) / (current_stack_pointer - lowest);
	counts[here].calls += FIRST_LEVELS + 1 + more + 1;
	counts[here].wrong += descend_barely(more) != sum_to(more);
	local_irq_restore(flags);
}

/* What is left of a stack of so many bytes, if it was switched to just now. */
static unsigned long notrace left_of(unsigned long bytes)
{
	return bytes - (PAGE_ALIGN(current_stack_pointer) - current_stack_pointer);
}

static void on_softirq(struct tasklet_struct *unused)
{
	run(levels);
	run_barely(left_of(IRQ_STACK_SIZE));
}

static void on_irq(struct irq_work *unused)
{
	run(levels);
	run_barely(left_of(IRQ_STACK_SIZE));
}

static bool is_nmi_sent;

/* An NMI's stack is half as large, and NMIs are not that deep. */
static int on_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!is_nmi_sent)
		return NMI_DONE;
	is_nmi_sent = false;
	run(levels / 3);
	run_barely(left_of(EXCEPTION_STKSZ));
	return NMI_HANDLED;
}

static DECLARE_TASKLET(tasklet, on_softirq);
static struct irq_work work = IRQ_WORK_INIT_HARD(on_irq);

static void run_all(void)
{
	run(levels);
	run_barely(current_stack_pointer - (unsigned long)task_stack_page(current));
	/* When bottom halves are enabled again the softirq runs on its own stack. */
	local_bh_disable();
	tasklet_schedule(&tasklet);
	local_bh_enable();
	tasklet_kill(&tasklet);
	irq_work_queue(&work);
	irq_work_sync(&work);
	is_nmi_sent = true;
	apic->send_IPI_self(NMI_VECTOR);
	while (READ_ONCE(is_nmi_sent))
		cpu_relax();
}

/* ---- what fkt_calls calls ---- */

static void notrace count(u64 unused, u64 ticks, u64 now)
{
	counts[where()].traced++;
}

static void notrace count_arguments(u64 unused, u64 ticks, u64 now)
{
	counts[where()].traced++;
}

static bool notrace ask(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room)
{
	memset64(kept, arguments[0], room);
	return true;
}

static void notrace count_kept(const struct fkt_call *call, u64 ticks, const unsigned long *body, const u64 *kept,
			       const struct fkt_call_task *task)
{
	counts[where()].traced++;
}

static enum fkt_call_held notrace count_held(const struct fkt_call *call, u64 ticks, const unsigned long *body,
					     const struct fkt_call_task *task)
{
	counts[where()].traced++;
	return FKT_CALL_DONE;
}

static void notrace count_missed(unsigned long body)
{
	counts[where()].missed++;
}

static int get_counts(char *buffer, const struct kernel_param *unused)
{
	int i, n = 0;

	for (i = 0; i < WHERES; i++)
		n += scnprintf(buffer + n, PAGE_SIZE - n, "%s %llu %llu %llu %llu\n", names[i], counts[i].calls,
			       counts[i].traced, counts[i].missed, counts[i].wrong);
	return n;
}

static const struct kernel_param_ops counts_ops = { .get = get_counts };
module_param_cb(counts, &counts_ops, NULL, 0444);

static int begin(void)
{
	unsigned long functions[] = { (unsigned long)descend, (unsigned long)descend_barely };
	struct fkt_calls_plan plan = {
		.record = count, .record_arguments = count_arguments, .ask = ask, .record_kept = count_kept,
		.record_held = count_held, .no_room = count_missed, .threads = 1 << 16,
	};
	unsigned int i;

	for (i = 0; i < FKT_CALLS_FRAMES; i++)
		plan.frames[i].shortest = U64_MAX;
	plan.frames[frame].functions = functions;
	plan.frames[frame].count = ARRAY_SIZE(functions);
	plan.frames[frame].shortest = 0;
	return fkt_calls_begin(&plan);
}

/* Writing traces the functions, and calls them. */
static int set_run(const char *text, const struct kernel_param *unused)
{
	int err = begin();

	if (err)
		return err;
	run_all();
	fkt_calls_end();
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = set_run };
module_param_cb(run, &run_ops, NULL, 0200);

static int __init deep_init(void)
{
	return frame < FKT_CALLS_FRAMES ? register_nmi_handler(NMI_LOCAL, on_nmi, 0, "deep") : -EINVAL;
}

static void __exit deep_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "deep");
}

module_init(deep_init);
module_exit(deep_exit);

MODULE_DESCRIPTION("Calls functions that use up the stack");
MODULE_LICENSE("GPL");
