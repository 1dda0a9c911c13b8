// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPUs' rings: their life with CPU hotplug, and what happens to a page between leaving and
 * entering its ring. The protocol itself is include/fkt/ring.h, the pages come from pages.c.
 *
 * A CPU's ring is made when it is first online during a recording; until then it has no page, so
 * its events count as lost.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "fkt.h"

#define EVENTS_BATCH 64 /* pages that are counted without letting the drain take one */

DEFINE_PER_CPU_ALIGNED(struct fkt_ring, fkt_rings);
DEFINE_PER_CPU(struct fkt_cpu, fkt_cpus);

/* Changed under capture.c's lock only, and not while recording. */
static struct {
	u64 recording; /* id; 0: none. Changes under cpus_read_lock() */
	bool closes; /* the drain may have CPUs close their pages */
	bool keeps_gaps; /* the first loss ends the recording */
	bool full; /* ... and has happened; set by probes, with plain stores */
	int hotplug; /* state number of the callbacks */
} config;

/* ---- one CPU's ring ---- */

/* Queues a page as a free one. Drain thread, or ring setup before the drain sees the ring. */
static void queue_page(struct fkt_cpu *c, struct fkt_page *page)
{
	struct fkt_page_identity identity = {
		.recording = config.recording,
		.pfn = static_key_enabled(&fkt_key_restricted) ?
			       0 : page_to_pfn(virt_to_page(page->header)),
		.cpu = page->cpu,
	};

	c->pages[c->ring->limit & c->ring->slot_mask] = page;
	fkt_ring_put(c->ring, page->header, &identity);
}

/* Queues all pages of the CPU's pool. */
static void queue_pool(struct fkt_cpu *c)
{
	struct fkt_page *page, *next;

	list_for_each_entry_safe(page, next, &c->pool, node) {
		list_del(&page->node);
		queue_page(c, page);
	}
	c->pool_pages = 0;
}

/*
 * The page comes back from the drain: free again, or, if the CPU has extra pages and no more use for
 * them, gone. Drain thread.
 */
void fkt_ring_recycle(struct fkt_page *page)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, page->cpu);

	/* A page with a place in the owner's mapping keeps it until the end. */
	if (page->number == FKT_NO_NUMBER && c->count > c->wanted && fkt_ring_free(c->ring) > c->wanted / 2) {
		c->count--;
		fkt_page_unref(page);
		return;
	}
	queue_page(c, page);
}

/*
 * When less than an eighth of a CPU's pages is free, allocates extra ones until a quarter is (FKT
 * report, section 8.1), at most as many again as it should have. Drain thread.
 */
void fkt_ring_refill(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);
	u32 free, before = c->extra;

	if (!fkt_cpu_ready(c))
		return;
	free = fkt_ring_free(c->ring);
	c->lowest_free = min(c->lowest_free, free);
	if (free >= c->wanted / 8)
		return;
	for (; free < c->wanted / 4 && c->count < 2 * c->wanted; free++) {
		if (fkt_pool_add(c, cpu))
			break;
		queue_pool(c);
		c->extra++;
	}
	if (c->extra != before)
		fkt_tell(FKT_E_PAGES_EXTRA, c->extra - before, cpu);
}

/* Adds the CPU's pages that wait for the drain, and those that are free. A glance. Drain thread. */
void fkt_ring_fill(unsigned int cpu, u32 *filled, u32 *free)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);
	s32 behind;

	if (!fkt_cpu_ready(c))
		return;
	/* The open page is neither; a closed one that nobody has followed yet is counted as open. */
	behind = (u32)(READ_ONCE(c->ring->word) >> 32) - READ_ONCE(c->ring->tail);
	*filled += max(behind, 0); /* -1: no page was opened since the last one was taken */
	*free += fkt_ring_free(c->ring);
}

/* Flight recorder: has the CPU less free pages than may be filled before the drain looks again? */
bool fkt_ring_short(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

	return fkt_cpu_ready(c) &&
	       fkt_ring_free(c->ring) < clamp(c->count / 4, 1U, FKT_AHEAD_PAGES);
}

/* Takes the CPU's oldest complete page, without checksums, or NULL. One drainer at a time. */
static struct fkt_page *collect(struct fkt_cpu *c)
{
	struct fkt_page_header *header;
	struct fkt_page *page;

