// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages that rings are made of. They stay allocated between recordings, because consecutive frames are
 * hard to get back (FKT report, section B.4), until FKT_FREEBUFFER or until no open file is left.
 */

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "fkt.h"

/* What the present or last recording uses; changed under capture.c's lock, and not while recording. */
static struct {
	u32 pow; /* 4 KiB pages per CPU, as a power of two */
	u32 order; /* of a ring page, in 4 KiB frames */
	bool low; /* below 4 GiB */
} config = { .pow = FKT_POW_DEFAULT, .order = 2 };

/* ---- one page ---- */

/* Drops our reference to each frame. */
void fkt_frames_put(struct page *frames, u32 bytes)
{
	u32 i;

	for (i = 0; i < bytes / PAGE_SIZE; i++)
		put_page(frames + i);
}

/* Drops a reference to the descriptor; the last one frees the frames (splice may hold those on). */
void fkt_page_unref(struct fkt_page *page)
{
	if (!refcount_dec_and_test(&page->refs))
		return;
	fkt_frames_put(virt_to_page(page->header), PAGE_SIZE << page->order);
	kfree(page);
}

/* Has nobody but us a reference to any of the page's frames, nor will take one that it has not now? */
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
	struct fkt_page *page = kzalloc(sizeof(*page), GFP_KERNEL);

	if (!page)
		return NULL;
	page->header = page_address(frames);
	page->cpu = cpu;
	page->order = config.order;
	page->number = FKT_NO_NUMBER;
	refcount_set(&page->refs, 1);
	return page;
}

static gfp_t frames_gfp(void)
{
	return GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | (config.low ? GFP_DMA32 : 0);
}

/* Gives the page other frames: the caller has given those that it had away, or will put them. */
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

static int add_frames(struct fkt_cpu *c, unsigned int cpu, struct page *frames, unsigned int order)
{
	unsigned int i, step = 1U << config.order;

	split_page(frames, order);
	for (i = 0; i < 1U << order; i += step) {
		struct fkt_page *page = new_page(frames + i, cpu);

		if (!page) {
			for (; i < 1U << order; i++)
				put_page(frames + i);
			return -ENOMEM;
		}
		list_add_tail(&page->node, &c->pool);
		c->pool_pages++;
		c->count++;
	}
	return 0;
}

/*
 * Allocates 1 << order frames as consecutively as the machine has them: all at once, or else two
 * bunches of half the size, so that the drain's writes are few and long (FKT report, section B.4).
 */
static int alloc_bunch(struct fkt_cpu *c, unsigned int cpu, unsigned int order)
{
	gfp_t gfp = frames_gfp();
	struct page *frames = NULL;
	int err;

	if (order < 10) {
		gfp |= order > config.order ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL;
		frames = alloc_pages_node(cpu_to_node(cpu), gfp, order);
	}
	if (frames)
		return add_frames(c, cpu, frames, order);
	if (order <= config.order)
		return -ENOMEM;
	err = alloc_bunch(c, cpu, order - 1);
	return err ? err : alloc_bunch(c, cpu, order - 1);
}

/* One page more than the CPU should have, where that takes no effort. */
int fkt_pool_add(struct fkt_cpu *c, unsigned int cpu)
{
	struct page *frames = alloc_pages_node(cpu_to_node(cpu), frames_gfp() | __GFP_NORETRY,
					       config.order);

	return frames ? add_frames(c, cpu, frames, config.order) : -ENOMEM;
}

static void free_pool(struct fkt_cpu *c)
{
	struct fkt_page *page, *next;

	list_for_each_entry_safe(page, next, &c->pool, node) {
		list_del(&page->node);
		fkt_page_unref(page);
	}
	c->pool_pages = 0;
	c->count = 0;
}

/* Sees that the CPU has all pages that it should have, none of them queued yet. */
int fkt_pool_fill(struct fkt_cpu *c, unsigned int cpu)
{
	int err;

	c->wanted = 1U << (config.pow - config.order);
	if (c->count >= c->wanted)
		return 0;
	free_pool(c);
	err = alloc_bunch(c, cpu, config.pow);
	if (err)
		free_pool(c);
	return err;
}

/* Keeps a page for the next recording; not if somebody could still read what that will write. */
void fkt_pool_put(struct fkt_cpu *c, struct fkt_page *page)
{
	if (!fkt_page_alone(page)) {
		fkt_page_unref(page);
		return;
	}
	list_add_tail(&page->node, &c->pool);
	c->pool_pages++;
}

/* Gives the kept pages of all CPUs back. */
void fkt_rings_free(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		free_pool(per_cpu_ptr(&fkt_cpus, cpu));
}

static u32 pow_order(u32 pow)
{
	/* At least two pages per ring: tiny rings get smaller ones. */
	return min(2U, pow - 1);
}

/* The next recording is this opener's: gives kept pages back if it wants others. */
void fkt_rings_configure(const struct fkt_opener *opener)
{
	if (opener->pow != config.pow || opener->low != config.low)
		fkt_rings_free();
	config.pow = opener->pow;
	config.order = pow_order(opener->pow);
	config.low = opener->low;
}

/* Size of a ring page where a CPU has 1 << pow frames (bytes). */
u32 fkt_pow_page_bytes(u32 pow)
{
	return PAGE_SIZE << pow_order(pow);
}

/* Size of a page of the present or last recording (bytes). */
u32 fkt_rings_page_bytes(void)
{
	return PAGE_SIZE << config.order;
}

/* What one CPU's pages hold (bytes). */
u64 fkt_rings_bytes(void)
{
	return PAGE_SIZE << config.pow;
}
