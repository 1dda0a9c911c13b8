// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a probe of include/fkt/probe.h costs: reading /sys/module/probe_cost/parameters/cost runs a loop with a probe
 * and one without, and tells the difference for each round, in ticks of the time stamp counter: guest instructions in
 * a machine with -icount.
 */

#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <asm/msr.h>

#include <fkt/probe.h>

#define PROBE_COST_ROUND 1
#define ROUNDS 1000
#define TIMES 20

static noinline void without_probe(unsigned int rounds)
{
	do
		barrier();
	while (--rounds);
}

static noinline void with_probe(unsigned int rounds)
{
	do {
		FKT_PROBE2(block, PROBE_COST_ROUND, rounds, 0);
		barrier();
	} while (--rounds);
}

/* Returns the smallest number of ticks that the loop takes: interrupts are off, NMIs may come. */
static u64 ticks_of(void (*loop)(unsigned int rounds))
{
	u64 least = U64_MAX, begin;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < TIMES; i++) {
		local_irq_save(flags);
		begin = rdtsc_ordered();
		loop(ROUNDS);
		least = min(least, rdtsc_ordered() - begin);
		local_irq_restore(flags);
	}
	return least;
}

static int cost_get(char *text, const struct kernel_param *unused)
{
	const u64 without = ticks_of(without_probe);
	const s64 more = ticks_of(with_probe) - without;

	return sprintf(text, "%lld.%03lld\n", more / ROUNDS, abs(more % ROUNDS));
}

static const struct kernel_param_ops cost_ops = { .get = cost_get };
module_param_cb(cost, &cost_ops, NULL, 0444);

static int __init probe_cost_init(void)
{
	return 0;
}

static void __exit probe_cost_exit(void)
{
}

module_init(probe_cost_init);
module_exit(probe_cost_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What a probe of FKT's costs");
