// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page-cache check-in, the 2005 system's own technique (FKT report, section 5): the frames that the
 * probes wrote become the output file's page-cache pages. The file system's write_begin finds them
 * there, up to date, so nothing is copied; write-back stores them when it will.
 *
 * The frames are donated: today's kernels keep every page that entered the page cache by exported
 * means on the LRU list, from which only they can take it, so it must not enter a second time. The
 * ring page gets fresh frames instead, as many in a row. (The 2005 system took its pages out again;
 * that takes private symbols now, or an extra page per page.)
 *
 * Write-back on its own would come when memory fills up. A synchronising thread starts it when three
 * quarters of a ring's worth is waiting, so that neither memory nor the disk's queue is flooded at
 * once; the drain itself never waits for it (FKT report, section 8.1).
 */

#include <linux/backing-dev.h>
#include <linux/cred.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/writeback.h>

#include "compat.h"
#include "drain.h"

static struct {
	struct task_struct *task;
	wait_queue_head_t wait;
	struct file *out;
	loff_t asked; /* write-back is wanted up to here; written by the drain */
	loff_t started; /* ... and was started up to here; the thread's own */
	loff_t batch; /* bytes that may wait before it is asked for */
	u64 copied; /* bytes: frames that somebody else had in the page cache already */
} sync = {
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(sync.wait),
};

/* ---- write-back ---- */

static int sync_thread(void *data)
{
	struct address_space *mapping = sync.out->f_mapping;

	while (!kthread_should_stop()) {
		loff_t upto;

		wait_event_idle(sync.wait, kthread_should_stop() ||
						   READ_ONCE(sync.asked) > sync.started);
		upto = READ_ONCE(sync.asked);
		if (upto <= sync.started)
			continue;
		/* Errors stay with the mapping; the recorder's fsync reports them. */
		filemap_fdatawrite_range(mapping, sync.started, upto - 1);
		sync.started = upto;
	}
	return 0;
}

/*
 * Can this file take pages? Its file system must use the classic page-cache operations, and only for
 * its own pages: others (network file systems, FUSE, tmpfs) attach meanings to them that ours lack.
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

static int checkin_start(struct file *out, loff_t start, u64 ring_bytes)
{
	struct task_struct *task;

	sync.out = out;
	sync.asked = start;
	sync.started = start;
	sync.batch = ring_bytes - ring_bytes / 4;
	sync.copied = 0;
	task = kthread_create(sync_thread, NULL, "fkt_sync");
	if (IS_ERR(task))
		return PTR_ERR(task);
	fkt_filter_own(task);
	sync.task = task;
	wake_up_process(task);
	return 0;
}

static void checkin_stop(void)
{
	if (sync.task)
		kthread_stop(sync.task);
	sync.task = NULL;
}

static void ask_for_writeback(loff_t upto)
{
	if (upto - sync.asked < sync.batch)
		return;
	WRITE_ONCE(sync.asked, upto);
	wake_up(&sync.wait);
}

/* ---- check-in ---- */

/* Somebody reads the file and has this page cached: then the bytes go there, the old way. */
static void copy_frame(struct page *to, struct page *from)
{
	if (to == from)
		return;
	memcpy(page_address(to), page_address(from), PAGE_SIZE);
	flush_dcache_page(to);
	sync.copied += PAGE_SIZE;
}

/* Makes the frame the file's page at `pos`; under the inode's lock. */
static int checkin_frame(struct file *out, loff_t pos, struct page *frame)
{
	struct address_space *mapping = out->f_mapping;
	struct folio *folio = page_folio(frame);
	fkt_cache_page *found;
	pgoff_t index = pos >> PAGE_SHIFT;
	void *fsdata = NULL;
	int err, added;

	added = filemap_add_folio(mapping, folio, index,
				  mapping_gfp_constraint(mapping, GFP_KERNEL) | __GFP_WRITE);
	if (!added) {
		folio_mark_uptodate(folio);
		folio_unlock(folio);
	} else if (added != -EEXIST) {
		return added;
	}
	err = mapping->a_ops->write_begin(out, mapping, pos, PAGE_SIZE, &found, &fsdata);
	if (err) {
		/* Nobody shall read from the cache what the disk will not have. */
		if (!added)
			invalidate_inode_pages2_range(mapping, index, index);
		return err;
	}
	copy_frame(fkt_cache_frame(found, pos), frame);
	err = mapping->a_ops->write_end(out, mapping, pos, PAGE_SIZE, PAGE_SIZE, found, fsdata);
	return err < 0 ? err : err == PAGE_SIZE ? 0 : -EIO;
}

/* All frames of a page, from `pos` on; returns their bytes, or an error if not all are in. */
static ssize_t checkin_page(struct file *out, loff_t pos, struct page *frames, u32 bytes)
{
	struct inode *inode = out->f_mapping->host;
	u32 done;
	int err = 0;

	file_start_write(out);
	inode_lock(inode);
	for (done = 0; done < bytes; done += PAGE_SIZE) {
		err = checkin_frame(out, pos + done, frames + done / PAGE_SIZE);
		if (err)
			break;
	}
	inode_unlock(inode);
	file_end_write(out);
	balance_dirty_pages_ratelimited(out->f_mapping);
	return err ? err : done;
}

static void checkin_write(struct fkt_drain *drain, struct fkt_chunk *chunk)
{
	u32 page_bytes = fkt_rings_page_bytes();
	ssize_t ret = 0;
	u32 i;

	/* Called again for the rest, after a page whose old frames are gone: no second attempt. */
	if (chunk->written && chunk->error) {
		fkt_drain_written(chunk, chunk->error);
		return;
	}
	chunk->error = 0;
	for (i = chunk->written / page_bytes; i < chunk->count; i++) {
		struct page *frames = virt_to_page(chunk->pages[i]->header);

		/* Fresh frames first: a page without any could never come back to its ring. */
		ret = fkt_page_renew(chunk->pages[i]);
		if (ret)
			break;
		ret = checkin_page(chunk->out, chunk->pos + (loff_t)i * page_bytes, frames,
				   page_bytes);
		fkt_frames_put(frames, page_bytes);
		if (ret != page_bytes) {
			chunk->error = ret;
			break;
		}
	}
	ask_for_writeback(chunk->pos + (loff_t)i * page_bytes);
	i -= chunk->written / page_bytes;
	fkt_drain_written(chunk, i ? (ssize_t)i * page_bytes : ret < 0 ? ret : -EIO);
}

/* Bytes that had to be copied after all. */
u64 fkt_checkin_copied(void)
{
	return sync.copied;
}

const struct fkt_engine fkt_engine_checkin = {
	.id = FKT_ENGINE_CHECKIN,
	.name = "checkin",
	.start = checkin_start,
	.stop = checkin_stop,
	.write = checkin_write,
};
