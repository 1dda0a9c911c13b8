// SPDX-License-Identifier: GPL-2.0-only
/* Which clock is used, and what it says at the moment at which the others say what. */

#include <linux/math64.h>
#include <linux/module.h>
#include <linux/timekeeping.h>
#include <asm/cpufeature.h>
#include <asm/tsc.h>

#include <fkt/sleep.h>

#include "fkt.h"

DEFINE_STATIC_KEY_FALSE(fkt_key_clock);

#define READINGS 5 /* of all clocks: the best is taken */
#define SLEEP_SLACK_S 2 /* a sleep's length may come from a clock that counts seconds */

/* Changed under capture.c's lock, while no probe runs. */
static struct {
	enum fkt_clock_source source;
	u64 offset; /* added to the counter (ticks); 0 until a sleep */
} clock;

static u64 source_khz(enum fkt_clock_source source)
{
	return source == FKT_CLOCK_MONO ? NSEC_PER_MSEC : tsc_khz;
}

/* The clock where it is not the bare counter; any context. */
u64 fkt_clock_other(void)
{
	return clock.source == FKT_CLOCK_MONO ? ktime_get_mono_fast_ns() : rdtsc() + clock.offset;
}

/* Chooses the clock of the recording to come; EINVAL for an unknown one. */
int fkt_clock_start(enum fkt_clock_source source)
{
	if (source > FKT_CLOCK_MONO)
		return -EINVAL;
	clock.source = source;
	clock.offset = 0;
	if (source == FKT_CLOCK_MONO)
		static_branch_enable(&fkt_key_clock);
	else
		static_branch_disable(&fkt_key_clock);
	return 0;
}

/* Ticks per millisecond of the recording's clock. */
u64 fkt_clock_khz(void)
{
	return source_khz(clock.source);
}

/* ---- pairs: what the clocks say at the same moment ---- */

/* One reading of them all; returns how many ticks of the counter it took. Interrupts off. */
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

/*
 * Reads all clocks at one moment; clocks->clock holds the source asked for. recording: as the caller's
 * recording has it, with what the counter lacks after a sleep.
 */
int fkt_clock_read(struct fkt_clocks *clocks, bool recording)
{
	u64 source = clocks->clock;

	if (source > FKT_CLOCK_MONO)
		return -EINVAL;
	read_best(clocks);
	clocks->clock = source == FKT_CLOCK_MONO ? clocks->mono_ns : clocks->tsc;
	if (recording && source == FKT_CLOCK_TSC)
		clocks->clock += READ_ONCE(clock.offset);
	clocks->khz = source_khz(source);
	clocks->tsc_usable = boot_cpu_has(X86_FEATURE_TSC) && !check_tsc_unstable();
	clocks->tsc_flags = (boot_cpu_has(X86_FEATURE_CONSTANT_TSC) ? 1 : 0) |
			    (boot_cpu_has(X86_FEATURE_NONSTOP_TSC) ? 2 : 0);
	return 0;
}

/* Writes a clock event on this CPU, if something is being recorded. */
void fkt_clock_emit(void)
{
	struct fkt_clocks clocks;
	u64 words[FKT_N_CLOCK_PAIR];

	read_best(&clocks);
	words[0] = clock.source == FKT_CLOCK_MONO ? clocks.mono_ns : clocks.tsc + clock.offset;
	words[1] = clocks.mono_raw_ns;
	words[2] = clocks.mono_ns;
	words[3] = clocks.real_ns;
	preempt_disable_notrace();
	if (READ_ONCE(fkt_mask))
		fkt_emit(FKT_E_CLOCK_PAIR, 0, words, FKT_N_CLOCK_PAIR);
	preempt_enable_notrace();
}

/* ---- sleep ---- */

/* The machine is about to sleep; no probe writes any more. */
void fkt_clock_sleep(struct fkt_sleep *sleep)
{
	sleep->clock = fkt_clock();
	sleep->boot_ns = ktime_get_boottime_ns();
}

/*
 * It is awake again; no probe writes yet. CLOCK_MONOTONIC goes on where it was. The counter begins
 * anew in some sleeps (S3, hibernation), and may have gone on in others: if it lacks the time asleep,
 * that is added to it from here on. Returns whether it is, so that nobody may use the bare counter.
 */
bool fkt_clock_wake(const struct fkt_sleep *sleep)
{
	u64 slept = mul_u64_u32_div(ktime_get_boottime_ns() - sleep->boot_ns, tsc_khz, NSEC_PER_MSEC);
	u64 missing;

	if (clock.source == FKT_CLOCK_MONO)
		return false;
	missing = fkt_sleep_offset(sleep->clock, slept, fkt_clock(),
				   SLEEP_SLACK_S * MSEC_PER_SEC * tsc_khz);
	if (!missing)
		return false;
	WRITE_ONCE(clock.offset, clock.offset + missing);
	static_branch_enable(&fkt_key_clock);
	return true;
}
