// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page-cache check-in: the frames that the probes wrote become the output file's page-cache pages. The file system's
 * write_begin finds them there, up to date, so nothing is copied; write-back stores them later.
 *
 * The ring page gets other frames at once: frames that have come back from the page cache if the kernel allows that
 * (checkout.c), or the same number of newly allocated consecutive ones. Where no frames come back, the old ones belong
 * to the page cache, and the kernel reclaims them like those of any other file.
 *
 * Write-back by itself would start only when memory fills up. A synchronising thread starts it when
 * three quarters of a ring's worth of bytes are waiting, so that neither memory nor the disk's queue
 * fills at once; the drain itself never waits for it.
 */

#include <linux/backing-dev.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/freezer.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/uio.h>
#include <linux/wait.h>
#include <linux/writeback.h>

#include <fkt/ioctl.h>
#include <fkt/wire.h>

#include "base/compat.h"
#include "ring/filter.h"
#include "ring/page_pool.h"
#include "checkin.h"
#include "checkout.h"
#include "engine.h"
#include "page_index.h"
#include "recording.h"
#include "write_at.h"
#include "writeout.h"

/* ---- write-back ---- */

/* The mapping keeps errors; the recorder's fsync reports them. */
static void write_back(struct fkt_writeback *writeback, loff_t upto)
{
	struct address_space *mapping = writeback->out->f_mapping;

	if (upto <= writeback->started)
		return;
	if (fkt_checkout_can(&writeback->checkout)) {
		filemap_write_and_wait_range(mapping, writeback->started, upto - 1);
		fkt_checkout(&writeback->checkout, mapping, writeback->started, upto);
	} else {
		filemap_fdatawrite_range(mapping, writeback->started, upto - 1);
	}
	writeback->started = upto;
}

static int sync_thread(void *data)
{
	struct fkt_writeback *writeback = data;
	bool stop;

	/* Nothing is written back while the machine is about to sleep; the freezer waits for writes under way. */
	set_freezable();
	do {
		/* Kernel threads receive no signals, so this does not fail. */
		wait_event_freezable(writeback->wait,
				     READ_ONCE(writeback->stop) || READ_ONCE(writeback->asked) > writeback->started);
		/* Pairs with the store-release in checkin_stop(): the last value of `asked` is seen. */
		stop = smp_load_acquire(&writeback->stop);
		write_back(writeback, READ_ONCE(writeback->asked));
	} while (!stop);
	complete(&writeback->ended);
	return 0;
}

/*
 * Returns whether the engine can write to this file. Its file system must use the classic page-cache
 * operations, and must not attach private data to its pages that these frames lack, as network file
 * systems, FUSE and tmpfs do.
 */
bool fkt_checkin_possible(struct file *out)
{
	const struct address_space_operations *ops = out->f_mapping->a_ops;
	const struct inode *inode = out->f_mapping->host;

	/* One magic for ext2, ext3 and ext4. */
	if (!S_ISBLK(inode->i_mode) && inode->i_sb->s_magic != EXT4_SUPER_MAGIC)
		return false;
	return ops->write_begin && ops->write_end && mapping_can_writeback(out->f_mapping);
}

static int checkin_start(struct fkt_recording *rec, struct file *out, loff_t start, u64 ring_bytes, bool charged)
{
	struct fkt_writeback *writeback = &rec->writeback;
	struct task_struct *task;

	writeback->out = out;
	writeback->written = start;
	writeback->asked = start;
	writeback->started = start;
	writeback->batch = ring_bytes - ring_bytes / 4;
	writeback->copied = 0;
	writeback->stop = false;
	init_completion(&writeback->ended);
	task = kthread_create(sync_thread, writeback, "fkt_sync");
	if (IS_ERR(task))
		return PTR_ERR(task);
	fkt_checkout_start(&writeback->checkout, ring_bytes, !charged);
	fkt_page_index_start(&rec->drain.index);
	get_task_struct(task);
	fkt_filter_own(task);
	writeback->task = task;
	wake_up_process(task);
	return 0;
}

/*
 * Writes back and checks out the remaining frames if frames come back; otherwise their write-back is
 * left to the recorder's fsync.
 */
