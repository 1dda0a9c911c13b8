/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The drain's side of a ring: taking complete pages and queueing free ones; and, while no probe runs, emptying the ring
 * and the gap across a sleep of the machine. ring.h describes the protocol, and what its lettered barriers pair with.
 */
#ifndef FKT_RING_DRAIN_H
#define FKT_RING_DRAIN_H

#include <fkt/ring.h>

/*
 * Begins a gap without a lost event: the next event ends it, even if keeps_gap was set (it is cleared).
 * Caller must ensure that no probe runs and no page is open.
 */
static inline void fkt_ring_pause(struct fkt_ring *r, u64 clock)
{
	const u64 word = READ_ONCE(r->word);

	if (fkt_ring_in_gap(word))
		return;
	if (r->gap_from < clock)
		r->gap_from = clock;
	r->keeps_gap = false;
	WRITE_ONCE(r->word, fkt_ring_word(word >> 32, FKT_RING_GAP));
}

/*
 * Ends a gap begun by fkt_ring_pause() if no event has ended it and none was lost in it. Caller must
 * ensure that no probe runs.
 */
static inline void fkt_ring_resume(struct fkt_ring *r)
{
	const u64 word = READ_ONCE(r->word);

	if (fkt_ring_in_gap(word) && !r->lost)
		WRITE_ONCE(r->word, fkt_ring_word(word >> 32, FKT_RING_CLOSED));
}

/* Empties a ring: no page is queued; the first event opens page 0. slots: a power of two. */
static inline void fkt_ring_init(struct fkt_ring *r, struct fkt_page_header **slot_table, u32 slots,
				 u32 page_bytes)
{
	memset(r, 0, sizeof(*r));
	r->slots = slot_table;
	r->slot_mask = slots - 1;
	r->page_bytes = page_bytes;
	r->open_page = fkt_ring_no_page(r, FKT_RING_NOWHERE);
	r->last_pid = FKT_PID_NONE;
	r->batch = 1;
	r->word = fkt_ring_word(~0U, FKT_RING_CLOSED);
}

/* Values the drain writes into the header of each page that it queues. */
struct fkt_page_identity {
	u64 recording;
	u64 pfn;
	u32 cpu;
};

/* Drain: queues a free page. A': its header and its slot are stored before the new limit. */
static inline void fkt_ring_put(struct fkt_ring *r, struct fkt_page_header *h,
				const struct fkt_page_identity *identity)
{
	u32 limit = r->limit;

	memset(h, 0, sizeof(*h));
	h->magic = FKT_PAGE_MAGIC;
	h->magic_inverse = ~FKT_PAGE_MAGIC;
	h->version = FKT_WIRE_VERSION;
	h->header_bytes = FKT_PAGE_HEADER_BYTES;
	h->page_bytes = r->page_bytes;
	h->recording = identity->recording;
	h->seq = r->seq_high << 32 | limit;
	h->used = FKT_USED_OPEN;
	h->cpu = identity->cpu;
	h->pfn = identity->pfn;
	r->slots[limit & r->slot_mask] = h;
	if (limit + 1 == 0)
		r->seq_high++;
	smp_store_release(&r->limit, limit + 1); /* A' */
}

/* Drain: returns whether the oldest page is complete. */
static inline bool fkt_ring_has_complete_page(const struct fkt_ring *r)
{
	const struct fkt_page_header *h;
	u32 used;

	if (r->tail == READ_ONCE(r->limit))
		return false;
	h = r->slots[r->tail & r->slot_mask];
	used = smp_load_acquire(&h->used); /* C' */
	return used != FKT_USED_OPEN && !smp_load_acquire(&h->commit); /* B' */
}

/* Drain: takes the oldest page if it is complete; returns NULL otherwise. */
static inline struct fkt_page_header *fkt_ring_take(struct fkt_ring *r)
{
	struct fkt_page_header *h;

	if (!fkt_ring_has_complete_page(r))
		return NULL;
	h = r->slots[r->tail & r->slot_mask];
	WRITE_ONCE(r->tail, r->tail + 1);
	return h;
}

/* Drain: prepares a taken page for output: zeros the rest after the events, computes both checksums. */
static inline void fkt_ring_seal(struct fkt_page_header *h)
{
	memset((char *)h + h->used, 0, h->page_bytes - h->used);
	h->events_checksum = fkt_events_checksum(h, h + 1);
	h->checksum = fkt_page_checksum(h);
}

/* Number of free pages after the open one; may be outdated at once. */
static inline u32 fkt_ring_free(const struct fkt_ring *r)
{
	return READ_ONCE(r->limit) - (u32)(READ_ONCE(r->word) >> 32) - 1;
}

#endif /* FKT_RING_DRAIN_H */
