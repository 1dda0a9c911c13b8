// SPDX-License-Identifier: GPL-2.0-only
/* Which clock is used, and what it says at the moment at which the others say what. */

#include <linux/math64.h>
#include <linux/module.h>
#include <linux/timekeeping.h>
#include <asm/cpufeature.h>
#include <asm/tsc.h>

#include "fkt.h"

DEFINE_STATIC_KEY_FALSE(fkt_key_mono);

#define READINGS 5 /* of all clocks: the best is taken */

static u64 source_khz(enum fkt_clock_source source)
{
	return source == FKT_CLOCK_MONO ? NSEC_PER_MSEC : tsc_khz;
}

/* Chooses the clock of the recording to come; EINVAL for an unknown one. */
int fkt_clock_start(enum fkt_clock_source source)
{
	switch (source) {
	case FKT_CLOCK_TSC:
		static_branch_disable(&fkt_key_mono);
		return 0;
	case FKT_CLOCK_MONO:
		static_branch_enable(&fkt_key_mono);
		return 0;
	}
	return -EINVAL;
}

/* Ticks per millisecond of the recording's clock. */
u64 fkt_clock_khz(void)
{
	return source_khz(static_key_enabled(&fkt_key_mono) ? FKT_CLOCK_MONO : FKT_CLOCK_TSC);
}

/* One reading of all clocks; returns how many ticks of the counter it took. Interrupts off. */
static u64 read_once(struct fkt_clocks *clocks)
{
	u64 before = rdtsc_ordered(), after;

	clocks->mono_ns = ktime_get_mono_fast_ns();
	clocks->mono_raw_ns = ktime_get_raw_fast_ns();
	clocks->real_ns = ktime_get_real_fast_ns();
	after = rdtsc_ordered();
	clocks->tsc = before + (after - before) / 2;
	return after - before;
}

/* The quickest of a few readings: an NMI, an SMI or a hypervisor may come into any of them. */
static void read_best(struct fkt_clocks *clocks)
{
	struct fkt_clocks reading;
	u64 took, best = U64_MAX;
	unsigned long flags;
	int i;

	memset(clocks, 0, sizeof(*clocks));
	memset(&reading, 0, sizeof(reading));
	for (i = 0; i < READINGS; i++) {
		local_irq_save(flags);
		took = read_once(&reading);
		local_irq_restore(flags);
		if (took >= best)
			continue;
		best = took;
		*clocks = reading;
	}
}

/* Reads all clocks at one moment; clocks->clock holds the source asked for. */
int fkt_clock_read(struct fkt_clocks *clocks)
{
	u64 source = clocks->clock;

	if (source > FKT_CLOCK_MONO)
		return -EINVAL;
	read_best(clocks);
	clocks->clock = source == FKT_CLOCK_MONO ? clocks->mono_ns : clocks->tsc;
	clocks->khz = source_khz(source);
	clocks->tsc_usable = boot_cpu_has(X86_FEATURE_TSC) && !check_tsc_unstable();
	clocks->tsc_flags = (boot_cpu_has(X86_FEATURE_CONSTANT_TSC) ? 1 : 0) |
			    (boot_cpu_has(X86_FEATURE_NONSTOP_TSC) ? 2 : 0);
	return 0;
}

/* Writes a clock event on this CPU, if something is being recorded. */
void fkt_clock_emit(void)
{
	u64 words[FKT_N_CLOCK];

	preempt_disable_notrace();
	if (READ_ONCE(fkt_mask)) {
		words[0] = ktime_get_raw_fast_ns();
		words[1] = ktime_get_mono_fast_ns();
		words[2] = ktime_get_real_fast_ns();
		fkt_emit(FKT_E_CLOCK, 0, words, FKT_N_CLOCK);
	}
	preempt_enable_notrace();
}
