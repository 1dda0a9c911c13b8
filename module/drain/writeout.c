// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing by the drain: complete pages are combined to chunks that are consecutive in the output, an
 * engine writes them, and their pages go back to the rings.
 *
 *   retire finished chunks -> gather pages -> make room in the file -> write
 *
 * Chunks retire in file order, so the part written is always contiguous from the start: if a write
 * fails, the recording ends there, and later chunks are counted as discarded. The kernel does not know
 * the file's format: it writes pages at an offset.
 */

#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/percpu.h>

#include <fkt/events.h>
#include <fkt/wire.h>

#include "ring/cpu_ring.h"
#include "ring/page_pool.h"
#include "ring/rings.h"
#include "ring/self.h"
#include "ring/wake.h"
#include "engine.h"
#include "page_index.h"
#include "recording.h"
#include "writeout.h"

#define ALLOCATE_MAX (64ULL << 20) /* bytes of file space per step, at most */

static struct fkt_recording *recording_of(struct fkt_writeout *w)
{
	return container_of(w, struct fkt_recording, drain.writeout);
}

/* ---- retiring ---- */

/* Called by the engine in any context when a write has finished. result: bytes or -errno of this write. */
void fkt_chunk_written(struct fkt_chunk *chunk, ssize_t result)
{
	chunk->result = result;
	/* Pairs with the load-acquire in retire(): if `finished` is seen, so is the result. */
	smp_store_release(&chunk->finished, true);
	fkt_kick_for_batches();
}

static void give_back(struct fkt_page *page, bool written)
{
	struct fkt_cpu *c = per_cpu_ptr(&fkt_cpus, page->cpu);

	if (written)
		c->written++;
	else
		c->discarded += page->events;
	if (!page->lent) {
		fkt_ring_recycle(page);
		return;
	}
	/* Not into the ring: a write by the dead owner may still be reading its frames. */
	page->lent = false;
	fkt_pool_put(&c->pool, page);
}

/* No further page is written. Chunks in flight may still be. */
static void output_ends(struct fkt_writeout *w, int error)
{
	bool full = error == -ENOSPC || error == -EDQUOT || error == -EFBIG;

	if (w->full)
		return;
	w->full = true;
	fkt_recording_end(recording_of(w), full ? FKT_STOP_FULL : FKT_STOP_ERROR, -error);
}

/*
 * Retires the oldest chunk, which is finished: counts its pages and frees it. Returns false if the rest
 * of a short write was submitted again.
 */
static bool retire_chunk(struct fkt_writeout *w, const struct fkt_engine *engine, struct fkt_chunk *chunk)
{
	u32 page_bytes = fkt_rings_page_bytes();
	u32 i, good;

	if (!w->failed && chunk->result > 0) {
		chunk->written += chunk->result;
		if (chunk->written < chunk->bytes) {
			chunk->finished = false;
			engine->write(chunk);
			return false;
		}
	}
	good = chunk->written / page_bytes;
	if (good < chunk->count) {
		w->failed = true;
		output_ends(w, chunk->result < 0 ? chunk->result : -EIO);
	}
	for (i = 0; i < chunk->count; i++) {
		if (i < good && engine->keeps_header)
			fkt_page_index_add(&recording_of(w)->drain.index, chunk->pages[i]->header);
		give_back(chunk->pages[i], i < good);
	}
	w->pages_written += good;
	/* As vfs_write() does: notifies processes that wait for the file to grow (tail -f). */
	if (good)
		fsnotify_modify(w->out);
	fkt_tell(FKT_E_PAGES_WRITTEN, good, chunk->pos);
	fkt_tell(FKT_E_PAGES_RECYCLED, chunk->count, chunk->count - good);
	return true;
}

static void retire(struct fkt_writeout *w, const struct fkt_engine *engine)
{
	while (w->tail != w->head) {
		struct fkt_chunk *chunk = &w->chunks[w->tail % FKT_CHUNKS];

		/* Pairs with the store-release in fkt_chunk_written(). */
		if (!smp_load_acquire(&chunk->finished))
			break;
		/* After a failure, later chunks count as not written, whatever their result. */
		if (w->failed)
			chunk->written = 0;
		if (retire_chunk(w, engine, chunk))
			w->tail++;
	}
}

/* ---- writing ---- */

