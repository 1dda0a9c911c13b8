// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages are lent to the recording's owner, who sees them in a read-only mapping of the device and
 * gives each back by its number: for writing, compressing and sending by user space, without a copy.
 *
 * A page gets its number, which is its place in the mapping, when it is first lent, and keeps it as
 * long as the recording; frames are mapped one by one as they are touched. Whoever still holds one
 * when the recording has ended (a direct write, another process) keeps it: such pages do not return
 * to the pool, where the next recording, of another owner perhaps, would write into them.
 */

#include <linux/mm.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include "compat.h"
#include "fkt.h"

#define BATCH 64U /* pages at a time, on the stack */

/* Changed under the owner's lock; the fault handler reads them under their own spinlock. */
static DEFINE_XARRAY_ALLOC(pages);
static struct fkt_page *ahead; /* collected for poll(2), not lent yet */

const struct fkt_engine fkt_engine_lend = {
	.id = FKT_ENGINE_LEND,
	.name = "lend",
};

static struct fkt_page *next_page(void)
{
	struct fkt_page *page = ahead;

	ahead = NULL;
	return page ? page : fkt_owner_collect();
}

/* Is something there to be lent? Under the owner's lock. */
bool fkt_lend_readable(void)
{
	ahead = next_page();
	return ahead;
}

/*
 * Flight recorder: the page collected ahead is its CPU's oldest, so the first that makes room; were it
 * kept while younger ones go, there would be a hole behind it. Under the owner's lock.
 */
void fkt_lend_overwrite(void)
{
	if (!ahead || !fkt_ring_short(ahead->cpu))
		return;
	per_cpu_ptr(&fkt_cpus, ahead->cpu)->overwritten += ahead->events;
	fkt_ring_recycle(ahead);
	ahead = NULL;
	fkt_tell(FKT_E_PAGES_RECYCLED, 1, 1);
}

/* ---- taking and giving ---- */

static int number_page(struct fkt_page *page)
{
	if (page->number != FKT_NO_NUMBER)
		return 0;
	return xa_alloc(&pages, &page->number, page, XA_LIMIT(0, FKT_MAP_PAGES - 1), GFP_KERNEL);
}

/* Lends up to `room` pages; returns how many. */
static int take_batch(u32 *numbers, u32 room)
{
	struct fkt_page *page;
	u32 n;

	for (n = 0; n < room; n++) {
		page = next_page();
		if (!page)
			break;
		if (number_page(page)) {
			page->number = FKT_NO_NUMBER;
			ahead = page;
			return n ? n : -ENOMEM;
		}
		page->lent = true;
		numbers[n] = page->number;
	}
	return n;
}

/* A page that the owner has let go; EINVAL: it did not have it. */
static int give_page(u32 number, bool written)
{
	struct fkt_page *page = xa_load(&pages, number);
	struct fkt_cpu *c;

	if (!page || !page->lent)
		return -EINVAL;
	page->lent = false;
	c = per_cpu_ptr(&fkt_cpus, page->cpu);
	if (written)
		c->written++;
	else
		c->discarded += page->events;
	fkt_ring_recycle(page);
	return 0;
}

static int give_batch(const u32 *numbers, u32 n, bool written)
{
	int err = 0;
	u32 i;

	for (i = 0; i < n && !err; i++)
		err = give_page(numbers[i], written);
	if (i)
		fkt_tell(FKT_E_PAGES_RECYCLED, i, written ? 0 : i);
	return err;
}

/* FKT_TAKE. Returns once, with what there is; poll(2) waits. EBADF: nothing is lent to this file. */
int fkt_lend_take(struct file *file, struct fkt_lend *lend)
{
	bool over = fkt_capture_state() == FKT_STOPPED;
	u32 __user *user = u64_to_user_ptr(lend->pages);
	u32 numbers[BATCH], room = lend->count;
	int n;

	lend->count = 0;
	lend->flags = 0;
	while (lend->count < room) {
		n = fkt_owner_lock(file, &fkt_engine_lend);
		if (!n) {
			n = take_batch(numbers, min(room - lend->count, BATCH));
			fkt_owner_unlock();
		}
		if (n < 0)
			return lend->count ? 0 : n;
		if (!n) {
			lend->flags = over ? FKT_LEND_OVER : 0;
			return 0;
		}
		/* Not under the lock. Who cannot be told what it has, has it until the end. */
		if (copy_to_user(user + lend->count, numbers, n * sizeof(*numbers)))
			return -EFAULT;
		lend->count += n;
	}
	return 0;
}

/* FKT_GIVE. EINVAL: a number that was not lent; those before it are given back. */
int fkt_lend_give(struct file *file, const struct fkt_lend *lend)
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
		err = fkt_owner_lock(file, &fkt_engine_lend);
		if (err)
			return err;
		err = give_batch(numbers, n, !(lend->flags & FKT_LEND_UNWRITTEN));
		fkt_owner_unlock();
		if (err)
			return err;
	}
	return 0;
}

/* ---- the mapping ---- */

/* The frame at a place of the mapping with a reference, or NULL. */
static struct page *find_frame(pgoff_t at)
{
	u32 frames = fkt_rings_page_bytes() / PAGE_SIZE;
	struct page *frame = NULL;
	struct fkt_page *page;

	/*
	 * The spinlock, not the owner's lock: who holds that may fault. Whoever takes a page out of the
	 * array does it under this one, before the page can be freed.
	 */
	xa_lock(&pages);
	page = xa_load(&pages, at / frames);
	if (page) {
		frame = virt_to_page(page->header) + at % frames;
		get_page(frame);
	}
	xa_unlock(&pages);
	return frame;
}

static vm_fault_t lend_fault(struct vm_fault *vmf)
{
	vmf->page = find_frame(vmf->pgoff);
	return vmf->page ? 0 : VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct lend_vm_ops = {
	.fault = lend_fault,
};

/* .mmap of the device: all pages that will ever be lent, for reading. */
int fkt_lend_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	/* A glance: without the recording the mapping shows nothing. */
	if (!fkt_owner_may(file, &fkt_engine_lend))
		return -EBADF;
	/* Not for children: the device would stay open for as long as they live. */
	fkt_vma_flags(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY, VM_MAYWRITE);
	vma->vm_ops = &lend_vm_ops;
	return 0;
}

/* ---- the end ---- */

static void forget_page(struct fkt_page *page)
{
	bool lent = page->lent;

	page->number = FKT_NO_NUMBER;
	page->lent = false;
	/* Nobody will give it back any more. */
	if (lent)
		fkt_page_unref(page);
}

/*
 * The end of the recording that `file` owned, under the owner's lock: nobody takes or gives. First nobody
 * finds a frame, then nobody has one mapped: a fault that comes in between holds a reference, and
 * the page stays out of the pool (ring.c).
 */
void fkt_lend_reset(struct file *file)
{
	struct fkt_page *page;
	unsigned long number;

	if (ahead)
		fkt_page_unref(ahead);
	ahead = NULL;
	xa_for_each(&pages, number, page) {
		xa_erase(&pages, number);
		forget_page(page);
	}
	unmap_mapping_range(file->f_mapping, 0, 0, 1);
}
