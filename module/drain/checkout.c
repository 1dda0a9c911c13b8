// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way back of frames that were checked in: when write-back has stored them, they are removed from
 * the page cache, sorted by address, and used in rings again.
 *
 * A page that enters the page cache through an exported function is put on an LRU list, from which only
 * the kernel itself can remove it. So it must be added without that: by __filemap_add_folio(), looked
 * up by name. On some kernels (6.1) that function also charges the page to a memory cgroup, which a module cannot
 * undo when the page leaves; there, and if the name is not found, frames stay with the file. On the others (6.12) it
 * charges none, so frames of a recorder without capabilities stay with the file too, and are charged.
 *
 * No other part of the kernel holds such a frame for long: it is on no list, so it is neither reclaimed
 * nor migrated. A process that reads or maps the file takes references; a frame that still has other
 * references when it has left the page cache is given up, and freed when they are dropped.
 */

#include <linux/gfp.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/list_sort.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/spinlock.h>
#include <linux/static_call.h>
#include <linux/swap.h>
#include <linux/uaccess.h>

#include <fkt/ioctl.h>

#include "base/compat.h"
#include "ring/page_pool.h"
#include "checkout.h"

/* A direct call: the kernel may have removed the function's landing pad for indirect calls. */
DEFINE_STATIC_CALL_NULL(fkt_add_folio, __filemap_add_folio);

/* Returns the function's address, 0: not found. */
static unsigned long find_function(const char *name)
{
	/* Never armed: registered only to look up the address. */
	struct kprobe probe = { .symbol_name = name, .flags = KPROBE_FLAG_DISABLED };

	if (register_kprobe(&probe))
		return 0;
	unregister_kprobe(&probe);
	return (unsigned long)probe.addr;
}

#define CALL_BYTES 5
#define CALL_OPCODE 0xe8

/*
 * Returns whether the code of the function has a call of `target`. Calls have the target relative to their end. Other
 * bytes that look like this call are a matter of 1 in 2^32, and say that the function is not to be used.
 */
static bool has_call(unsigned long function, unsigned long target)
{
	unsigned long bytes, offset, at;
	char symbol[KSYM_SYMBOL_LEN];
	u8 code[CALL_BYTES];
	s32 to;

	/* NAME+0x0/BYTES: the only way to the size that modules have. */
	sprint_symbol(symbol, function);
	if (sscanf(strchr(symbol, '+') ?: "", "+%lx/%lx", &offset, &bytes) != 2)
		return true;
	for (at = function; at + CALL_BYTES <= function + bytes; at++) {
		if (copy_from_kernel_nofault(code, (void *)at, CALL_BYTES))
			return true;
		memcpy(&to, &code[1], sizeof(to));
		if (code[0] == CALL_OPCODE && at + CALL_BYTES + to == target)
			return true;
	}
	return false;
}

/* Finds the function that adds a folio to the page cache and to no list, if that is all it does. */
static bool find_add_folio(void)
{
	unsigned long add, charge;

	if (static_call_query(fkt_add_folio))
		return true;
	add = find_function("__filemap_add_folio");
	charge = find_function("__mem_cgroup_charge");
	if (!add || (charge ? has_call(add, charge) : IS_ENABLED(CONFIG_MEMCG)))
		return false;
	static_call_update(fkt_add_folio, (typeof(__filemap_add_folio) *)add);
	return true;
}

/*
 * Called before the first page. most: bytes of pages to keep for the rings; may: frames that are charged to
 * no memory cgroup may be in the page cache, where a process that maps the file can keep them.
 */
void fkt_checkout_start(struct fkt_checkout *checkout, u64 most, bool may)
{
	checkout->enabled = may && find_add_folio();
	checkout->frames = fkt_rings_page_bytes() / PAGE_SIZE;
	checkout->returned_limit = most / fkt_rings_page_bytes();
	checkout->pages_back = 0;
	checkout->pages_given = 0;
}

/* Returns whether frames come back. If not, of the other functions only fkt_checkout_status() may be called. */
bool fkt_checkout_can(const struct fkt_checkout *checkout)
{
	return checkout->enabled;
}

/*
 * Adds a frame to the page cache, locked, but to no LRU list; otherwise as filemap_add_folio(). Caller
 * must hold the inode's lock. -EEXIST: the page cache has another page there.
 */
int fkt_checkout_add(struct address_space *mapping, struct folio *folio, pgoff_t index, gfp_t gfp)
{
	void *shadow = NULL;
	int err;

	/* take_cached() needs the index even if adding fails. */
	folio->index = index;
	__folio_set_locked(folio);
	err = static_call(fkt_add_folio)(mapping, folio, index, gfp, &shadow);
	if (err)
		__folio_clear_locked(folio);
	return err;
}

/* All frames of a page were added to the page cache: they stay there until fkt_checkout(). */
void fkt_checkout_sent(struct fkt_checkout *checkout, struct page *frames)
{
	spin_lock(&checkout->lock);
	list_add_tail(&frames->lru, &checkout->cached);
	spin_unlock(&checkout->lock);
}

/*
 * Leaves a page's frames to the holders of other references. Frames still in the page cache become
 * ordinary page-cache pages, which are reclaimed as usual.
 */