/* Returns whether the output can hold pages up to `upto` and the reserve behind them. *need: end of the reserve. */
bool fkt_writeout_fits(const struct fkt_writeout *w, loff_t upto, loff_t *need)
{
	u64 pages = (upto - w->start) / fkt_rings_page_bytes(), room, sum;

	if (check_mul_overflow(pages, (u64)w->reserve_per_page, &room) ||
	    check_add_overflow(room, w->reserve, &room) || check_add_overflow((u64)upto, room, &sum) ||
	    sum > w->most)
		return false;
	*need = sum;
	return true;
}

/*
 * Returns whether a smaller allocation may succeed: there is too little space, quota, or for files in memory what the
 * cgroup may have.
 */
static bool is_short(int err)
{
	return err == -ENOSPC || err == -EDQUOT || err == -ENOMEM;
}

/*
 * Allocates file space up to `upto` and the reserve behind it, in large steps: direct writes inside
 * allocated space need not wait, and there is room for the file's tail even if the disk fills up.
 */
static int make_room(struct fkt_writeout *w, loff_t upto)
{
	loff_t need;
	int err;

	if (!fkt_writeout_fits(w, upto, &need))
		return S_ISBLK(file_inode(w->out)->i_mode) ? -ENOSPC : -EFBIG;
	while (w->allocates && need > w->allocated) {
		loff_t goal = max_t(loff_t, need, w->allocated + w->step);

		if (w->end)
			goal = max_t(loff_t, need, min_t(loff_t, goal, w->end + w->reserve));
		goal = max_t(loff_t, need, min_t(loff_t, goal, w->most));
		err = vfs_fallocate(w->out, 0, w->allocated, goal - w->allocated);
		if (!err) {
			w->allocated = goal;
			w->step = min(w->step * 2, ALLOCATE_MAX);
		} else if (err == -EOPNOTSUPP || err == -ENODEV || err == -EINTR) {
			w->allocates = false; /* the writes themselves allocate space, or fail */
		} else if (goal > need && is_short(err)) {
			w->step = max(w->step / 2, 1ULL);
		} else {
			return err;
		}
	}
	return 0;
}

/* Pages that the dead owner had are older than those in the rings, and are written first. */
static void gather_inherited(struct fkt_writeout *w, struct fkt_chunk *chunk)
{
	struct fkt_page *page, *next;

	list_for_each_entry_safe(page, next, &w->inherited, node) {
		if (chunk->count == FKT_CHUNK_PAGES)
			return;
		list_del(&page->node);
		chunk->pages[chunk->count++] = page;
	}
}

/* Takes up to FKT_CHUNK_PAGES complete pages, one CPU after the other; returns how many. */
static u32 gather(struct fkt_writeout *w, struct fkt_chunk *chunk)
{
	unsigned int i, cpu = w->first_cpu;

	chunk->count = 0;
	gather_inherited(w, chunk);
	for (i = 0; i < nr_cpu_ids && chunk->count < FKT_CHUNK_PAGES; i++) {
		struct fkt_page *page;

		while (cpu_possible(cpu) && chunk->count < FKT_CHUNK_PAGES) {
			page = fkt_ring_collect(cpu);
			if (!page)
				break;
			chunk->pages[chunk->count++] = page;
		}
		cpu = (cpu + 1) % nr_cpu_ids;
	}
	w->first_cpu = cpu;
	return chunk->count;
}

/* Gives back, as discarded, the pages of the chunk behind the first `count`. */
static void shorten(struct fkt_chunk *chunk, u32 count)
{
	fkt_tell(FKT_E_PAGES_RECYCLED, chunk->count - count, chunk->count - count);
	while (chunk->count > count)
		give_back(chunk->pages[--chunk->count], false);
}

/* Gives back, as discarded, the pages for which the size limit leaves no room. */
static void cut_at_limit(struct fkt_writeout *w, struct fkt_chunk *chunk)
{
	u32 room = chunk->count;

	/* Pages inherited from the owner may have gone beyond the limit. */
	if (w->end)
		room = w->pos < w->end ? min_t(u64, room, (w->end - w->pos) / fkt_rings_page_bytes()) : 0;
	if (room == chunk->count && !w->full)
		return;
	if (w->full)
		room = 0;
	shorten(chunk, room);
	if (!w->full) {
		w->full = true;
		fkt_recording_end(recording_of(w), FKT_STOP_LIMIT, 0);
	}
}

/*
 * Makes room in the output for the chunk's pages, and gives back those that do not fit. Returns 0, or
 * a negative errno that says why not all of them fit.
 */
