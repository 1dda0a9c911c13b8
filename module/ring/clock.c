// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recording's clock: which source it uses, simultaneous readings of all clocks, and what happens
 * when the machine sleeps.
 */

#include <linux/math64.h>
#include <linux/module.h>
#include <linux/timekeeping.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/sleep.h>

#include "arch/arch.h"
#include "clock.h"

#define READINGS 5 /* readings of all clocks; the quickest is used */
#define LONGEST_READING_US 50 /* of a clock event */

/* On: another clock than the TSC. */
DEFINE_STATIC_KEY_FALSE(fkt_key_clock);
EXPORT_SYMBOL_GPL(fkt_key_clock);

/*
 * Error of a sleep's length: it may come from a clock with a resolution of seconds; plus a
 * 1/SLACK_SHARE share of it.
 */
#define SLACK_S 2
#define SLACK_SHARE 1000

/*
 * Changes under the recording's lock, while no probe writes; readers without the lock use READ_ONCE(). Static, not a
 * part of struct fkt_recording, because probes read it.
 */
static struct fkt_clock_state {
	enum fkt_clock_source source;
	u64 offset; /* added to the source (ticks): time asleep that the source did not count */
	/* added to CLOCK_MONOTONIC_RAW (ns): time the recording was parked that it did not count */
	u64 uncounted_ns;
	/* Values at the time the recording was parked: */
	u64 parked_clock;
	u64 parked_boot_ns;
	u64 parked_raw_ns;
	u64 parked_asleep_ns;
	u64 parked_offset;
	u64 parked_uncounted_ns;
} clock;

static u64 source_khz(enum fkt_clock_source source)
{
	return source == FKT_CLOCK_MONO ? NSEC_PER_MSEC : fkt_counter_khz();
}

/* Reads the clock if it is not the bare counter. Any context. */
u64 fkt_clock_other(void)
{
	/* Lockless: neither `source` nor `offset` changes while a probe writes. */
	u64 counter = clock.source == FKT_CLOCK_MONO ? ktime_get_mono_fast_ns() : fkt_counter();

	return counter + READ_ONCE(clock.offset);
}
EXPORT_SYMBOL_GPL(fkt_clock_other);

/* Any context. */
u64 fkt_clock_added(void)
{
	/* Lockless: does not change while a probe writes. */
	return READ_ONCE(clock.offset);
}

static void set_key(void)
{
	if (clock.source == FKT_CLOCK_MONO || clock.offset)
		static_branch_enable(&fkt_key_clock);
	else
		static_branch_disable(&fkt_key_clock);
}

/* Selects the clock of the next recording; -EINVAL for an unknown one. */
int fkt_clock_start(enum fkt_clock_source source)
{
	if (source > FKT_CLOCK_MONO)
		return -EINVAL;
	clock.source = source;
	WRITE_ONCE(clock.offset, 0);
	WRITE_ONCE(clock.uncounted_ns, 0);
	set_key();
	return 0;
}

/* Ticks per millisecond of the recording's clock. */
u64 fkt_clock_khz(void)
{
	return source_khz(clock.source);
}

/* ---- all clocks at the same moment ---- */

/* Reads all clocks once; returns how many ticks of the counter it took. Caller must disable interrupts. */
static u64 read_once(struct fkt_clocks *clocks)
{
	u64 before = fkt_counter_ordered(), after;

	clocks->mono_ns = ktime_get_mono_fast_ns();
	clocks->mono_raw_ns = ktime_get_raw_fast_ns();
	clocks->real_ns = ktime_get_real_fast_ns();
	after = fkt_counter_ordered();
	clocks->tsc = before + (after - before) / 2;
	return after - before;
}

/* Returns the quickest of several readings: an NMI, an SMI or the hypervisor may interrupt any of them. */
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
 * Reads all clocks at one moment, for an event whose stamp is taken next. Returns false if an NMI, an SMI or the
 * hypervisor came between in each of several readings. Caller must disable interrupts.
 */
