/* SPDX-License-Identifier: GPL-2.0-only */
/* A CPU's ring as the drain side sees it: its pages, those that are complete, and those that are free. */
#ifndef FKT_CPU_RING_H
#define FKT_CPU_RING_H

#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "page_pool.h"

struct fkt_ring;

/* Largest number of pages that a CPU completes before it wakes the drain, which writes as many at a time. */
#define FKT_BATCH_PAGES 16
/* Pages per CPU that a flight recorder keeps free, if the CPU has at least four times as many. */
#define FKT_AHEAD_PAGES 64U

/* The drain's data about one CPU. While recording, only the drain thread writes it, except where noted. */
struct fkt_cpu {
	struct fkt_ring *ring;
	struct fkt_page **pages; /* parallel to ring->slots */
	struct fkt_pool pool;
	u64 recording; /* id for the headers of the pages */
	u32 extra; /* extra pages allocated in this recording */
	u32 lowest_free; /* smallest number of free pages found by the drain */
	u64 events; /* events in the pages taken */
	u64 lost; /* events lost before the last page taken; later losses in the ring's count are in no page yet */
	u64 written; /* pages */
	u64 discarded; /* events */
	u64 overwritten; /* events */
	/*
	 * Protects ready, pages, ring->slots and ring->tail against readers other than the drain side:
	 * while it is held, no page is taken from the ring, and none of the pages in it is freed.
	 */
	spinlock_t take_lock;
	bool ready; /* store-release by ring setup, load-acquire by the drain */
	bool closing; /* close_call is under way; set by the drain, cleared when it is done */
	call_single_data_t close_call; /* closes the open page, on its own CPU */
};

DECLARE_PER_CPU(struct fkt_cpu, fkt_cpus);

/* Returns whether the CPU has a ring with pages; if true, the caller sees the completely set up ring. */
static inline bool fkt_cpu_ready(const struct fkt_cpu *c)
{
	/* Pairs with the store-release in rings.c, start_ring(). */
	return smp_load_acquire(&c->ready);
}

void fkt_ring_count_pages(unsigned int cpu, u32 *filled, u32 *free);
bool fkt_ring_short(unsigned int cpu);
bool fkt_ring_needs_drain(unsigned int cpu, u32 *complete);
void fkt_ring_overwrite(unsigned int cpu);
struct fkt_page *fkt_ring_collect(unsigned int cpu);
bool fkt_ring_has_complete(unsigned int cpu);
void fkt_ring_queue_pool(struct fkt_cpu *c);
void fkt_ring_recycle(struct fkt_page *page);
void fkt_ring_refill(unsigned int cpu);
u64 fkt_ring_events(unsigned int cpu);

#endif /* FKT_CPU_RING_H */
