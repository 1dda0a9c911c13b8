// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages are lent to the recording's owner, who sees them in a read-only mapping of the device and
 * gives each back by its number: for writing, compressing and sending by user space, without a copy.
 *
 * A page gets its number, which is its place in the mapping, when it is first lent, and keeps it as long as
 * the recording, unless numbers get scarce: then it loses it when it is given back. Numbers are below
 * the size of the owner's mapping. Frames are mapped one by one as they are touched. Whoever still holds one
 * when the recording has ended (a direct write, another process) keeps it: such pages do not return
 * to the pool, where the next recording, of another owner perhaps, would write into them.
 */

#include <linux/list_sort.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include "compat.h"
#include "fkt.h"

#define BATCH 64U /* pages at a time, on the stack */

/* Changed under the owner's lock; the fault handler reads them under their own spinlock. */
static DEFINE_XARRAY_ALLOC(pages);
static u32 places; /* pages that the owner's mapping has room for; 0: no mapping yet. Under xa_lock */

/* Protected by the owner's lock: */
static u32 numbered; /* pages in the array */
static struct fkt_page *ahead; /* collected, but no number was free for it */

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
	return ahead || fkt_owner_complete();
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

/* How many pages can have a number at a time. */
static u32 number_limit(void)
{
	return READ_ONCE(places) ?: FKT_MAP_PAGES;
}

/* ENOBUFS: all numbers are of pages that are lent. */
static int number_page(struct fkt_page *page)
{
	u32 number;
	int err;

	if (page->number != FKT_NO_NUMBER)
		return 0;
	err = xa_alloc(&pages, &number, page, XA_LIMIT(0, number_limit() - 1), GFP_KERNEL);
	if (err)
		return err == -EBUSY ? -ENOBUFS : err;
	page->number = number;
	numbered++;
	return 0;
}

/* From here on the fault handler does not find the page. */
static void forget_number(struct fkt_page *page)
{
	xa_erase(&pages, page->number);
	page->number = FKT_NO_NUMBER;
	numbered--;
}

/* The page gives its place in the mapping to another one. Under the owner's lock. */
static void free_place(struct file *file, struct fkt_page *page)
{
	loff_t at = (loff_t)page->number * fkt_rings_page_bytes();

	forget_number(page);
	unmap_mapping_range(file->f_mapping, at, fkt_rings_page_bytes(), 1);
}

/* Lends up to `room` pages; returns how many. */
static int take_batch(u32 *numbers, u32 room)
{
	struct fkt_page *page;
	int err;
	u32 n;

	for (n = 0; n < room; n++) {
		page = next_page();
		if (!page)
			break;
		err = number_page(page);
		if (err) {
			ahead = page;
			return n ? n : err;
		}
		page->lent = true;
		numbers[n] = page->number;
	}
	return n;
}

/* A page that the owner has let go; EINVAL: it did not have it. */
static int give_page(struct file *file, u32 number, bool written)
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
	/* Half of the numbers stay free, or those of pages that are lent: pages without one can be lent, too. */
	if (numbered > number_limit() / 2)
		free_place(file, page);
	fkt_ring_recycle(page);
	return 0;
}

static int give_batch(struct file *file, const u32 *numbers, u32 n, bool written)
{
	int err = 0;
	u32 given;

	for (given = 0; given < n; given++) {
		err = give_page(file, numbers[given], written);
		if (err)
			break;
	}
	if (given)
		fkt_tell(FKT_E_PAGES_RECYCLED, given, written ? 0 : given);
	return err;
}

/*
 * FKT_TAKE. Returns once, with what there is; poll(2) waits. EBADF: nothing is lent to this file;
 * ENOBUFS: all places of the mapping are taken by pages that are lent.
 */
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
		err = give_batch(file, numbers, n, !(lend->flags & FKT_LEND_UNWRITTEN));
		fkt_owner_unlock();
		if (err)
			return err;
	}
	return 0;
}

/* ---- the mapping ---- */

/*
 * The frame at a place of the mapping of `file` with a reference, or NULL. A mapping may outlive its
 * recording: it shows nothing of another owner's.
 *
 * Protected by the array's spinlock. A page leaves the array under it, and before it can be freed. All pages
 * of a recording leave the array after the owner was set to NULL and before the next one is set, so
 * a page that is found here belongs to the owner that is found here, and has the size that is.
 */