bool fkt_clock_read_now(struct fkt_clocks *clocks)
{
	const u64 longest = (u64)fkt_counter_khz() * LONGEST_READING_US / USEC_PER_MSEC;
	int i;

	for (i = 0; i < READINGS; i++) {
		if (read_once(clocks) > longest)
			continue;
		/* As fkt_clock_read(). */
		clocks->mono_raw_ns += READ_ONCE(clock.uncounted_ns);
		return true;
	}
	return false;
}

/*
 * Reads all clocks at one moment; clocks->clock holds the selected source on entry, and its ticks on
 * return. recording: adds the time asleep that the recording's clock includes.
 */
int fkt_clock_read(struct fkt_clocks *clocks, bool recording)
{
	u64 source = clocks->clock;

	if (source > FKT_CLOCK_MONO)
		return -EINVAL;
	read_best(clocks);
	clocks->clock = source == FKT_CLOCK_MONO ? clocks->mono_ns : clocks->tsc;
	if (recording && source == clock.source) {
		clocks->clock += READ_ONCE(clock.offset);
		clocks->mono_raw_ns += READ_ONCE(clock.uncounted_ns);
	}
	clocks->khz = source_khz(source);
	clocks->tsc_usable = fkt_counter_is_usable();
	clocks->tsc_flags = fkt_counter_flags();
	return 0;
}
EXPORT_SYMBOL_GPL(fkt_clock_read);

/* ---- sleep ---- */

/* Time that the machine has slept since it was booted, as counted by the kernel (ns). */
static u64 asleep_ns(void)
{
	return ktime_to_ns(ktime_mono_to_any(0, TK_OFFS_BOOT));
}

static u64 to_ticks(u64 ns)
{
	return fkt_ticks_convert(ns, fkt_clock_khz(), NSEC_PER_MSEC);
}

static u64 to_ns(u64 ticks)
{
	return fkt_ticks_convert(ticks, NSEC_PER_MSEC, fkt_clock_khz());
}

/* Saves the clocks when the recording is parked; no probe writes any more. Caller must hold the recording's lock. */
void fkt_clock_park(void)
{
	struct fkt_clocks now = { .clock = clock.source };

	fkt_clock_read(&now, false);
	clock.parked_clock = now.clock + clock.offset;
	clock.parked_raw_ns = now.mono_raw_ns;
	clock.parked_boot_ns = now.mono_ns + asleep_ns();
	clock.parked_asleep_ns = asleep_ns();
	clock.parked_offset = clock.offset;
	clock.parked_uncounted_ns = clock.uncounted_ns;
}

/*
 * Continues the clock after a sleep. CLOCK_MONOTONIC does not count the time asleep. The counter
 * restarts in some kinds of sleep (S3, hibernation) and goes on in others: if it did not count the time
 * asleep, that time is added to it from here on. May be called again for the same sleep. Returns
 * whether the clock is no longer the bare counter. Caller must hold the recording's lock, and no probe may
 * write.
 */
bool fkt_clock_wake(void)
{
	struct fkt_clocks now = { .clock = clock.source };
	u64 slept, missing, ticks;

	fkt_clock_read(&now, false);
	if (clock.source == FKT_CLOCK_MONO) {
		missing = asleep_ns() - clock.parked_asleep_ns;
	} else {
		/* The fast clock may step back a little if the machine did not even sleep. */
		slept = to_ticks(fkt_ticks_between(clock.parked_boot_ns, now.mono_ns + asleep_ns()));
		missing = fkt_sleep_offset(clock.parked_clock, slept, now.clock + clock.parked_offset,
					   to_ticks(SLACK_S * NSEC_PER_SEC) + slept / SLACK_SHARE);
	}
	WRITE_ONCE(clock.offset, clock.parked_offset + missing);
	set_key();
	/*
	 * With this added, CLOCK_MONOTONIC_RAW has run as long as the recording's clock: their rates
	 * can be compared.
	 */
	ticks = fkt_ticks_between(clock.parked_clock, now.clock + clock.offset);
	WRITE_ONCE(clock.uncounted_ns, clock.parked_uncounted_ns + to_ns(ticks) -
				       (now.mono_raw_ns - clock.parked_raw_ns));
	return clock.offset;
}

/* Time that the machine slept since the recording was parked (ns). */
u64 fkt_clock_slept_ns(void)
{
	return asleep_ns() - clock.parked_asleep_ns;
}
