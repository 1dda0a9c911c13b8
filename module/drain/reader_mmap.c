// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lends pages to the recording's owner, which reads them in a read-only mapping of the device and gives
 * each back by its number: user space can write, compress or send them without a copy.
 *
 * A page gets its number, which is its place in the mapping, when it is first lent, and keeps it for
 * the whole recording, unless numbers get scarce: then it loses its number when it is given back.
 * Numbers are limited by the size of the owner's mapping. Frames are mapped one by one when they are
 * first accessed. A frame that is still referenced when the recording has ended (by a direct write or
 * another process) stays with the holder of that reference: such pages do not return to the pool, where
 * the next recording, of another owner perhaps, would write into them.
 */

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/list_sort.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/wire.h>

#include "base/compat.h"
#include "ring/cpu_ring.h"
#include "ring/page_pool.h"
#include "ring/self.h"
#include "engine.h"
#include "reader.h"
#include "reader_mmap.h"
#include "recording.h"

#define BATCH 64U /* pages handled at a time, in an array on the stack */

static struct fkt_page *next_page(struct fkt_recording *rec)
{
	struct fkt_lent *lent = &rec->lent;
	struct fkt_page *page = lent->ahead;

	lent->ahead = NULL;
	return page ? page : fkt_reader_collect(rec);
}

static bool lend_readable(struct fkt_recording *rec)
{
	return rec->lent.ahead || fkt_reader_complete(rec);
}

/*
 * Flight recorder: the page collected ahead is its CPU's oldest, so it must be overwritten first. If it
 * stayed while younger pages are overwritten, there would be a hole after it.
 */
static void lend_overwrite(struct fkt_recording *rec)
{
	struct fkt_lent *lent = &rec->lent;

	if (!lent->ahead || !fkt_ring_short(lent->ahead->cpu))
		return;
	per_cpu_ptr(&fkt_cpus, lent->ahead->cpu)->overwritten += lent->ahead->events;
	fkt_ring_recycle(lent->ahead);
	lent->ahead = NULL;
	fkt_tell(FKT_E_PAGES_RECYCLED, 1, 1);
}

/* ---- taking and giving ---- */

/* Largest number of pages that can have a number at a time. */
static u32 number_limit(const struct fkt_lent *lent)
{
	return READ_ONCE(lent->places) ?: FKT_MAP_PAGES;
}

/* -ENOBUFS: all numbers belong to pages that are lent. */
static int number_page(struct fkt_lent *lent, struct fkt_page *page)
{
	u32 number;
	int err;

	if (page->number != FKT_NO_NUMBER)
		return 0;
	err = xa_alloc(&lent->pages, &number, page, XA_LIMIT(0, number_limit(lent) - 1), GFP_KERNEL_ACCOUNT);
	if (err)
		return err == -EBUSY ? -ENOBUFS : err;
	page->number = number;
	lent->numbered++;
	return 0;
}

/* From here on the fault handler does not find the page. */
static void forget_number(struct fkt_lent *lent, struct fkt_page *page)
{
	xa_erase(&lent->pages, page->number);
	page->number = FKT_NO_NUMBER;
	lent->numbered--;
}

/*
 * Takes the page's number away, so that another page can have its place in the mapping. Caller must
 * hold the reader's lock.
 */
static void free_place(struct fkt_lent *lent, struct file *file, struct fkt_page *page)
{
	loff_t at = (loff_t)page->number * fkt_rings_page_bytes();

	forget_number(lent, page);
	unmap_mapping_range(file->f_mapping, at, fkt_rings_page_bytes(), 1);
}

/* Lends up to `room` pages; returns how many, or a negative errno if none could be lent. */
static int take_batch(struct fkt_recording *rec, u32 *numbers, u32 room)
{
	struct fkt_lent *lent = &rec->lent;
	struct fkt_page *page;
	int err;
	u32 n;

	for (n = 0; n < room; n++) {
		page = next_page(rec);
		if (!page)
			break;
		err = number_page(lent, page);
		if (err) {
			lent->ahead = page;
			return n ? n : err;
		}
		page->lent = true;
		page->turn = READ_ONCE(rec->closed) ? ++lent->taken : 0;
		numbers[n] = page->number;
	}
	return n;
}

/* Takes back a page from the owner; -EINVAL if it was not lent. */
static int give_page(struct fkt_lent *lent, struct file *file, u32 number, bool written)
{
	struct fkt_page *page = xa_load(&lent->pages, number);
	struct fkt_cpu *c;

	if (!page || !page->lent)
		return -EINVAL;
	page->lent = false;
	c = per_cpu_ptr(&fkt_cpus, page->cpu);
	if (written)
		c->written++;
	else
		c->discarded += page->events;
	if (page->turn && written)
		lent->written++;
	lent->gave_up |= page->turn && !written;
	/*
	 * Keep at least half of the numbers free or on lent pages, so that pages without a number can
	 * be lent too.
	 */
	if (lent->numbered > number_limit(lent) / 2)
		free_place(lent, file, page);
	fkt_ring_recycle(page);
	return 0;
}

