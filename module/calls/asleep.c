// SPDX-License-Identifier: GPL-2.0-only
/* Effects of a sleep of the machine on calls (asleep.h): suspend to RAM, and hibernation. */

#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/suspend.h>

#include "base/compat.h"
#include "asleep.h"
#include "call.h"
#include "held.h"
#include "returns.h"
#include "trampoline.h"

/* ---- calls during which the clock cannot be trusted ---- */

/*
 * The number of the period, shifted (call.h). It distinguishes calls that the TSC alone cannot: one that began before
 * the sleep, and one that began when the new TSC had come as far. At an entry the number is read before the TSC, at a
 * return after it: a task that stops between the two for the length of the sleep has an old number with a new TSC, or
 * a new number at the return, and in both cases the call is in two periods. Written by the notifier only; read by
 * trampoline.S.
 */
u64 fkt_calls_period;

static int on_power(struct notifier_block *unused, unsigned long what, void *data)
{
	switch (what) {
	case PM_HIBERNATION_PREPARE:
	case PM_SUSPEND_PREPARE:
	case PM_RESTORE_PREPARE:
	case PM_POST_HIBERNATION:
	case PM_POST_SUSPEND:
	case PM_POST_RESTORE:
		WRITE_ONCE(fkt_calls_period, fkt_calls_period + (1ULL << FKT_CALLS_PERIOD_BITS));
	}
	return NOTIFY_DONE;
}

static struct notifier_block power_notifier = { .notifier_call = on_power };

/* ---- calls that a sleep cuts off ---- */

/*
 * The functions that lead into S3 do not return: the kernel goes on at a stack pointer that it has saved before. In a
 * hibernation the functions that copy the memory return, but not in the image, which has them half done. All of them
 * are called between the two functions below. The same traced calls are open at both of these, because
 * syscore_suspend() and syscore_resume(), which call them, are in never_return.def. So the counts of the first are
 * right for the second. Both run on the only CPU that is online, in the same task, with interrupts disabled.
 */
static struct {
	u64 open;
	u64 depth;
} before_sleep;

static int on_sleep(FKT_SYSCORE_ARGUMENT)
{
	before_sleep.open = fkt_returns_open(smp_processor_id());
	before_sleep.depth = this_cpu_read(fkt_calls_depth);
	fkt_held_pause();
	return 0;
}

static void on_wake(FKT_SYSCORE_ARGUMENT)
{
	this_cpu_add(fkt_calls_returned, fkt_returns_open(smp_processor_id()) - before_sleep.open);
	this_cpu_write(fkt_calls_depth, before_sleep.depth);
	fkt_held_go_on();
}

FKT_DEFINE_SYSCORE(sleep_ops, on_sleep, on_wake);

int fkt_calls_power_init(void)
{
	int err = register_pm_notifier(&power_notifier);

	if (!err)
		register_syscore(&sleep_ops);
	return err;
}

void fkt_calls_power_exit(void)
{
	unregister_syscore(&sleep_ops);
	unregister_pm_notifier(&power_notifier);
}