static int make_room_for(struct fkt_writeout *w, struct fkt_chunk *chunk)
{
	u32 count = chunk->count;
	int err = make_room(w, w->pos + (loff_t)count * fkt_rings_page_bytes()), first = err;

	while (err && (err == -EFBIG || is_short(err)) && --count)
		err = make_room(w, w->pos + (loff_t)count * fkt_rings_page_bytes());
	if (first)
		shorten(chunk, err ? 0 : count);
	return first;
}

static void submit(struct fkt_writeout *w, const struct fkt_engine *engine, struct fkt_chunk *chunk)
{
	u32 i, page_bytes = fkt_rings_page_bytes();

	for (i = 0; i < chunk->count; i++) {
		struct page *frame = virt_to_page(chunk->pages[i]->header);

		chunk->bvec[i] = (struct bio_vec){ .bv_page = frame, .bv_len = page_bytes };
	}
	chunk->recording = recording_of(w);
	chunk->out = w->out;
	chunk->pos = w->pos;
	chunk->bytes = chunk->count * page_bytes;
	chunk->written = 0;
	chunk->finished = false;
	w->pos += chunk->bytes;
	w->head++;
	fkt_tell(FKT_E_PAGES_SUBMITTED, chunk->count, chunk->pos);
	engine->write(chunk);
}

/*
 * Returns how many complete pages are to be written now; 0: too few. A small write costs too much when functions are
 * recorded that the write itself calls: each would complete the page for the next one.
 */
static u32 count_due(struct fkt_writeout *w, bool all)
{
	bool is_enough = all;
	unsigned int cpu;
	u32 sum = 0;

	/* The number of inherited pages is not known. */
	if (!list_empty(&w->inherited))
		return U32_MAX;
	for_each_possible_cpu(cpu)
		is_enough |= fkt_ring_needs_drain(cpu, &sum);
	if (!all && sum >= FKT_CHUNK_PAGES)
		return rounddown(sum, FKT_CHUNK_PAGES);
	return is_enough ? sum : 0;
}

/* Writes a chunk of complete pages. Returns their number, or 0 if there are none. */
static u32 move_chunk(struct fkt_writeout *w, const struct fkt_engine *engine, struct fkt_chunk *chunk)
{
	const u32 count = gather(w, chunk);
	int err;

	if (!count)
		return 0;
	cut_at_limit(w, chunk);
	if (!chunk->count)
		return count;
	err = make_room_for(w, chunk);
	if (chunk->count)
		submit(w, engine, chunk);
	if (err)
		output_ends(w, err);
	retire(w, engine);
	return count;
}

/*
 * Gives back the pages that were written, and writes complete pages, as long as chunks are free: all of them, or only
 * as many as make large writes. With synchronous writes to a disk slower than the probes this could go on for ever, so
 * it writes at most FKT_CHUNKS chunks. Returns true if the rings may have more; false if all chunks are in flight or
 * the rings have too few. engine: the one that writes, the same in all calls for a recording; refill: CPUs with few
 * free pages get extra ones. Called from the drain thread, and when that has ended from fkt_inherit_write().
 */
bool fkt_writeout_move(struct fkt_writeout *w, const struct fkt_engine *engine, bool all, bool refill)
{
	u32 round, moved, due;

	retire(w, engine);
	due = count_due(w, all);
	for (round = 0; round < FKT_CHUNKS; round++) {
		if (w->head - w->tail == FKT_CHUNKS)
			return false;
		/* Before each write, because it may take long. */
		if (refill && !w->full)
			fkt_rings_refill();
		/* More may have been completed meanwhile; when the recording ends, none may be left. */
		due = due ?: count_due(w, !refill);
		moved = due ? move_chunk(w, engine, &w->chunks[w->head % FKT_CHUNKS]) : 0;
		if (!moved)
			return false;
		due -= min(due, moved);
	}
	return true;
}

/*
 * Makes a regular file end after the last page, which frees the space allocated in advance. Called when
 * no chunk is in flight.
 */
void fkt_writeout_truncate(const struct fkt_writeout *w)
{
	struct file *out = w->out;
	const struct cred *old;

	if (!out || !S_ISREG(file_inode(out)->i_mode))
		return;
	old = override_creds(out->f_cred);
	vfs_truncate(&out->f_path, w->start + w->pages_written * (loff_t)fkt_rings_page_bytes());
	revert_creds(old);
}
