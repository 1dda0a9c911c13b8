// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU's ring as the drain side sees it: takes complete pages, or overwrites the oldest ones in a flight
 * recorder; queues free pages; counts pages and events.
 */

#include <linux/export.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

#include <fkt/events.h>
#include <fkt/ring_drain.h>
#include <fkt/wire.h>

#include "cpu_ring.h"
#include "filter.h"
#include "page_pool.h"
#include "self.h"

DEFINE_PER_CPU(struct fkt_cpu, fkt_cpus);
EXPORT_PER_CPU_SYMBOL_GPL(fkt_cpus);

#define EVENTS_BATCH 64 /* pages counted in one go before take_lock may be released for the drain */

/*
 * Adds the numbers of this CPU's pages that wait for the drain and that are free. Approximate: probes
 * may switch pages meanwhile. Called from the drain thread.
 */
void fkt_ring_count_pages(unsigned int cpu, u32 *filled, u32 *free)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);
	s32 behind;

	if (!fkt_cpu_ready(c))
		return;
	/* The open page is neither; a closed page without a successor is counted as open. */
	behind = (u32)(READ_ONCE(c->ring->word) >> 32) - READ_ONCE(c->ring->tail);
	*filled += max(behind, 0); /* -1: no page was opened since the last one was taken */
	*free += fkt_ring_free(c->ring);
}

/* Flight recorder: returns whether the CPU has fewer free pages than may be filled before the drain looks again. */
bool fkt_ring_short(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

	return fkt_cpu_ready(c) &&
	       fkt_ring_free(c->ring) < clamp(c->pool.count / 4, 1U, FKT_AHEAD_PAGES);
}

/*
 * Adds the number of this CPU's complete pages, and returns whether these are as many as the CPU wakes the drain for,
 * or it has few free ones. Approximate, as above; a page without a successor counts if it is closed. Called from the
 * drain thread.
 */
bool fkt_ring_needs_drain(unsigned int cpu, u32 *complete)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);
	u32 count;
	u64 word;

	if (!fkt_cpu_ready(c))
		return false;
	word = READ_ONCE(c->ring->word);
	count = (u32)(word >> 32) - c->ring->tail + fkt_ring_is_closed(word);
	*complete += count;
	return count && (count >= c->ring->batch || fkt_ring_free(c->ring) < c->ring->batch);
}

/* Queues a page as a free one. Called from the drain thread, or from ring setup before the drain sees the ring. */
static void queue_page(struct fkt_cpu *c, struct fkt_page *page)
{
	struct fkt_page_identity identity = {
		.recording = c->recording,
		.pfn = static_key_enabled(&fkt_key_restricted) ?
			       0 : page_to_pfn(virt_to_page(page->header)),
		.cpu = page->cpu,
	};

	c->pages[c->ring->limit & c->ring->slot_mask] = page;
	fkt_ring_put(c->ring, page->header, &identity);
}

/* Queues all pages of the CPU's pool. Called as queue_page(). */
void fkt_ring_queue_pool(struct fkt_cpu *c)
{
	struct fkt_page *page, *next;

	list_for_each_entry_safe(page, next, &c->pool.pages, node) {
		list_del(&page->node);
		queue_page(c, page);
	}
	c->pool.kept = 0;
}

/*
 * Takes a page back from the drain: queues it as a free one, or frees it if the CPU has extra pages and
 * more than enough free ones. Called from the drain thread.
 */
void fkt_ring_recycle(struct fkt_page *page)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, page->cpu);

	/* A page with a place in the owner's mapping keeps it until the end of the recording. */
	if (page->number == FKT_NO_NUMBER && c->pool.count > c->pool.wanted &&
	    fkt_ring_free(c->ring) > c->pool.wanted / 2) {
		c->pool.count--;
		fkt_page_unref(page);
		return;
	}
	queue_page(c, page);
}
EXPORT_SYMBOL_GPL(fkt_ring_recycle);

/*
 * If less than an eighth of a CPU's pages is free, allocates extra ones until a quarter is, up to twice the configured
 * number. Called from the drain thread.
 */
void fkt_ring_refill(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);
	u32 free, before = c->extra;

	if (!fkt_cpu_ready(c))
		return;
	free = fkt_ring_free(c->ring);
	c->lowest_free = min(c->lowest_free, free);
	if (free >= c->pool.wanted / 8)
		return;
	for (; free < c->pool.wanted / 4 && c->pool.count < 2 * c->pool.wanted; free++) {
		if (fkt_pool_add(&c->pool))
			break;
		fkt_ring_queue_pool(c);
		c->extra++;
	}
	if (c->extra != before)
		fkt_tell(FKT_E_PAGES_EXTRA, c->extra - before, cpu);
}

/* Takes the CPU's oldest complete page, without computing checksums, or returns NULL. One drain side at a time. */
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
 * Flight recorder: recycles the CPU's oldest complete pages, which were written to no file, until
 * enough are free for the time until the drain looks again. Called from the drain thread.
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
		fkt_self_look(page->header);
		c->overwritten += page->events;
		fkt_ring_recycle(page);
		overwritten++;
	}
	if (overwritten)
		fkt_tell(FKT_E_PAGES_RECYCLED, overwritten, overwritten);
}

/* Takes the CPU's oldest complete page and seals it, or returns NULL. Caller must be the only drain side. */
struct fkt_page *fkt_ring_collect(unsigned int cpu)
{
	struct fkt_page *page = collect(per_cpu_ptr(&fkt_cpus, cpu));

	if (!page)
		return NULL;
	fkt_ring_seal(page->header);
	fkt_self_look(page->header);
	return page;
}

/* Returns whether fkt_ring_collect() would return a page. Caller must be the only drain side. */
bool fkt_ring_has_complete(unsigned int cpu)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, cpu);

	return fkt_cpu_ready(c) && fkt_ring_has_complete_page(c->ring);
}

/*
 * Adds the events of the next pages from *run on, up to page `last`; returns true if there are more. An
 * open page's count grows meanwhile. Caller must hold take_lock.
 */
static bool add_events(const struct fkt_ring *ring, u32 *run, u32 last, u64 *events)
{
	u32 i;

	for (i = 0; i < EVENTS_BATCH && (s32)(last - *run) >= 0; i++, (*run)++)
		*events += READ_ONCE(ring->slots[*run & ring->slot_mask]->events);
	return (s32)(last - *run) >= 0;
}

/*
 * Returns the number of events that the CPU's probes have written, in pages already taken and in those
 * still in its ring. Never less than an earlier result in the same recording. May sleep; caller needs
 * no lock.
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
		/* Pages were taken before they were counted here: c->events includes them, so start again. */
		if (!fkt_cpu_ready(c) || (s32)(c->ring->tail - run) > 0) {
			events = c->events;
			run = c->ring->tail;
		}
	}
	spin_unlock(&c->take_lock);
	return events;
}
