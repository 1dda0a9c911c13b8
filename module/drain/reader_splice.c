// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages leave by the owner's own calls: splice(2) and sendfile(2) hand out the frames themselves,
 * read(2) copies. For pipes, sockets, and files that the kernel thread cannot write to.
 *
 * A spliced frame comes back when its pipe buffer is released, but the network stack may hold it
 * longer, and does not report when it is done: the page returns to its ring only when no other
 * reference to any of its frames is left. The page descriptor counts the pipe buffers; the drain thread
 * polls the frames' reference counts.
 *
 * If a buffer is released before all of it was taken (sendfile(2) drops what it has read and could not
 * write when a signal comes), its page is marked: those bytes are handed out again before any others.
 */

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/pipe_fs_i.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/splice.h>
#include <linux/uio.h>
#include <linux/wait.h>

#include <fkt/events.h>
#include <fkt/wire.h>

#include "ring/cpu_ring.h"
#include "ring/page_pool.h"
#include "ring/self.h"
#include "ring/wake.h"
#include "engine.h"
#include "reader.h"
#include "reader_splice.h"
#include "recording.h"

/* ---- the next page ---- */

/* Marks the bytes of the page from `at` on to be handed out again. */
static void mark_unsent(struct fkt_page *page, u32 at)
{
	spin_lock(&page->fetch->mark_lock);
	page->unsent = min(page->unsent, at);
	page->fetch->marked = true;
	spin_unlock(&page->fetch->mark_lock);
}

/* Clears the mark; returns its position, FKT_ALL_SENT if there was none. */
static u32 take_mark(struct fkt_page *page)
{
	u32 at;

	spin_lock(&page->fetch->mark_lock);
	at = page->unsent;
	page->unsent = FKT_ALL_SENT;
	spin_unlock(&page->fetch->mark_lock);
	return at;
}

/*
 * Marks what was not handed out, too, of the page being fetched. In one step with a mark that the release of a buffer
 * sets on another CPU, and that may be of an earlier byte.
 */
static void mark_rest(struct fkt_fetch *fetch)
{
	spin_lock(&fetch->mark_lock);
	fetch->page->unsent = min(fetch->page->unsent, fetch->at);
	spin_unlock(&fetch->mark_lock);
}

/* If buffers were released with unsent bytes, the page being fetched is queued behind the pages before it. */
static void look_for_marks(struct fkt_fetch *fetch)
{
	bool marked;

	spin_lock(&fetch->mark_lock);
	marked = fetch->marked;
	fetch->marked = false;
	spin_unlock(&fetch->mark_lock);
	if (!marked)
		return;
	fetch->resend = true;
	if (!fetch->page)
		return;
	mark_rest(fetch);
	list_add_tail(&fetch->page->node, &fetch->handed);
	fetch->page = NULL;
}

/* Makes the first page with bytes to be handed out again the current page; returns false if there is none. */
static bool resend_page(struct fkt_fetch *fetch)
{
	struct fkt_page *page;
	u32 at;

	list_for_each_entry(page, &fetch->handed, node) {
		at = take_mark(page);
		if (at == FKT_ALL_SENT)
			continue;
		list_del(&page->node);
		fetch->page = page;
		fetch->at = at;
		return true;
	}
	fetch->resend = false;
	return false;
}

static bool collect_page(struct fkt_recording *rec)
{
	struct fkt_page *page = fkt_reader_collect(rec);

	if (!page)
		return false;
	page->fetch = &rec->fetch;
	page->unsent = FKT_ALL_SENT;
	page->fetched = false;
	rec->fetch.page = page;
	rec->fetch.at = 0;
	return true;
}

/* Returns whether there is a current page, getting the next one if necessary. */
static bool have_page(struct fkt_recording *rec)
{
	struct fkt_fetch *fetch = &rec->fetch;

	look_for_marks(fetch);
	return fetch->page || (fetch->resend && resend_page(fetch)) || collect_page(rec);
}

/* The whole page was handed out; the drain thread may recycle it. */
static void hand_over(struct fkt_page *page)
{
	if (!page->fetched)
		per_cpu_ptr(&fkt_cpus, page->cpu)->written++;
	page->fetched = true;
	list_add_tail(&page->node, &page->fetch->handed);
	fkt_kick();
}

/* `bytes` bytes of the current page were handed out. */
static void advance(struct fkt_fetch *fetch, u32 bytes)
{
	struct fkt_page *page = fetch->page;

	fetch->at += bytes;
	if (fetch->at < fkt_rings_page_bytes())
		return;
	fetch->page = NULL;
	hand_over(page);
}

/*
 * Takes the lock when there is a page, waiting for one unless nonblock. Returns 1: locked; 0: the
 * recording is over and everything is fetched; or -errno.
 */