static void checkin_stop(struct fkt_recording *rec)
{
	struct fkt_writeback *writeback = &rec->writeback;

	if (!writeback->task)
		return;
	if (fkt_checkout_can(&writeback->checkout))
		WRITE_ONCE(writeback->asked, writeback->written);
	/* Pairs with the load-acquire in sync_thread(). */
	smp_store_release(&writeback->stop, true);
	wake_up(&writeback->wait);
	/* As in fkt_drain_stop(): a thread that is told to stop while it writes is refused by file systems. */
	wait_for_completion(&writeback->ended);
	kthread_stop(writeback->task);
	put_task_struct(writeback->task);
	writeback->task = NULL;
	fkt_checkout_stop(&writeback->checkout);
}

static void ask_for_writeback(struct fkt_writeback *writeback, loff_t upto)
{
	writeback->written = upto;
	if (upto - writeback->asked < writeback->batch)
		return;
	WRITE_ONCE(writeback->asked, upto);
	wake_up(&writeback->wait);
}

/* ---- check-in ---- */

/* Copies a frame if the page cache already has another page there, because a process reads the file. */
static void copy_frame(struct fkt_writeback *writeback, struct page *to, struct page *from)
{
	if (to == from)
		return;
	memcpy(page_address(to), page_address(from), PAGE_SIZE);
	flush_dcache_page(to);
	writeback->copied += PAGE_SIZE;
}

static int add_to_cache(const struct fkt_writeback *writeback, struct address_space *mapping, struct folio *folio,
			pgoff_t index)
{
	gfp_t gfp = mapping_gfp_constraint(mapping, GFP_KERNEL) | __GFP_WRITE;

	return fkt_checkout_can(&writeback->checkout) ? fkt_checkout_add(mapping, folio, index, gfp) :
							filemap_add_folio(mapping, folio, index, gfp);
}

/*
 * Makes the frame the file's page at `pos`, or copies it there if `keep` is set. Caller must hold the
 * inode's lock.
 */
static int checkin_frame(struct fkt_writeback *writeback, loff_t pos, struct page *frame, bool keep)
{
	struct file *out = writeback->out;
	struct address_space *mapping = out->f_mapping;
	struct folio *folio = page_folio(frame);
	fkt_cache_page *found;
	pgoff_t index = pos >> PAGE_SHIFT;
	void *fsdata = NULL;
	int err, added = -EEXIST;
	struct kiocb iocb;

	if (!keep)
		added = add_to_cache(writeback, mapping, folio, index);
	if (!added) {
		folio_mark_uptodate(folio);
		folio_unlock(folio);
	} else if (added != -EEXIST) {
		return added;
	}
	fkt_write_at(&iocb, out, pos);
	err = mapping->a_ops->write_begin(FKT_WRITER(&iocb), mapping, pos, PAGE_SIZE, &found, &fsdata);
	if (err) {
		/* Remove the page: readers must not find data in the cache that will not be on the disk. */
		if (!added)
			invalidate_inode_pages2_range(mapping, index, index);
		return err;
	}
	copy_frame(writeback, fkt_cache_frame(found, pos), frame);
	err = mapping->a_ops->write_end(FKT_WRITER(&iocb), mapping, pos, PAGE_SIZE, PAGE_SIZE, found, fsdata);
	return err < 0 ? err : err == PAGE_SIZE ? 0 : -EIO;
}

/*
 * Does what write(2) checks and does before it changes a file: size limits, swap files, immutable
 * files; removes set-uid and set-gid bits and capabilities if f_cred (which this thread uses) is not
 * privileged; updates the times. Caller must hold the inode's lock.
 */
static int prepare_write(struct file *out, loff_t pos, u32 bytes)
{
	struct inode *inode = out->f_mapping->host;
	struct iov_iter iter;
	struct kiocb iocb;
	ssize_t most;

	if (IS_IMMUTABLE(inode))
		return -EPERM;
	fkt_write_at(&iocb, out, pos);
	/* Only the number of bytes is used. */
	iov_iter_bvec(&iter, ITER_SOURCE, NULL, 0, bytes);
	most = generic_write_checks(&iocb, &iter);
	if (most != bytes)
		return most < 0 ? most : -EFBIG;
	return file_modified(out);
}