	if (!fkt_cpu_ready(c))
		return NULL;
	spin_lock(&c->take_lock);
	page = c->pages[c->ring->tail & c->ring->slot_mask];
	header = fkt_ring_take(c->ring);
	if (header) {
		page->events = header->events;
		c->events += page->events;
		c->lost = header->lost;
	}
	spin_unlock(&c->take_lock);
	return header ? page : NULL;
}

/*
 * Flight recorder: the CPU's oldest pages, uncounted by any file, become free ones until there are
 * enough for what comes before the drain looks again. Drain thread.
 */
void fkt_ring_overwrite(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);
	struct fkt_page *page;
	u32 overwritten = 0;

	if (!fkt_cpu_ready(c))
		return;
	c->lowest_free = min(c->lowest_free, fkt_ring_free(c->ring));
	while (fkt_ring_short(cpu)) {
		page = collect(c);
		if (!page)
			break;
		fkt_own_look(page->header);
		c->overwritten += page->events;
		fkt_ring_recycle(page);
		overwritten++;
	}
	if (overwritten)
		fkt_tell(FKT_E_PAGES_RECYCLED, overwritten, overwritten);
}

/* Takes the CPU's oldest complete page and seals it, or NULL. Whoever drains, one at a time. */
struct fkt_page *fkt_ring_collect(unsigned int cpu)
{
	struct fkt_page *page = collect(per_cpu_ptr(&fkt_cpus, cpu));

	if (!page)
		return NULL;
	fkt_ring_seal(page->header);
	fkt_own_look(page->header);
	return page;
}

/* Would fkt_ring_collect() return a page? Caller must be the only drain side. */
bool fkt_ring_has_complete(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

	return fkt_cpu_ready(c) && fkt_ring_has_complete_page(c->ring);
}

/*
 * Adds the events of some pages from *run on, up to page `last`; true: there are more. An open page's count
 * grows meanwhile. Under take_lock.
 */
static bool add_events(const struct fkt_ring *ring, u32 *run, u32 last, u64 *events)
{
	u32 i;

	for (i = 0; i < EVENTS_BATCH && (s32)(last - *run) >= 0; i++, (*run)++)
		*events += READ_ONCE(ring->slots[*run & ring->slot_mask]->events);
	return (s32)(last - *run) >= 0;
}

/*
 * Events that the CPU's probes have written, in pages taken and in those that are still in its ring. Never
 * less than before in the same recording. May sleep; needs no lock.
 */
u64 fkt_ring_events(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);
	u64 events;
	u32 run;

	spin_lock(&c->take_lock);
	events = c->events;
	run = c->ring->tail;
	while (fkt_cpu_ready(c) && add_events(c->ring, &run, READ_ONCE(c->ring->word) >> 32, &events)) {
		cond_resched_lock(&c->take_lock);
		/* Pages were taken that had not been counted yet: c->events has them. */
		if (!fkt_cpu_ready(c) || (s32)(c->ring->tail - run) > 0) {
			events = c->events;
			run = c->ring->tail;
		}
	}
	spin_unlock(&c->take_lock);
	return events;
}

/* On its own CPU, as an interrupt: no other context of this CPU runs between our steps' exchanges. */
static void close_own(void *data)
{
	struct fkt_cpu *c = data;

	fkt_ring_close(c->ring);
	fkt_drain_kick();
	/* Pairs with the load-acquire in wait_for_close(): afterwards we touch nothing. */
	smp_store_release(&c->closing, false);
}

/* The drain sends no more; what it has sent comes to its end. */
static void wait_for_close(struct fkt_cpu *c)
{
	/* Pairs with the store-release in close_own(). */
	while (smp_load_acquire(&c->closing))
		cond_resched();
	irq_work_sync(&c->wake_work);
}

static void wake_own(struct irq_work *work)
{
	fkt_drain_kick();
}

/* Wakes the drain, which wakes its readers; in any context. */
void fkt_wake_soon(void)
{
	/* Any CPU's wake-up will do: a stop closes rings with preemption on. */
	struct fkt_cpu *c = raw_cpu_ptr(&fkt_cpus);

	/*
	 * A CPU on its way down has run its last irq_work: one queued now would stay queued, and
	 * irq_work_sync() would spin on it. cpu_dead() wakes the drain instead.
	 */
	if (cpu_online(raw_smp_processor_id()))
		irq_work_queue(&c->wake_work);
}

/*
 * The first event of a gap is lost, in any context. Where that ends the recording no probe shall begin any more:
 * the drain says why when it wakes. Those that have begun find the gap closed (fkt_ring.keeps_gap).
 */