static int lock_with_page(struct fkt_recording *rec, struct file *file, bool nonblock)
{
	int err;

	for (;;) {
		bool over = fkt_recording_state(rec) == FKT_STOPPED;

		err = fkt_reader_lock(rec, file, FKT_TAKES_READ);
		if (err)
			return err;
		if (have_page(rec))
			return 1;
		fkt_reader_unlock(rec);
		if (over)
			return 0;
		if (nonblock)
			return -EAGAIN;
		/* Bounded: sendfile(2) may prevent the freezing of the output's file system meanwhile. */
		err = wait_event_interruptible_timeout(rec->readers,
						       fkt_reader_readable(rec, file) ||
						       fkt_recording_state(rec) == FKT_STOPPED ||
						       !fkt_reader_may(rec, file, FKT_TAKES_READ),
						       HZ);
		if (err <= 0)
			return err ? err : -EAGAIN;
	}
}

/* ---- splice ---- */

static void release_buffer(struct pipe_inode_info *pipe, struct pipe_buffer *buf)
{
	struct fkt_page *page = (struct fkt_page *)buf->private;
	u32 frame = buf->page - virt_to_page(page->header);

	/*
	 * Before dropping the references that keep the page from its ring. Bytes in a copy (tee) are
	 * not sent again.
	 */
	if (buf->len && !READ_ONCE(page->copied))
		mark_unsent(page, frame * PAGE_SIZE + buf->offset);
	put_page(buf->page);
	fkt_page_unref(page);
	module_put(THIS_MODULE);
}

static bool get_buffer(struct pipe_inode_info *pipe, struct pipe_buffer *buf)
{
	struct fkt_page *page = (struct fkt_page *)buf->private;

	if (!try_get_page(buf->page))
		return false;
	WRITE_ONCE(page->copied, true);
	refcount_inc(&page->refs);
	__module_get(THIS_MODULE);
	return true;
}

static const struct pipe_buf_operations buffer_ops = {
	.release = release_buffer,
	.get = get_buffer,
};

/* Called for frames that the pipe did not take (its readers are gone): they are handed out again. */
static void release_unsent(struct splice_pipe_desc *spd, unsigned int i)
{
	struct fkt_page *page = (struct fkt_page *)spd->partial[i].private;
	u32 frame = spd->pages[i] - virt_to_page(page->header);

	mark_unsent(page, frame * PAGE_SIZE + spd->partial[i].offset);
	put_page(spd->pages[i]);
	fkt_page_unref(page);
	module_put(THIS_MODULE);
}

/* Adds the next frame to the splice descriptor; returns its bytes. */
static u32 add_frame(struct fkt_fetch *fetch, struct splice_pipe_desc *spd, size_t len)
{
	u32 in_frame = fetch->at % PAGE_SIZE;
	u32 bytes = min_t(size_t, len, PAGE_SIZE - in_frame);
	struct page *frame = virt_to_page(fetch->page->header) + fetch->at / PAGE_SIZE;

	get_page(frame);
	refcount_inc(&fetch->page->refs);
	__module_get(THIS_MODULE);
	spd->pages[spd->nr_pages] = frame;
	spd->partial[spd->nr_pages].offset = in_frame;
	spd->partial[spd->nr_pages].len = bytes;
	spd->partial[spd->nr_pages].private = (unsigned long)fetch->page;
	spd->nr_pages++;
	advance(fetch, bytes);
	return bytes;
}

static ssize_t splice_pages(struct fkt_recording *rec, struct pipe_inode_info *pipe, size_t len)
{
	struct partial_page partial[PIPE_DEF_BUFFERS];
	struct page *pages[PIPE_DEF_BUFFERS];
	struct splice_pipe_desc spd = {
		.pages = pages,
		.partial = partial,
		.nr_pages_max = PIPE_DEF_BUFFERS,
		.ops = &buffer_ops,
		.spd_release = release_unsent,
	};
	/* The caller holds the pipe's lock: free slots stay free. */
	u32 room = pipe->max_usage - pipe_occupancy(pipe->head, pipe->tail);

	room = min_t(u32, room, PIPE_DEF_BUFFERS);
	while (spd.nr_pages < room && len && have_page(rec))
		len -= add_frame(&rec->fetch, &spd, len);
	return spd.nr_pages ? splice_to_pipe(pipe, &spd) : -EAGAIN;
}

/* .splice_read of the device: whole pages, in order per CPU. Returns 0 at the end. */
ssize_t fkt_reader_splice(struct file *file, loff_t *ppos, struct pipe_inode_info *pipe, size_t len,
			 unsigned int flags)
{
	struct fkt_recording *rec = fkt_recording_of(file);
	ssize_t ret;

	ret = lock_with_page(rec, file, (file->f_flags & O_NONBLOCK) || (flags & SPLICE_F_NONBLOCK));
	if (ret <= 0)
		return ret;
	/* sendfile(2) does not write what it has read with a signal pending. */
	ret = signal_pending(current) ? -ERESTARTSYS : 0;
	if (!ret)
		ret = splice_pages(rec, pipe, len);
	fkt_reader_unlock(rec);
	if (ret > 0)
		*ppos += ret;
	return ret;
}

/* ---- read ---- */

/*
 * Removes the current page so that it can be copied from without the lock: the copy may fault, and a
 * fault may take for ever. Another read continues with the next page meanwhile. *at: the first byte to
 * copy.
 */
