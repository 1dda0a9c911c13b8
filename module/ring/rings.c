// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rings of all CPUs: set-up and teardown with CPU hotplug, and closing of open pages. The protocol
 * itself is in include/fkt/ring.h; cpu_ring.c takes complete pages and queues free ones.
 *
 * A CPU's ring is set up when the CPU is first online during a recording; until then it has no page, so
 * its events are counted as lost.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include <fkt/events.h>
#include <fkt/ring_drain.h>
#include <fkt/wire.h>

#include "clock.h"
#include "cpu_ring.h"
#include "page_pool.h"
#include "rings.h"
#include "wake.h"
#include "write.h"

/*
 * Changed under the recording's lock only, and not while recording. Static, as the rings are, to which probes write and
 * which stay for the next recording.
 */
static struct fkt_rings_state {
	u64 recording; /* id; 0: no recording. Changes under cpus_read_lock() */
	bool closes; /* the drain may ask CPUs to close their open pages */
	bool keeps_gaps; /* the first lost event ends the recording */
	int hotplug; /* state number of the callbacks */
} rings;

/* ---- one CPU's ring ---- */

/* Runs on the ring's own CPU, in an interrupt: no probe of a task runs between the steps of the close. */
static void close_own(void *data)
{
	struct fkt_cpu *c = data;

	fkt_ring_close(c->ring);
	fkt_kick();
	/* Pairs with the load-acquire in wait_for_close(): after this store the ring is not accessed. */
	smp_store_release(&c->closing, false);
}

/* Waits for the close_call and wake-up already sent; the drain must not send new ones. */
static void wait_for_close(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

	/* Pairs with the store-release in close_own(). */
	while (smp_load_acquire(&c->closing))
		cond_resched();
	fkt_wake_sync(cpu);
}

/*
 * Returns whether the CPU's open page holds events older than a second. The limit is longer for a page
 * with a single event: closing it takes an interrupt, whose end is such an event, so an idle machine
 * would be kept busy by closing pages.
 */
static bool open_page_is_old(struct fkt_cpu *c, u64 now, u64 ticks_per_s)
{
	const struct fkt_page_header *header;
	bool old = false;
	u64 word, limit;

	/*
	 * Probes may switch the page meanwhile, and a wrong result is harmless; take_lock keeps the
	 * owner from taking the page.
	 */
	spin_lock(&c->take_lock);
	word = READ_ONCE(c->ring->word);
	if (!fkt_ring_is_closed(word) && (s32)((u32)(word >> 32) - c->ring->tail) >= 0) {
		header = c->ring->slots[(word >> 32) & c->ring->slot_mask];
		limit = READ_ONCE(header->events) <= 1 ? 10 * ticks_per_s : ticks_per_s;
		old = (s64)(now - READ_ONCE(header->first_clock)) > (s64)limit;
	}
	spin_unlock(&c->take_lock);
	return old;
}

/* Asks `cpu` to close its open page if that is old. Called from the drain thread, under cpus_read_lock(). */
void fkt_ring_close_old(unsigned int cpu, u64 now, u64 ticks_per_s)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

	if (!cpu_online(cpu) || !fkt_cpu_ready(c))
		return;
	if (READ_ONCE(c->closing) || !open_page_is_old(c, now, ticks_per_s))
		return;
	WRITE_ONCE(c->closing, true);
	smp_mb(); /* pairs with the one in fkt_rings_close(): one side sees the other's store */
	if (!READ_ONCE(rings.closes) || smp_call_function_single_async(cpu, &c->close_call))
		WRITE_ONCE(c->closing, false);
}

static void close_now(void *data)
{
	struct fkt_cpu *c = data;

	fkt_ring_close(c->ring);
	fkt_kick();
}

/*
 * Closes the open pages of all online CPUs: when this returns, all events recorded before are in
 * complete pages. Caller must hold the recording's lock.
 */
void fkt_rings_close_open(void)
{
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

		if (fkt_cpu_ready(c))
			smp_call_function_single(cpu, close_now, c, 1);
	}
	cpus_read_unlock();
}

