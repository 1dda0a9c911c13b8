// SPDX-License-Identifier: GPL-2.0-only
/*
 * Common parts of the two ways in which the recording's owner takes pages itself: splice and read
 * (reader_splice.c), and pages lent in a mapping of the device (reader_mmap.c).
 *
 * The drain side of the rings has one user at a time. With these engines that is the holder of the lock
 * in this file: a system call of the owner, or the drain thread when it takes pages back or overwrites
 * them.
 */

#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/percpu.h>

#include "ring/cpu_ring.h"
#include "ring/page_pool.h"
#include "engine.h"
#include "reader.h"
#include "recording.h"

/*
 * Called before the recording has an owner. limit: bytes that the owner may take, 0: no limit; not used
 * if the drain thread writes.
 */
void fkt_reader_start(struct fkt_recording *rec, const struct fkt_engine *engine, u64 limit)
{
	WRITE_ONCE(rec->reader.engine, engine);
	rec->reader.limit = limit;
	rec->reader.taken = 0;
}

/*
 * Returns whether `file` owns a recording whose pages can be taken by one of these calls (FKT_TAKES_*).
 * May change at once unless the caller holds the lock.
 */
bool fkt_reader_may(const struct fkt_recording *rec, struct file *file, u32 calls)
{
	/* In this order: the acquire in fkt_recording_owned_by() makes this owner's engine visible. */
	return fkt_recording_owned_by(rec, file) && (READ_ONCE(rec->reader.engine)->takes & calls);
}

/* Takes the lock for one of these calls on `file`. -EBADF: it owns no recording that allows them. */
int fkt_reader_lock(struct fkt_recording *rec, struct file *file, u32 calls)
{
	if (!fkt_reader_may(rec, file, calls))
		return -EBADF;
	if (mutex_lock_interruptible(&rec->reader.lock))
		return -ERESTARTSYS;
	/* Check again under the lock: the end of the recording waits for lock holders that pass this check. */
	if (fkt_reader_may(rec, file, calls))
		return 0;
	mutex_unlock(&rec->reader.lock);
	return -EBADF;
}

/*
 * As fkt_reader_lock(), in a call that has done a part of its work: no signal ends the wait, because the kernel would
 * then restart the call, and do that part again. The lock is never held long.
 */
int fkt_reader_lock_again(struct fkt_recording *rec, struct file *file, u32 calls)
{
	mutex_lock(&rec->reader.lock);
	if (fkt_reader_may(rec, file, calls))
		return 0;
	mutex_unlock(&rec->reader.lock);
	return -EBADF;
}

/* Takes the lock in the drain thread, a work item or a close: the caller sees to it that the recording's rings stay. */
void fkt_reader_lock_drain(struct fkt_recording *rec)
{
	mutex_lock(&rec->reader.lock);
}
EXPORT_SYMBOL_GPL(fkt_reader_lock_drain);

/* Takes the lock again in a call that had dropped it, even if the recording has ended meanwhile. */
void fkt_reader_relock(struct fkt_recording *rec)
{
	mutex_lock(&rec->reader.lock);
}

void fkt_reader_unlock(struct fkt_recording *rec)
{
	mutex_unlock(&rec->reader.lock);
}
EXPORT_SYMBOL_GPL(fkt_reader_unlock);

static struct fkt_page *next_page(struct fkt_recording *rec)
{
	struct fkt_reader *reader = &rec->reader;
	struct fkt_page *page = NULL;
	unsigned int i;

	if (fkt_recording_keeps(rec))
		return NULL;
	for (i = 0; i < nr_cpu_ids && !page; i++) {
		if (cpu_possible(reader->next_cpu))
			page = fkt_ring_collect(reader->next_cpu);
		if (!page)
			reader->next_cpu = (reader->next_cpu + 1) % nr_cpu_ids;
	}
	return page;
}

/* Returns whether any CPU has a complete page that may be taken. Caller must hold the lock. */
bool fkt_reader_complete(struct fkt_recording *rec)
{
	unsigned int cpu;

	if (fkt_recording_keeps(rec))
		return false;
	for_each_possible_cpu(cpu)
		if (fkt_ring_has_complete(cpu))
			return true;
	return false;
}

/*
 * Reserves room for one more page that the owner takes; returns false, and ends the recording, if the
 * limit is reached.
 */
static bool reserve_room(struct fkt_recording *rec)
{
	struct fkt_reader *reader = &rec->reader;
	u32 bytes = fkt_rings_page_bytes();

	if (reader->limit && reader->taken + bytes > reader->limit) {
		fkt_recording_end(rec, FKT_STOP_LIMIT, 0);
		return false;
	}
	reader->taken += bytes;
	return true;
}

/*
 * Takes the next complete page of any CPU, or returns NULL. Pages beyond the size limit go back to
 * their ring and count as discarded. Caller must hold the lock.
 */
struct fkt_page *fkt_reader_collect(struct fkt_recording *rec)
{
	struct fkt_page *page;

	while ((page = next_page(rec))) {
		if (reserve_room(rec))
			return page;
		per_cpu_ptr(&fkt_cpus, page->cpu)->discarded += page->events;
		fkt_ring_recycle(page);
	}
	return NULL;
}
EXPORT_SYMBOL_GPL(fkt_reader_collect);

/* Returns whether there is a page to take; may return true wrongly. For poll(2), whose caller tries again. */
bool fkt_reader_readable(struct fkt_recording *rec, struct file *file)
{
	bool readable;

	if (!fkt_reader_may(rec, file, FKT_TAKES_ANY))
		return false;
	if (!mutex_trylock(&rec->reader.lock))
		return true;
	/* Checked again under the lock, as in fkt_reader_lock(). */
	readable = fkt_reader_may(rec, file, FKT_TAKES_ANY) && rec->reader.engine->readable(rec);
	mutex_unlock(&rec->reader.lock);
	return readable;
}

/*
 * Flight recorder: lets pages be taken from now on, or makes them stay again. -EOPNOTSUPP: it is no flight recorder, or
 * the drain thread writes its pages. Caller must hold the recording's lock.
 */
int fkt_reader_leave(struct fkt_recording *rec, bool leave)
{
	if (!rec->overwrite || !rec->reader.engine->takes)
		return -EOPNOTSUPP;
	/* When this has the lock, no page is overwritten or taken any more by a decision made before. */
	mutex_lock(&rec->reader.lock);
	WRITE_ONCE(rec->leave, leave);
	mutex_unlock(&rec->reader.lock);
	return 0;
}

/*
 * Ends the taking of pages for the recording that `file` (NULL: already closed) owned: when this
 * returns, calls that take pages have ended, and no new one can begin. Called when the recording has no
 * owner any more.
 */
void fkt_reader_reset(struct fkt_recording *rec, struct file *file)
{
	mutex_lock(&rec->reader.lock);
	if (rec->reader.engine->reset)
		rec->reader.engine->reset(rec, file);
	mutex_unlock(&rec->reader.lock);
}