static struct page *find_frame(struct file *file, pgoff_t at)
{
	struct page *frame = NULL;
	struct fkt_page *page;
	u32 frames;

	xa_lock(&pages);
	if (fkt_owner_may(file, &fkt_engine_lend)) {
		frames = fkt_rings_page_bytes() / PAGE_SIZE;
		page = xa_load(&pages, at / frames);
		if (page) {
			frame = virt_to_page(page->header) + at % frames;
			get_page(frame);
		}
	}
	xa_unlock(&pages);
	return frame;
}

static vm_fault_t lend_fault(struct vm_fault *vmf)
{
	vmf->page = find_frame(vmf->vma->vm_file, vmf->pgoff);
	return vmf->page ? 0 : VM_FAULT_SIGBUS;
}

static const struct vm_operations_struct lend_vm_ops = {
	.fault = lend_fault,
};

/* Numbers are given out as far as the owner's largest mapping reaches. False: `file` is not the owner. */
static bool add_places(struct file *file, struct vm_area_struct *vma)
{
	unsigned long end = vma->vm_pgoff + vma_pages(vma);
	bool may;

	xa_lock(&pages);
	may = fkt_owner_may(file, &fkt_engine_lend);
	if (may) {
		end = min(end / (fkt_rings_page_bytes() / PAGE_SIZE), (unsigned long)FKT_MAP_PAGES);
		WRITE_ONCE(places, max_t(u32, places, end));
	}
	xa_unlock(&pages);
	return may;
}

/* .mmap of the device: all pages that will ever be lent, for reading. */
int fkt_lend_mmap(struct file *file, struct vm_area_struct *vma)
{
	if (vma->vm_flags & VM_WRITE)
		return -EACCES;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (!add_places(file, vma))
		return -EBADF;
	/* Not for children: the device would stay open for as long as they live. */
	fkt_vma_flags(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY, VM_MAYWRITE);
	vma->vm_ops = &lend_vm_ops;
	return 0;
}

/* ---- the end ---- */

static int compare_age(void *unused, const struct list_head *a, const struct list_head *b)
{
	const struct fkt_page *left = list_entry(a, struct fkt_page, node);
	const struct fkt_page *right = list_entry(b, struct fkt_page, node);

	if (left->cpu != right->cpu)
		return left->cpu < right->cpu ? -1 : 1;
	return left->header->seq < right->header->seq ? -1 : 1;
}

/*
 * The owner died: all that it has goes to `list`, oldest first, and is older than what its CPU's ring
 * has. Its file is closed, so no mapping is left; its own direct writes may still read the frames, as
 * ->lent goes on to say. Under the owner's lock.
 */
void fkt_lend_inherit(struct list_head *list)
{
	struct fkt_page *page;
	unsigned long number;

	xa_for_each(&pages, number, page) {
		if (!page->lent)
			continue;
		forget_number(page);
		list_add_tail(&page->node, list);
	}
	if (ahead)
		list_add_tail(&ahead->node, list);
	ahead = NULL;
	list_sort(NULL, list, compare_age);
}

/* Counts the events of a page that can no longer be taken or given back: they reached no output. */
static void drop_page(struct fkt_page *page)
{
	per_cpu_ptr(&fkt_cpus, page->cpu)->discarded += page->events;
	page->lent = false;
	fkt_page_unref(page);
}

/*
 * The end of the recording that `file` owned, under the owner's lock: nobody takes or gives. First nobody
 * finds a frame, then nobody has one mapped: a fault that comes in between holds a reference, and
 * the page stays out of the pool (ring.c). NULL: the file is gone, and with it every mapping of it.
 */
void fkt_lend_reset(struct file *file)
{
	struct fkt_page *page;
	unsigned long number;

	xa_for_each(&pages, number, page) {
		forget_number(page);
		if (page->lent)
			drop_page(page);
	}
	/* Not before it has left the array, if it was in it. */
	if (ahead)
		drop_page(ahead);
	ahead = NULL;
	xa_lock(&pages);
	WRITE_ONCE(places, 0);
	xa_unlock(&pages);
	if (file)
		unmap_mapping_range(file->f_mapping, 0, 0, 1);
}