void fkt_gap(struct fkt_ring *ring)
{
	if (!ring->keeps_gap)
		return;
	WRITE_ONCE(config.full, true);
	/* In this order, which x86 keeps: fkt_capture_mask() looks at `full` after it has set the mask. */
	WRITE_ONCE(fkt_mask, 0);
	fkt_wake_soon();
}

/* Has a recording that ends with its first loss lost an event? */
bool fkt_rings_full(void)
{
	return READ_ONCE(config.full);
}

/*
 * A page is complete: tells the drain, through irq_work because we may be anywhere, NMIs and the
 * scheduler included (FKT report, section 4, used a softirq bit). Not for each page: the drain
 * works best on several, and looks by itself twice a second.
 */
void fkt_wake(struct fkt_ring *ring, u32 run)
{
	if (run + 1 - READ_ONCE(ring->tail) >= ring->batch)
		fkt_wake_soon();
}

/*
 * Does the CPU's open page hold events older than a second? With just one event a page waits longer: closing
 * takes an interrupt, whose end is such an event; an idle machine would do nothing else.
 */
static bool open_page_is_old(struct fkt_cpu *c, u64 now, u64 ticks_per_s)
{
	const struct fkt_page_header *header;
	bool old = false;
	u64 word, limit;

	/* The page may be switched meanwhile, and a wrong guess does no harm; but the owner cannot take it. */
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

/* Asks `cpu` to close its open page if that is old. Drain thread, under cpus_read_lock(). */
void fkt_ring_close_old(unsigned int cpu, u64 now, u64 ticks_per_s)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

	if (!cpu_online(cpu) || !fkt_cpu_ready(c))
		return;
	if (READ_ONCE(c->closing) || !open_page_is_old(c, now, ticks_per_s))
		return;
	WRITE_ONCE(c->closing, true);
	smp_mb(); /* pairs with the one in fkt_rings_close(): one of us sees the other's store */
	if (!READ_ONCE(config.closes) || smp_call_function_single_async(cpu, &c->close_call))
		WRITE_ONCE(c->closing, false);
}

static void close_now(void *data)
{
	struct fkt_cpu *c = data;

	fkt_ring_close(c->ring);
	fkt_drain_kick();
}

/* All that was recorded until now is in complete pages when this returns. Under capture.c's lock. */
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

/* Each CPU's recording has a gap from here on, of no event. No probe writes, and all pages are closed. */
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
 * The gaps are over, each with its CPU's first event. No probe writes yet. Where a loss ends the recording, it
 * was not to end that event; an event that found no page does.
 */
void fkt_rings_resume(void)
{
	unsigned int cpu;

	if (!config.keeps_gaps)
		return;
	for_each_possible_cpu(cpu) {
		struct fkt_ring *ring = per_cpu_ptr(&fkt_rings, cpu);

		fkt_ring_resume(ring);
		ring->keeps_gap = true;
		if (ring->lost)
			WRITE_ONCE(config.full, true);
	}
}

/* Adds an end to its begin's word, whatever its length; preemption off. False: nothing was done. */
bool fkt_join_any(enum fkt_pair_kind kind, u32 known, u32 id, s64 value)
{
	const struct fkt_end end = {
		.kind = kind, .known = known, .id = id, .pid = current->pid, .value = value,
	};

	return fkt_ring_join(this_cpu_ptr(&fkt_rings), &end, false);
}

static int start_ring(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);
	u32 slots;
	int err;

	if (c->ready)
		return 0;
	err = fkt_pool_fill(c, cpu);
	if (err)
		return err;
	c->lowest_free = c->count;
	slots = roundup_pow_of_two(max(c->count, 2 * c->wanted)); /* room for extra pages */
	c->pages = kvcalloc(slots, sizeof(*c->pages), GFP_KERNEL);
	if (!c->pages)
		return -ENOMEM;
	/* Not fkt_ring_init(): a CPU that is coming up has no event, but it keeps what it has lost. */
	c->ring->slots = kvcalloc(slots, sizeof(*c->ring->slots), GFP_KERNEL);
	if (!c->ring->slots) {
		kvfree(c->pages);
		c->pages = NULL;
		return -ENOMEM;
	}
	c->ring->slot_mask = slots - 1;
	c->ring->batch = clamp(c->count / 8, 1U, (u32)FKT_CHUNK_PAGES);
	queue_pool(c);
	/* Pairs with the load-acquire in fkt_cpu_ready(). */
	smp_store_release(&c->ready, true);
	return 0;
}