/*
 * Begins a gap on each CPU in which no event is lost. Caller must ensure that no probe runs and all
 * pages are closed.
 */
void fkt_rings_pause(void)
{
	u64 now = fkt_clock();
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		if (fkt_cpu_ready(per_cpu_ptr(&fkt_cpus, cpu)))
			fkt_ring_pause(per_cpu_ptr(&fkt_rings, cpu), now);
	}
}

/*
 * Called when each CPU's event `asleep` has ended its gap begun by fkt_rings_pause(), before probes run
 * again. In a recording that ends with its first loss, restores keeps_gap, which the pause cleared for
 * that event; if the event found no page and was lost, that ends the recording.
 */
void fkt_rings_resume(void)
{
	unsigned int cpu;

	if (!rings.keeps_gaps)
		return;
	for_each_possible_cpu(cpu) {
		struct fkt_ring *ring = per_cpu_ptr(&fkt_rings, cpu);

		fkt_ring_resume(ring);
		ring->keeps_gap = true;
		if (ring->lost)
			WRITE_ONCE(fkt_full, true);
	}
}

/* Gives extra pages to the CPUs with few free ones. Called as fkt_ring_refill(). */
void fkt_rings_refill(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		fkt_ring_refill(cpu);
}

/* Flight recorder: overwrites the oldest pages of the CPUs with few free ones. Called as fkt_ring_overwrite(). */
void fkt_rings_overwrite(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		fkt_ring_overwrite(cpu);
}

/* Frees the pages kept in the pools of all CPUs. */
void fkt_rings_free(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		fkt_pool_free(&per_cpu_ptr(&fkt_cpus, cpu)->pool);
}

/* Applies this opener's settings to the next recording: frees the kept pages if it needs other ones. */
void fkt_rings_configure(const struct fkt_opener *opener, u32 payer)
{
	if (!fkt_pool_suits(opener, payer))
		fkt_rings_free();
	fkt_pool_configure(opener, payer);
}

static int start_ring(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);
	u32 slots;
	int err;

	if (c->ready)
		return 0;
	err = fkt_pool_fill(&c->pool);
	if (err)
		return err;
	c->lowest_free = c->pool.count;
	slots = roundup_pow_of_two(max(c->pool.count, 2 * c->pool.wanted)); /* room for extra pages */
	c->pages = kvcalloc(slots, sizeof(*c->pages), FKT_RING_GFP);
	if (!c->pages)
		return -ENOMEM;
	/*
	 * Not fkt_ring_init(): a CPU that is coming up has no events in its ring, but its count of lost
	 * events must stay.
	 */
	c->ring->slots = kvcalloc(slots, sizeof(*c->ring->slots), FKT_RING_GFP);
	if (!c->ring->slots) {
		kvfree(c->pages);
		c->pages = NULL;
		return -ENOMEM;
	}
	c->ring->slot_mask = slots - 1;
	c->ring->batch = clamp(c->pool.count / 8, 1U, (u32)FKT_BATCH_PAGES);
	fkt_ring_queue_pool(c);
	/* Pairs with the load-acquire in fkt_cpu_ready(). */
	smp_store_release(&c->ready, true);
	return 0;
}

static void reset_ring(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

	c->ring = per_cpu_ptr(&fkt_rings, cpu);
	fkt_ring_init(c->ring, NULL, 1, fkt_rings_page_bytes());
	c->ring->keeps_gap = rings.keeps_gaps;
	c->recording = rings.recording;
	c->events = 0;
	c->lost = 0;
	c->written = 0;
	c->discarded = 0;
	c->overwritten = 0;
	c->extra = 0;
	c->lowest_free = 0;
}

/*
 * Before probes run: gives every online CPU a ring of free pages, and every other CPU an empty ring, in
 * which all events are counted as lost. recording: the id for the page headers; stop_when_full: no
 * event is recorded after the first one that finds no page. Returns 0 or a negative errno.
 */