static int give_batch(struct fkt_lent *lent, struct file *file, const u32 *numbers, u32 n, bool written)
{
	int err = 0;
	u32 given;

	for (given = 0; given < n; given++) {
		err = give_page(lent, file, numbers[given], written);
		if (err)
			break;
	}
	if (given)
		fkt_tell(FKT_E_PAGES_RECYCLED, given, written ? 0 : given);
	return err;
}

/*
 * FKT_TAKE. Returns at once with the pages available; the caller waits with poll(2). -EBADF: this file
 * has no recording that lends pages; -ENOBUFS: all places of the mapping belong to pages that are lent.
 */
int fkt_reader_take(struct fkt_recording *rec, struct file *file, struct fkt_lend *lend)
{
	bool over = fkt_recording_state(rec) == FKT_STOPPED;
	u32 __user *user = u64_to_user_ptr(lend->pages);
	u32 numbers[BATCH], room = lend->count;
	int n;

	lend->count = 0;
	lend->flags = 0;
	while (lend->count < room) {
		n = fkt_reader_lock(rec, file, FKT_TAKES_LENT);
		if (!n) {
			n = take_batch(rec, numbers, min(room - lend->count, BATCH));
			fkt_reader_unlock(rec);
		}
		if (n < 0)
			return lend->count ? 0 : n;
		if (!n) {
			lend->flags = over ? FKT_LEND_OVER : 0;
			return 0;
		}
		/*
		 * Outside the lock. If copying fails, the owner keeps these pages until the end of the
		 * recording.
		 */
		if (copy_to_user(user + lend->count, numbers, n * sizeof(*numbers)))
			return -EFAULT;
		lend->count += n;
	}
	return 0;
}

/* FKT_GIVE. -EINVAL: a number that was not lent; the pages before it in the array are given back. */
int fkt_reader_give(struct fkt_recording *rec, struct file *file, const struct fkt_lend *lend)
{
	const u32 __user *user = u64_to_user_ptr(lend->pages);
	u32 numbers[BATCH], given, n;
	int err;

	if (lend->flags & ~FKT_LEND_UNWRITTEN)
		return -EINVAL;
	for (given = 0; given < lend->count; given += n) {
		n = min(lend->count - given, BATCH);
		if (copy_from_user(numbers, user + given, n * sizeof(*numbers)))
			return -EFAULT;
		err = given ? fkt_reader_lock_again(rec, file, FKT_TAKES_LENT) :
			      fkt_reader_lock(rec, file, FKT_TAKES_LENT);
		if (err)
			return err;
		err = give_batch(&rec->lent, file, numbers, n, !(lend->flags & FKT_LEND_UNWRITTEN));
		fkt_reader_unlock(rec);
		if (err)
			return err;
	}
	return 0;
}

/* ---- the mapping ---- */

/*
 * Returns the frame at a place of the mapping of `file`, with a reference, or NULL. A mapping may
 * outlive its recording; it must not show pages of another owner.
 *
 * Protected by the array's spinlock: a page leaves the array under it, and before it can be freed. All
 * pages of a recording leave the array after the owner was set to NULL and before the next owner is
 * set, so a page found here belongs to the owner checked here, and has the page size read here.
 */
static struct page *find_frame(struct fkt_recording *rec, struct file *file, pgoff_t at)
{
	struct fkt_lent *lent = &rec->lent;
	struct page *frame = NULL;
	struct fkt_page *page;
	u32 frames;

	xa_lock(&lent->pages);
	if (fkt_reader_may(rec, file, FKT_TAKES_LENT)) {
		frames = fkt_rings_page_bytes() / PAGE_SIZE;
		page = xa_load(&lent->pages, at / frames);
		if (page) {
			frame = virt_to_page(page->header) + at % frames;
			get_page(frame);
		}
	}
	xa_unlock(&lent->pages);
	return frame;
}

