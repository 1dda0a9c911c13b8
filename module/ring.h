/* SPDX-License-Identifier: GPL-2.0-only */
/* The CPUs' rings: one ring and its pages for each CPU. */
#ifndef FKT_MODULE_RING_H
#define FKT_MODULE_RING_H

#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct fkt_page;
struct fkt_ring;

/* Largest number of pages that a CPU completes before it wakes the drain, which writes as many at a time. */
#define FKT_BATCH_PAGES 16
/* Pages per CPU that a flight recorder keeps free, if the CPU has at least four times as many. */
#define FKT_AHEAD_PAGES 64U

/* The drain's data about one CPU. While recording, only the drain thread writes it, except where noted. */
struct fkt_cpu {
	struct fkt_ring *ring;
	struct fkt_page **pages; /* parallel to ring->slots */
	struct list_head pool; /* pages that are not queued; between recordings all of them */
	u32 pool_pages;
	u32 count; /* all pages of this CPU */
	u32 wanted; /* configured number of pages; those above it are extra pages */
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
	/* Pairs with the store-release in ring.c, start_ring(). */
	return smp_load_acquire(&c->ready);
}

int fkt_rings_init(void);
void fkt_rings_exit(void);
int fkt_rings_start(u64 recording, bool stop_when_full);
void fkt_rings_close(void);
void fkt_rings_stop(void);
void fkt_ring_recycle(struct fkt_page *page);
void fkt_ring_refill(unsigned int cpu);
void fkt_ring_close_old(unsigned int cpu, u64 now, u64 ticks_per_s);
void fkt_rings_close_open(void);
void fkt_rings_pause(void);
void fkt_rings_resume(void);

#endif /* FKT_MODULE_RING_H */