int fkt_rings_start(u64 recording, bool stop_when_full)
{
	unsigned int cpu;
	int err = 0;

	/* Hotplug callbacks read rings.recording: they run before or after this section, not during it. */
	cpus_read_lock();
	rings.recording = recording;
	rings.closes = true;
	rings.keeps_gaps = stop_when_full;
	fkt_full = false;
	for_each_possible_cpu(cpu)
		reset_ring(cpu);
	for_each_online_cpu(cpu) {
		err = start_ring(cpu);
		if (err)
			break;
	}
	cpus_read_unlock();
	if (err)
		fkt_rings_stop();
	return err;
}

/* Closes every CPU's open page, so that the drain gets it. Called after the last probe has run. */
void fkt_rings_close(void)
{
	unsigned int cpu;

	WRITE_ONCE(rings.closes, false);
	smp_mb(); /* pairs with the one in fkt_ring_close_old() */
	/* The hotplug callback closes a dead CPU's page: not at the same time as this loop. */
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

		wait_for_close(cpu);
		/* Plain access to another CPU's ring: no probe is left that could write it. */
		fkt_ring_close(c->ring);
	}
	cpus_read_unlock();
}

/*
 * Takes complete pages still in the ring and counts their events as discarded: they were not written to
 * the output.
 */
static void discard_complete(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);
	struct fkt_page *page;

	while ((page = fkt_ring_collect(cpu))) {
		c->discarded += page->events;
		fkt_pool_put(&c->pool, page);
	}
}

static void stop_ring(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);
	struct fkt_page_header **slots;
	struct fkt_page **pages;
	u32 run;

	discard_complete(cpu);
	/* From here on fkt_ring_events() accesses no page. */
	spin_lock(&c->take_lock);
	c->ready = false;
	slots = c->ring->slots;
	c->ring->slots = NULL;
	pages = c->pages;
	c->pages = NULL;
	spin_unlock(&c->take_lock);
	if (!pages)
		return;
	for (run = c->ring->tail; run != c->ring->limit; run++)
		fkt_pool_put(&c->pool, pages[run & c->ring->slot_mask]);
	/* Pages that did not come back (lent, or referenced by a pipe) no longer belong to the CPU. */
	c->pool.count = c->pool.kept;
	c->ring->limit = c->ring->tail;
	kvfree(slots);
	kvfree(pages);
}

/* Called after the drain has ended: frees the rings; their pages return to the pools. */
void fkt_rings_stop(void)
{
	unsigned int cpu;

	cpus_read_lock();
	rings.recording = 0;
	for_each_possible_cpu(cpu)
		stop_ring(cpu);
	cpus_read_unlock();
}

/* ---- CPU hotplug ---- */

static int cpu_prepare(unsigned int cpu)
{
	/* Without memory the CPU still comes up: its events are counted as lost. */
	if (rings.recording && start_ring(cpu))
		pr_warn("no memory for the ring of CPU %u: its events will be lost\n", cpu);
	return 0;
}

static int cpu_dead(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

	/* The CPU is dead, so no other context writes its ring. */
	if (rings.recording && c->ready) {
		fkt_ring_close(c->ring);
		fkt_kick();
	}
	return 0;
}

/* Initialises the per-CPU structures and registers the CPU hotplug callbacks. */
int fkt_rings_init(void)
{
	unsigned int cpu;
	int state;

	for_each_possible_cpu(cpu) {
		struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

		fkt_pool_init(&c->pool, cpu);
		spin_lock_init(&c->take_lock);
		INIT_CSD(&c->close_call, close_own, c);
		reset_ring(cpu);
	}
	state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "fkt:ring", cpu_prepare, cpu_dead);
	if (state < 0)
		return state;
	rings.hotplug = state;
	return 0;
}

void fkt_rings_exit(void)
{
	unsigned int cpu;

	cpuhp_remove_state_nocalls(rings.hotplug);
	for_each_possible_cpu(cpu)
		wait_for_close(cpu);
	/* Waits for the last instructions of interrupt handlers that have already signalled completion, */
	synchronize_rcu();
	/* ... and of tasks: a work item that completed a write, a pipe that put its last buffer. */
	synchronize_rcu_tasks();
	fkt_rings_free();
}
