// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way back of frames that were checked in: once write-back has stored them they are taken out of
 * the page cache, sorted as they lie in memory, and go into rings again (FKT report, section 5).
 *
 * A page that enters the page cache by exported means goes onto an LRU list, which only the kernel
 * itself takes it from. So it must enter without: by __filemap_add_folio(), found by name. Before
 * 6.12 that also charges the page to a memory cgroup, for which nobody outside could account when
 * it leaves; there, and where the name is not found, frames stay with the file.
 *
 * Nobody else can have such a frame for long: it is in no list of the kernel, nothing reclaims or
 * migrates it. Who reads or maps the file has references; a frame that has more than ours when it has
 * left the page cache is given up, and freed when they are gone.
 */

#include <linux/gfp.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/list_sort.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/spinlock.h>
#include <linux/static_call.h>
#include <linux/swap.h>

#include "compat.h"
#include "drain.h"

/* A direct call: the kernel may have taken the function's landing pad for indirect ones away. */
DEFINE_STATIC_CALL_NULL(fkt_add_folio, __filemap_add_folio);

/*
 * Pages are in lists by the `lru` of their first frame, which is ours as long as the frame is on no
 * list of the kernel's.
 */
static struct {
	spinlock_t lock; /* of what follows: the drain and the synchronising thread */
	struct list_head away; /* in the page cache, in the order of the file */
	struct list_head home; /* back again, in the order of the memory */
	u32 at_home; /* pages */
	u32 most; /* ... that are kept there */
	bool can; /* this kernel lets them come back */
	u32 frames; /* of a page */
	u64 back, given; /* pages that came back, and that did not */
} out = {
	.lock = __SPIN_LOCK_UNLOCKED(out.lock),
	.away = LIST_HEAD_INIT(out.away),
	.home = LIST_HEAD_INIT(out.home),
};

static bool find_add_folio(void)
{
	/* Never armed: it is there for the address alone. */
	struct kprobe probe = { .symbol_name = FKT_ADD_FOLIO, .flags = KPROBE_FLAG_DISABLED };

	if (static_call_query(fkt_add_folio))
		return true;
	if (!probe.symbol_name || register_kprobe(&probe))
		return false;
	static_call_update(fkt_add_folio, (typeof(__filemap_add_folio) *)probe.addr);
	unregister_kprobe(&probe);
	return true;
}

/* Before the first page. most: bytes that are kept for rings to come back to. */
void fkt_checkout_start(u64 most)
{
	out.can = find_add_folio();
	out.frames = fkt_rings_page_bytes() / PAGE_SIZE;
	out.most = most / fkt_rings_page_bytes();
	out.back = 0;
	out.given = 0;
}

/* Do frames come back? If not, nothing else here but the status may be called. */
bool fkt_checkout_can(void)
{
	return out.can;
}

/*
 * Adds a frame to the page cache, locked, and on no list; as filemap_add_folio() otherwise. The
 * inode's lock is held. -EEXIST: somebody has a page there.
 */
int fkt_checkout_add(struct address_space *mapping, struct folio *folio, pgoff_t index, gfp_t gfp)
{
	void *shadow = NULL;
	int err;

	/* Says where it belongs, even if it does not get there. */
	folio->index = index;
	__folio_set_locked(folio);
	err = static_call(fkt_add_folio)(mapping, folio, index, gfp, &shadow);
	if (err)
		__folio_clear_locked(folio);
	return err;
}

/* All frames of a page are in: they are away until fkt_checkout(). */
void fkt_checkout_sent(struct page *frames)
{
	spin_lock(&out.lock);
	list_add_tail(&frames->lru, &out.away);
	spin_unlock(&out.lock);
}

/*
 * Whoever has these frames shall keep them. Those that are still in the page cache become ordinary
 * pages of it, which are reclaimed as others are.
 */
void fkt_checkout_give_up(struct page *frames)
{
	u32 i;

	for (i = 0; i < out.frames; i++) {
		struct folio *folio = page_folio(frames + i);

		if (READ_ONCE(folio->mapping))
			folio_add_lru(folio);
		put_page(frames + i);
	}
	spin_lock(&out.lock);
	out.given++;
	spin_unlock(&out.lock);
}