static struct fkt_page *begin_copy(struct fkt_fetch *fetch, u32 *at)
{
	struct fkt_page *page = fetch->page;

	*at = fetch->at;
	fetch->page = NULL;
	refcount_inc(&page->refs);
	list_add_tail(&page->node, &fetch->reading);
	return page;
}

/* Puts a page back after begin_copy(); all bytes before `at` were copied. */
static void end_copy(struct fkt_fetch *fetch, struct fkt_page *page, u32 at)
{
	/* If the node is empty, the recording has ended meanwhile, and only this reference is left. */
	if (!list_empty(&page->node)) {
		list_del(&page->node);
		at = min(at, take_mark(page));
		if (at == PAGE_SIZE << page->order) {
			hand_over(page);
		} else if (!fetch->page) {
			fetch->page = page;
			fetch->at = at;
		} else {
			/* Another read has begun the next page: the rest of this page is handed out before it. */
			list_add(&page->node, &fetch->handed);
			mark_unsent(page, at);
		}
	}
	fkt_page_unref(page);
}

/* Copies from the current page. Caller must hold the reader's lock, which is dropped during the copy. */
static size_t copy_from_page(struct fkt_recording *rec, struct iov_iter *to)
{
	size_t copied;
	struct fkt_page *page;
	u32 at;

	page = begin_copy(&rec->fetch, &at);
	fkt_reader_unlock(rec);
	copied = copy_to_iter((char *)page->header + at,
			      min_t(size_t, (PAGE_SIZE << page->order) - at, iov_iter_count(to)), to);
	fkt_reader_relock(rec);
	end_copy(&rec->fetch, page, at + copied);
	return copied;
}

/* .read_iter of the device: copies the bytes that splice would hand out. */
ssize_t fkt_reader_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;
	struct fkt_recording *rec = fkt_recording_of(file);
	ssize_t ret, total = 0;

	ret = lock_with_page(rec, file, file->f_flags & O_NONBLOCK);
	if (ret <= 0)
		return ret;
	while (iov_iter_count(to) && fkt_reader_may(rec, file, FKT_TAKES_READ) && have_page(rec)) {
		size_t copied = copy_from_page(rec, to);

		if (!copied) {
			ret = -EFAULT;
			break;
		}
		total += copied;
	}
	fkt_reader_unlock(rec);
	return total ? total : min_t(ssize_t, ret, 0);
}

/* ---- pages that come back ---- */

static void recycle_unreferenced(struct fkt_fetch *fetch)
{
	struct fkt_page *page, *next;
	u32 recycled = 0;

	/*
	 * Marks are set before references are dropped: a page without other references and without a
	 * mark stays so.
	 */
	list_for_each_entry_safe(page, next, &fetch->handed, node) {
		if (!fkt_page_alone(page) || READ_ONCE(page->unsent) != FKT_ALL_SENT)
			continue;
		list_del(&page->node);
		WRITE_ONCE(page->copied, false);
		fkt_ring_recycle(page);
		recycled++;
	}
	if (recycled)
		fkt_tell(FKT_E_PAGES_RECYCLED, recycled, 0);
}

/* Puts pages without other references back into their rings. Returns true if some are still referenced. */
static bool fetch_reclaim(struct fkt_recording *rec)
{
	recycle_unreferenced(&rec->fetch);
	return !list_empty(&rec->fetch.handed);
}

/* Drops a page at the end of the recording; other holders of the page or of its frames keep their references. */
static void drop_page(struct fkt_page *page, bool fetched)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, page->cpu);

	if (!fetched)
		c->discarded += page->events;
	/* The page was counted as written, and came back unsent. */
	if (!fetched && page->fetched)
		c->written--;
	fkt_page_unref(page);
}

/* Pages that were not handed out completely count as discarded. */
static void fetch_reset(struct fkt_recording *rec, struct file *owner)
{
	struct fkt_fetch *fetch = &rec->fetch;
	struct fkt_page *page, *next;

	recycle_unreferenced(fetch);
	list_for_each_entry_safe(page, next, &fetch->handed, node) {
		list_del(&page->node);
		drop_page(page, take_mark(page) == FKT_ALL_SENT);
	}
	/* The reads that copy from these pages find them on no list, and drop them. */
	list_for_each_entry_safe(page, next, &fetch->reading, node) {
		list_del_init(&page->node);
		drop_page(page, false);
	}
	if (fetch->page)
		drop_page(fetch->page, false);
	fetch->page = NULL;
	fetch->at = 0;
	fetch->resend = false;
	fetch->marked = false;
}

static bool fetch_readable(struct fkt_recording *rec)
{
	struct fkt_fetch *fetch = &rec->fetch;

	look_for_marks(fetch);
	return fetch->page || (fetch->resend && resend_page(fetch)) || fkt_reader_complete(rec);
}

const struct fkt_engine fkt_engine_sendfile = {
	.id = FKT_ENGINE_SENDFILE,
	.takes = FKT_TAKES_READ,
	.readable = fetch_readable,
	.reclaim = fetch_reclaim,
	.reset = fetch_reset,
};