static void reset_ring(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

	c->ring = per_cpu_ptr(&fkt_rings, cpu);
	fkt_ring_init(c->ring, NULL, 1, fkt_rings_page_bytes());
	c->ring->keeps_gap = config.keeps_gaps;
	c->events = 0;
	c->lost = 0;
	c->written = 0;
	c->discarded = 0;
	c->overwritten = 0;
	c->extra = 0;
	c->lowest_free = 0;
}

/*
 * Before probes run: gives every online CPU a ring of free pages, and every other one an empty
 * ring, which loses and counts. recording: the id for the page headers; stop_when_full: no event follows the
 * first one that finds no page.
 */
int fkt_rings_start(u64 recording, bool stop_when_full)
{
	unsigned int cpu;
	int err = 0;

	/* Hotplug callbacks look at config.recording: they run before or after us, not meanwhile. */
	cpus_read_lock();
	config.recording = recording;
	config.closes = true;
	config.keeps_gaps = stop_when_full;
	config.full = false;
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

/* After the last probe has run: closes every CPU's open page, so that the drain gets it. */
void fkt_rings_close(void)
{
	unsigned int cpu;

	WRITE_ONCE(config.closes, false);
	smp_mb(); /* pairs with the one in fkt_ring_close_old() */
	/* A dead CPU's page is closed by the hotplug callback: not at the same time. */
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

		wait_for_close(c);
		/* Plain use of another CPU's ring: no probe is left that could write it. */
		fkt_ring_close(c->ring);
	}
	cpus_read_unlock();
}

/* Counts the events of complete pages still in the ring: they reached no output. */
static void discard_complete(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);
	struct fkt_page *page;

	while ((page = fkt_ring_collect(cpu))) {
		c->discarded += page->events;
		fkt_pool_put(c, page);
	}
}

static void stop_ring(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);
	struct fkt_page_header **slots;
	struct fkt_page **pages;
	u32 run;

	discard_complete(cpu);
	/* From here on fkt_ring_events() looks at no page. */
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
		fkt_pool_put(c, pages[run & c->ring->slot_mask]);
	/* Pages that did not come back (held by a pipe, lent) are no longer ours. */
	c->count = c->pool_pages;
	c->ring->limit = c->ring->tail;
	kvfree(slots);
	kvfree(pages);
}

/* The drain has ended: takes the rings apart; pages go back to the pools. */
void fkt_rings_stop(void)
{
	unsigned int cpu;

	cpus_read_lock();
	config.recording = 0;
	for_each_possible_cpu(cpu)
		stop_ring(cpu);
	cpus_read_unlock();
}

/* ---- CPU hotplug ---- */

static int cpu_prepare(unsigned int cpu)
{
	/* Without memory the CPU comes up all the same: its events are lost, and counted. */
	if (config.recording && start_ring(cpu))
		pr_warn("no memory for the ring of CPU %u: its events will be lost\n", cpu);
	return 0;
}

static int cpu_dead(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

	/* The CPU is gone, nobody else writes its ring. */
	if (config.recording && c->ready) {
		fkt_ring_close(c->ring);
		fkt_drain_kick();
	}
	return 0;
}

/* Prepares the per-CPU structures and follows CPU hotplug. */
int fkt_rings_init(void)
{
	unsigned int cpu;
	int state;

	for_each_possible_cpu(cpu) {
		struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

		INIT_LIST_HEAD(&c->pool);
		spin_lock_init(&c->take_lock);
		INIT_CSD(&c->close_call, close_own, c);
		/* In hard interrupt context on PREEMPT_RT too: its thread is parked before the CPU goes. */
		c->wake_work = IRQ_WORK_INIT_HARD(wake_own);
		reset_ring(cpu);
	}
	state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "fkt:ring", cpu_prepare, cpu_dead);
	if (state < 0)
		return state;
	config.hotplug = state;
	return 0;
}

void fkt_rings_exit(void)
{
	unsigned int cpu;

	cpuhp_remove_state_nocalls(config.hotplug);
	for_each_possible_cpu(cpu)
		wait_for_close(per_cpu_ptr(&fkt_cpus, cpu));
	/* The last instructions of interrupts that have said they are done, */
	synchronize_rcu();
	/* ... and of tasks: a work item that completed a write, a pipe that put its last buffer. */
	synchronize_rcu_tasks();
	fkt_rings_free();
}
