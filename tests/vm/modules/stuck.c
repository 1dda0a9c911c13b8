// SPDX-License-Identifier: GPL-2.0-only
/*
 * Causes a soft lockup, for tests/vm/cases/snapshot_when: occupies the CPU that loads it, with
 * interrupts on, for the given number of seconds, and then fails to load.
 */

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/preempt.h>

static unsigned int seconds = 6;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "that nothing else runs on the CPU");

static int __init stuck_init(void)
{
	const u64 end = ktime_get_ns() + (u64)seconds * NSEC_PER_SEC;

	/* By the clock: an emulator's delay loop may take a third of its time. */
	preempt_disable();
	while (ktime_get_ns() < end)
		cpu_relax();
	preempt_enable();
	return -EAGAIN;
}
module_init(stuck_init);

MODULE_DESCRIPTION("Keeps a CPU busy until the watchdog complains");
MODULE_LICENSE("GPL v2");