/* Are all frames of a page out of the page cache, and has nobody else a reference? */
static bool is_back(struct page *frames)
{
	const unsigned long left = PAGE_FLAGS_CHECK_AT_FREE | 1UL << PG_dirty;
	u32 i;

	for (i = 0; i < out.frames; i++) {
		struct folio *folio = page_folio(frames + i);

		/*
		 * In this order: a frame outside the page cache gets no new references but those of
		 * lookups that find it gone and drop it unread, so a count of one stays what it is.
		 */
		if (READ_ONCE(folio->mapping))
			return false;
		smp_rmb(); /* pairs with the barrier of the kernel's last put, which follows its use */
		if (folio_ref_count(folio) != 1 || (READ_ONCE(folio->flags) & left) ||
		    PageHWPoison(frames + i))
			return false;
	}
	return true;
}

static int by_address(void *unused, const struct list_head *a, const struct list_head *b)
{
	return list_entry(a, struct page, lru) > list_entry(b, struct page, lru);
}

/* The pages that went to before the byte `upto` of the file, into `pages`. */
static void take_away(struct list_head *pages, loff_t upto)
{
	struct page *frames, *next;

	spin_lock(&out.lock);
	list_for_each_entry_safe(frames, next, &out.away, lru) {
		if ((loff_t)(page_folio(frames)->index + out.frames) << PAGE_SHIFT > upto)
			break;
		list_move_tail(&frames->lru, pages);
	}
	spin_unlock(&out.lock);
}

/* Keeps pages for the rings; returns in the same list those that are too many. */
static void bring_home(struct list_head *pages)
{
	struct page *frames, *next;

	list_sort(NULL, pages, by_address);
	spin_lock(&out.lock);
	list_for_each_entry_safe(frames, next, pages, lru) {
		out.back++;
		if (out.at_home >= out.most)
			continue;
		list_move_tail(&frames->lru, &out.home);
		out.at_home++;
	}
	spin_unlock(&out.lock);
}

static void free_pages_of(struct list_head *pages)
{
	struct page *frames, *next;

	list_for_each_entry_safe(frames, next, pages, lru) {
		list_del(&frames->lru);
		fkt_frames_put(frames, out.frames * PAGE_SIZE);
	}
}

/*
 * Takes the pages in the bytes [from, upto) of the file out of the page cache. They have been written
 * back, whatever came of it. Sleeps. The synchronising thread.
 */
void fkt_checkout(struct address_space *mapping, loff_t from, loff_t upto)
{
	struct page *frames, *next;
	LIST_HEAD(pages);

	take_away(&pages, upto);
	/* Without a dirty page it does not write; what it cannot take out stays, and is given up. */
	invalidate_inode_pages2_range(mapping, from >> PAGE_SHIFT, (upto - 1) >> PAGE_SHIFT);
	list_for_each_entry_safe(frames, next, &pages, lru) {
		if (is_back(frames))
			continue;
		list_del(&frames->lru);
		fkt_checkout_give_up(frames);
	}
	bring_home(&pages);
	free_pages_of(&pages);
}

/* Frames for a page of a CPU's ring, or NULL: none is back, or only on other nodes. */
struct page *fkt_checkout_frames(unsigned int cpu)
{
	struct page *frames;

	spin_lock(&out.lock);
	frames = list_first_entry_or_null(&out.home, struct page, lru);
	if (frames && page_to_nid(frames) != cpu_to_node(cpu)) {
		/* Another CPU's turn may come. */
		list_move_tail(&frames->lru, &out.home);
		frames = NULL;
	}
	if (frames) {
		list_del(&frames->lru);
		out.at_home--;
	}
	spin_unlock(&out.lock);
	return frames;
}

/* After the last page, when all have been checked out. */
void fkt_checkout_stop(void)
{
	struct page *frames, *next;

	list_for_each_entry_safe(frames, next, &out.away, lru) {
		list_del(&frames->lru);
		fkt_checkout_give_up(frames);
	}
	free_pages_of(&out.home);
	out.at_home = 0;
}

/* Lockless: a glance. */
void fkt_checkout_status(struct fkt_status *status)
{
	status->pages_back = READ_ONCE(out.back);
	status->pages_given = READ_ONCE(out.given);
}