/* Checks in all frames of a page at `pos`; returns their bytes, or an error if not all were checked in. */
static ssize_t checkin_page(struct fkt_writeback *writeback, loff_t pos, struct page *frames, u32 bytes, bool keep)
{
	struct file *out = writeback->out;
	struct inode *inode = out->f_mapping->host;
	u32 done = 0;
	int err;

	file_start_write(out);
	inode_lock(inode);
	err = prepare_write(out, pos, bytes);
	for (; !err && done < bytes; done += PAGE_SIZE) {
		err = checkin_frame(writeback, pos + done, frames + done / PAGE_SIZE, keep);
		if (err)
			break;
	}
	inode_unlock(inode);
	file_end_write(out);
	balance_dirty_pages_ratelimited(out->f_mapping);
	return err ? err : done;
}

/* Gives the page other frames, if possible some that have come back from the page cache. */
static int renew(struct fkt_writeback *writeback, struct fkt_page *page)
{
	struct fkt_checkout *checkout = &writeback->checkout;
	struct page *frames = fkt_checkout_can(checkout) ? fkt_checkout_frames(checkout, page->cpu) : NULL;

	if (!frames)
		return fkt_page_renew(page);
	page->header = page_address(frames);
	return 0;
}

/*
 * Writes a page and gives it other frames. *gone: set if its old frames, and their content, no longer
 * belong to it.
 */
static int write_page(struct fkt_chunk *chunk, loff_t pos, struct fkt_page *page, bool *gone)
{
	struct fkt_writeback *writeback = &chunk->recording->writeback;
	struct fkt_page_header *header = page->header;
	struct page *frames = virt_to_page(header);
	ssize_t ret;

	/*
	 * Get other frames first: a page without frames could never return to its ring. If memory is
	 * short, there may be no such run of consecutive frames: then the page keeps its own, and they are
	 * copied to single frames allocated by the file system.
	 */
	*gone = !renew(writeback, page);
	ret = checkin_page(writeback, pos, frames, fkt_rings_page_bytes(), !*gone);
	/* While the frames still belong to the page. */
	if (ret > 0)
		fkt_page_index_add(&chunk->recording->drain.index, header);
	if (!*gone)
		return min_t(ssize_t, ret, 0);
	if (!fkt_checkout_can(&writeback->checkout))
		fkt_frames_put(frames, fkt_rings_page_bytes());
	else if (ret < 0)
		fkt_checkout_give_up(&writeback->checkout, frames);
	else
		fkt_checkout_sent(&writeback->checkout, frames);
	return min_t(ssize_t, ret, 0);
}

static void checkin_write(struct fkt_chunk *chunk)
{
	u32 page_bytes = fkt_rings_page_bytes();
	int err = 0;
	bool gone;
	u32 i;

	/* Called again for the rest, after a page failed whose old frames are gone: it cannot be written again. */
	if (chunk->written && chunk->error) {
		fkt_chunk_written(chunk, chunk->error);
		return;
	}
	chunk->error = 0;
	for (i = chunk->written / page_bytes; i < chunk->count; i++) {
		err = write_page(chunk, chunk->pos + (loff_t)i * page_bytes, chunk->pages[i],
				 &gone);
		if (err)
			break;
	}
	if (err && gone)
		chunk->error = err;
	ask_for_writeback(&chunk->recording->writeback, chunk->pos + (loff_t)i * page_bytes);
	i -= chunk->written / page_bytes;
	fkt_chunk_written(chunk, i ? (ssize_t)i * page_bytes : err);
}

/* Lockless: the drain thread may add to the value meanwhile. */
static void checkin_status(const struct fkt_recording *rec, struct fkt_status *status)
{
	status->bytes_copied = READ_ONCE(rec->writeback.copied);
	fkt_checkout_status(&rec->writeback.checkout, status);
}

const struct fkt_engine fkt_engine_checkin = {
	.id = FKT_ENGINE_CHECKIN,
	.start = checkin_start,
	.stop = checkin_stop,
	.write = checkin_write,
	.status = checkin_status,
};