static vm_fault_t lend_fault(struct vm_fault *vmf)
{
	struct file *file = vmf->vma->vm_file;

	vmf->page = find_frame(fkt_recording_of(file), file, vmf->pgoff);
	return vmf->page ? 0 : VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct lend_vm_ops = {
	.fault = lend_fault,
};

/* Raises the number limit to what this mapping has room for. Returns false if `file` is not the owner. */
static bool add_places(struct fkt_recording *rec, struct file *file, struct vm_area_struct *vma)
{
	struct fkt_lent *lent = &rec->lent;
	unsigned long end = vma->vm_pgoff + vma_pages(vma);
	bool may;

	xa_lock(&lent->pages);
	may = fkt_reader_may(rec, file, FKT_TAKES_LENT);
	if (may) {
		end = min(end / (fkt_rings_page_bytes() / PAGE_SIZE), (unsigned long)FKT_MAP_PAGES);
		WRITE_ONCE(lent->places, max_t(u32, lent->places, end));
	}
	xa_unlock(&lent->pages);
	return may;
}

/* mmap of the device: a read-only mapping of all pages that will be lent. */
int fkt_reader_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (!add_places(fkt_recording_of(file), file, vma))
		return -EBADF;
	/* Not inherited by children: the mapping would keep the device open for as long as they live. */
	fkt_vma_flags(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY, VM_MAYWRITE);
	vma->vm_ops = &lend_vm_ops;
	return 0;
}

/* ---- the end ---- */

static int compare_age(void *unused, const struct list_head *a, const struct list_head *b)
{
	const struct fkt_page *left = list_entry(a, struct fkt_page, node);
	const struct fkt_page *right = list_entry(b, struct fkt_page, node);

	if (left->turn != right->turn)
		return left->turn < right->turn ? -1 : 1;
	if (left->cpu != right->cpu)
		return left->cpu < right->cpu ? -1 : 1;
	return left->header->seq < right->header->seq ? -1 : 1;
}

/*
 * Returns whether the dead owner has left pages that belong in the output. Not if it had given up: then its output
 * takes no more. Pages of an unfinished snapshot alone are not worth a file.
 */
static bool lend_left(struct fkt_recording *rec)
{
	const struct fkt_lent *lent = &rec->lent;

	return !lent->gave_up && (lent->taken > lent->written || lend_readable(rec));
}

/*
 * The owner died: moves all its pages to `list`, oldest first; they are older than those in
 * their CPU's ring. Its file is closed, so no mapping is left, but its direct writes may still read the
 * frames: ->lent stays set for that.
 *
 * Pages lent since the stop come in the order in which the owner writes them: if one of its writes is still under way,
 * it writes the same page to the same place. Returns how many of these pages the owner has written, which are the first
 * ones. If there are such pages, those of an earlier snapshot are not moved: their place is taken.
 */
static u32 lend_inherit(struct fkt_recording *rec, struct list_head *list)
{
	struct fkt_lent *lent = &rec->lent;
	struct fkt_page *page;
	unsigned long number;

	xa_for_each(&lent->pages, number, page) {
		if (!page->lent || (lent->taken && !page->turn))
			continue;
		forget_number(lent, page);
		list_add_tail(&page->node, list);
	}
	if (lent->ahead) {
		lent->ahead->turn = lent->taken ? lent->taken + 1 : 0;
		list_add_tail(&lent->ahead->node, list);
	}
	lent->ahead = NULL;
	list_sort(NULL, list, compare_age);
	return lent->written;
}

/*
 * Drops a page that can no longer be taken or given back, and counts its events: they were not written
 * to the output.
 */
static void drop_page(struct fkt_page *page)
{
	per_cpu_ptr(&fkt_cpus, page->cpu)->discarded += page->events;
	page->lent = false;
	fkt_page_unref(page);
}

/*
 * Ends the lending. Under the reader's lock, so no page is taken or given meanwhile. First the pages
 * leave the array, so that the fault handler finds none; then existing mappings are removed. A fault in
 * between holds a reference to its frame, which keeps the page out of the pool (fkt_page_alone()). A
 * closed file has no mapping.
 */
static void lend_reset(struct fkt_recording *rec, struct file *owner)
{
	struct fkt_lent *lent = &rec->lent;
	struct fkt_page *page;
	unsigned long number;

	xa_for_each(&lent->pages, number, page) {
		forget_number(lent, page);
		if (page->lent)
			drop_page(page);
	}
	/* After the array was emptied: `ahead` may have been in it. */
	if (lent->ahead)
		drop_page(lent->ahead);
	lent->ahead = NULL;
	lent->taken = 0;
	lent->written = 0;
	lent->gave_up = false;
	xa_lock(&lent->pages);
	WRITE_ONCE(lent->places, 0);
	xa_unlock(&lent->pages);
	if (owner)
		unmap_mapping_range(owner->f_mapping, 0, 0, 1);
}

const struct fkt_engine fkt_engine_uring = {
	.id = FKT_ENGINE_URING,
	.takes = FKT_TAKES_LENT,
	.refills = true,
	.readable = lend_readable,
	.overwrite = lend_overwrite,
	.left = lend_left,
	.inherit = lend_inherit,
	.reset = lend_reset,
};
