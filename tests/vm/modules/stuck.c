// SPDX-License-Identifier: GPL-2.0-only
/*
 * Causes a soft lockup, for tests/vm/cases/snapshot_when: occupies the CPU that loads it, with
 * interrupts on, for the given number of seconds, and then fails to load.
 */

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/preempt.h>

static unsigned int seconds = 6;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "that nothing else runs on the CPU");

static int __init stuck_init(void)
{
	unsigned int i;

	preempt_disable();
	for (i = 0; i < seconds * 1000; i++)
		mdelay(1);
	preempt_enable();
	return -EAGAIN;
}
module_init(stuck_init);

MODULE_DESCRIPTION("Keeps a CPU busy until the watchdog complains");
MODULE_LICENSE("GPL v2");
