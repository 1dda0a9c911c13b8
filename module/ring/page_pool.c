// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages of the rings. They stay allocated between recordings, because consecutive frames are hard
 * to allocate again, until FKT_FREEBUFFER or until the last open file is
 * closed.
 */

#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/refcount.h>
#include <linux/slab.h>

#include <fkt/wire.h>

#include "page_pool.h"

/*
 * Settings of the present or last recording; changed under the recording's lock, and not while recording. Static, as
 * the pages are, which stay for the next recording.
 */
static struct fkt_pool_config {
	u32 pow; /* 4 KiB pages per CPU, as a power of two */
	u32 order; /* of a ring page, in 4 KiB frames */
	bool low; /* below 4 GiB */
	u32 payer; /* fkt_charge_payer() of the memory cgroup that pays for them; 0: none */
} pool_config = { .pow = FKT_POW_DEFAULT, .order = 2 };

/* ---- one page ---- */

/* Drops one reference to each frame. */
void fkt_frames_put(struct page *frames, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes / PAGE_SIZE; i++)
		put_page(frames + i);
}

/*
 * Drops a reference to the descriptor; the last one drops its references to the frames (a pipe may
 * still hold others).
 */
void fkt_page_unref(struct fkt_page *page)
{
	if (!refcount_dec_and_test(&page->refs))
		return;
	fkt_frames_put(virt_to_page(page->header), PAGE_SIZE << page->order);
	kfree(page);
}

/* Returns whether the caller has the only reference to each of the page's frames. Then no new one can appear. */
bool fkt_page_alone(struct fkt_page *page)
{
	struct page *frame = virt_to_page(page->header);
	unsigned int i;

	if (refcount_read(&page->refs) != 1)
		return false;
	/* Pairs with the release in fkt_page_unref(), which comes after a pipe buffer's put_page(). */
	smp_rmb();
	for (i = 0; i < 1U << page->order; i++)
		if (page_count(frame + i) != 1)
			return false;
	return true;
}

static struct fkt_page *new_page(struct page *frames, unsigned int cpu)
{
	struct fkt_page *page = kzalloc(sizeof(*page), FKT_RING_GFP);

	if (!page)
		return NULL;
	page->header = page_address(frames);
	page->cpu = cpu;
	page->order = pool_config.order;
	page->number = FKT_NO_NUMBER;
	refcount_set(&page->refs, 1);
	return page;
}

static gfp_t frames_gfp(void)
{
	return GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | (pool_config.low ? GFP_DMA32 : 0) |
	       (pool_config.payer ? __GFP_ACCOUNT : 0);
}

/* Gives the page new frames. The caller has passed the old ones on, or will drop them. Returns 0 or -ENOMEM. */
int fkt_page_renew(struct fkt_page *page)
{
	struct page *frames = alloc_pages_node(cpu_to_node(page->cpu),
					       frames_gfp() | __GFP_RETRY_MAYFAIL, page->order);

	if (!frames)
		return -ENOMEM;
	split_page(frames, page->order);
	page->header = page_address(frames);
	return 0;
}

/* ---- a CPU's pages ---- */

void fkt_pool_init(struct fkt_pool *pool, unsigned int cpu)
{
	INIT_LIST_HEAD(&pool->pages);
	pool->cpu = cpu;
}

static int add_frames(struct fkt_pool *pool, struct page *frames, unsigned int order)
{
	unsigned int i, step = 1U << pool_config.order;

	split_page(frames, order);
	for (i = 0; i < 1U << order; i += step) {
		struct fkt_page *page = new_page(frames + i, pool->cpu);

		if (!page) {
			for (; i < 1U << order; i++)
				put_page(frames + i);
			return -ENOMEM;
		}
		list_add_tail(&page->node, &pool->pages);
		pool->kept++;
		pool->count++;
	}
	return 0;
}

/*
 * Allocates 1 << order frames as consecutively as possible: all at once, or else in two halves, so that
 * the drain's writes are few and long.
 */
static int alloc_bunch(struct fkt_pool *pool, unsigned int order)
{
	gfp_t gfp = frames_gfp();
	struct page *frames = NULL;
	int err;

	if (order < 10) {
		gfp |= order > pool_config.order ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL;
		frames = alloc_pages_node(cpu_to_node(pool->cpu), gfp, order);
	}
	if (frames)
		return add_frames(pool, frames, order);
	if (order <= pool_config.order)
		return -ENOMEM;
	err = alloc_bunch(pool, order - 1);
	return err ? err : alloc_bunch(pool, order - 1);
}

/* Allocates one extra page for the CPU, without reclaiming memory for it. */
int fkt_pool_add(struct fkt_pool *pool)
{
	struct page *frames = alloc_pages_node(cpu_to_node(pool->cpu), frames_gfp() | __GFP_NORETRY,
					       pool_config.order);

	return frames ? add_frames(pool, frames, pool_config.order) : -ENOMEM;
}

/* Frees the pages kept in the pool. */
void fkt_pool_free(struct fkt_pool *pool)
{
	struct fkt_page *page, *next;

	list_for_each_entry_safe(page, next, &pool->pages, node) {
		list_del(&page->node);
		fkt_page_unref(page);
	}
	pool->kept = 0;
	pool->count = 0;
}

/* Makes sure that the CPU's pool has all pages that the CPU should have; none is queued yet. */
int fkt_pool_fill(struct fkt_pool *pool)
{
	int err;

	pool->wanted = 1U << (pool_config.pow - pool_config.order);
	if (pool->count >= pool->wanted)
		return 0;
	fkt_pool_free(pool);
	err = alloc_bunch(pool, pool_config.pow);
	if (err)
		fkt_pool_free(pool);
	return err;
}

/*
 * Keeps a page for the next recording, unless something else still has a reference to its frames and
 * could read what the next recording writes.
 */
void fkt_pool_put(struct fkt_pool *pool, struct fkt_page *page)
{
	if (!fkt_page_alone(page)) {
		fkt_page_unref(page);
		return;
	}
	list_add_tail(&page->node, &pool->pages);
	pool->kept++;
}

static u32 pow_order(u32 pow)
{
	/* At least two pages per ring: tiny rings have smaller pages. */
	return min(2U, pow - 1);
}

/* Returns whether this opener's recordings use the pages of the last one. payer: as in fkt_pool_configure() */
bool fkt_pool_suits(const struct fkt_opener *opener, u32 payer)
{
	return opener->pow == pool_config.pow && opener->low == pool_config.low && payer == pool_config.payer;
}

/*
 * Applies this opener's settings to the next recording. payer: fkt_charge_payer(), or 0 for pages that become page
 * cache, which is charged then and can be charged only once. The pools must be empty if they need other pages.
 */
void fkt_pool_configure(const struct fkt_opener *opener, u32 payer)
{
	pool_config.payer = payer;
	pool_config.pow = opener->pow;
	pool_config.order = pow_order(opener->pow);
	pool_config.low = opener->low;
}

/* Size in bytes of a ring page if a CPU has 1 << pow frames. */
u32 fkt_pow_page_bytes(u32 pow)
{
	return PAGE_SIZE << pow_order(pow);
}

/* Size in bytes of a page of the present or last recording. */
u32 fkt_rings_page_bytes(void)
{
	return PAGE_SIZE << pool_config.order;
}

/* Size in bytes of all pages of one CPU. */
u64 fkt_rings_bytes(void)
{
	return PAGE_SIZE << pool_config.pow;
}