void fkt_checkout_give_up(struct fkt_checkout *checkout, struct page *frames)
{
	u32 i;

	for (i = 0; i < checkout->frames; i++) {
		struct folio *folio = page_folio(frames + i);

		if (READ_ONCE(folio->mapping))
			folio_add_lru(folio);
		put_page(frames + i);
	}
	spin_lock(&checkout->lock);
	checkout->pages_given++;
	spin_unlock(&checkout->lock);
}

/* Returns whether all frames of a page are out of the page cache and no other reference exists. */
static bool is_back(const struct fkt_checkout *checkout, struct page *frames)
{
	const unsigned long left = PAGE_FLAGS_CHECK_AT_FREE | 1UL << PG_dirty;
	u32 i;

	for (i = 0; i < checkout->frames; i++) {
		struct folio *folio = page_folio(frames + i);

		/*
		 * In this order: a frame outside the page cache gets no new references except from
		 * lookups that find it gone and drop it unread, so a reference count of one is final.
		 */
		if (READ_ONCE(folio->mapping))
			return false;
		smp_rmb(); /* pairs with the barrier in the kernel's last put, which follows its use of the frame */
		if (folio_ref_count(folio) != 1 || (READ_ONCE(FKT_FOLIO_FLAGS(folio)) & left) ||
		    PageHWPoison(frames + i))
			return false;
	}
	return true;
}

static int by_address(void *unused, const struct list_head *a, const struct list_head *b)
{
	return list_entry(a, struct page, lru) > list_entry(b, struct page, lru);
}

/* Moves the pages that end before byte `upto` of the file to `pages`. */
static void take_cached(struct fkt_checkout *checkout, struct list_head *pages, loff_t upto)
{
	struct page *frames, *next;

	spin_lock(&checkout->lock);
	list_for_each_entry_safe(frames, next, &checkout->cached, lru) {
		if ((loff_t)(page_folio(frames)->index + checkout->frames) << PAGE_SHIFT > upto)
			break;
		list_move_tail(&frames->lru, pages);
	}
	spin_unlock(&checkout->lock);
}

/* Keeps pages for the rings; leaves those above the limit in `pages`. */
static void keep_returned(struct fkt_checkout *checkout, struct list_head *pages)
{
	struct page *frames, *next;

	list_sort(NULL, pages, by_address);
	spin_lock(&checkout->lock);
	list_for_each_entry_safe(frames, next, pages, lru) {
		checkout->pages_back++;
		if (checkout->returned_pages >= checkout->returned_limit)
			continue;
		list_move_tail(&frames->lru, &checkout->returned);
		checkout->returned_pages++;
	}
	spin_unlock(&checkout->lock);
}

static void free_pages_of(const struct fkt_checkout *checkout, struct list_head *pages)
{
	struct page *frames, *next;

	list_for_each_entry_safe(frames, next, pages, lru) {
		list_del(&frames->lru);
		fkt_frames_put(frames, checkout->frames * PAGE_SIZE);
	}
}

/*
 * Removes the pages in bytes [from, upto) of the file from the page cache. Their write-back has
 * finished, with or without an error. May sleep. Called from the synchronising thread.
 */
void fkt_checkout(struct fkt_checkout *checkout, struct address_space *mapping, loff_t from, loff_t upto)
{
	struct page *frames, *next;
	LIST_HEAD(pages);

	take_cached(checkout, &pages, upto);
	/* No page is dirty, so it does not write; pages that it cannot remove stay, and are given up. */
	invalidate_inode_pages2_range(mapping, from >> PAGE_SHIFT, (upto - 1) >> PAGE_SHIFT);
	list_for_each_entry_safe(frames, next, &pages, lru) {
		if (is_back(checkout, frames))
			continue;
		list_del(&frames->lru);
		fkt_checkout_give_up(checkout, frames);
	}
	keep_returned(checkout, &pages);
	free_pages_of(checkout, &pages);
}

/* Returns frames for a page of a CPU's ring, or NULL if none is back or the next ones are on another node. */
struct page *fkt_checkout_frames(struct fkt_checkout *checkout, unsigned int cpu)
{
	struct page *frames;

	spin_lock(&checkout->lock);
	frames = list_first_entry_or_null(&checkout->returned, struct page, lru);
	if (frames && page_to_nid(frames) != cpu_to_node(cpu)) {
		/* On another node: leave the frames for a CPU of that node. */
		list_move_tail(&frames->lru, &checkout->returned);
		frames = NULL;
	}
	if (frames) {
		list_del(&frames->lru);
		checkout->returned_pages--;
	}
	spin_unlock(&checkout->lock);
	return frames;
}

/* Called after the last page, when all pages have been checked out. */
void fkt_checkout_stop(struct fkt_checkout *checkout)
{
	struct page *frames, *next;

	list_for_each_entry_safe(frames, next, &checkout->cached, lru) {
		list_del(&frames->lru);
		fkt_checkout_give_up(checkout, frames);
	}
	free_pages_of(checkout, &checkout->returned);
	checkout->returned_pages = 0;
}

/* Lockless: the two values may be of different moments. */
void fkt_checkout_status(const struct fkt_checkout *checkout, struct fkt_status *status)
{
	status->pages_back = READ_ONCE(checkout->pages_back);
	status->pages_given = READ_ONCE(checkout->pages_given);
}
