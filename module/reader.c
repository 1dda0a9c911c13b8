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
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/percpu.h>

#include "cpu_ring.h"
#include "engine.h"
#include "page_pool.h"
#include "reader.h"
#include "recording.h"

static struct fkt_reader {
	/*
	 * Held by the current drain side, and only for a short time: never across accesses to user
	 * memory, which may take for ever. So the drain thread and the end of the recording may wait
	 * for it.
	 */
	struct mutex lock;
	/*
	 * The engine with which the recording was started, also after the drain thread has taken over
	 * from a dead owner. Changes only while the recording has no owner and no call that checked the
	 * owner holds the lock: fkt_reader_reset() waits for such calls.
	 */
	const struct fkt_engine *engine;
	u64 limit; /* bytes that the owner may take; 0: no limit */
	u64 taken; /* bytes that it has taken */
	unsigned int next_cpu; /* where the next search for a page starts, for fairness */
} reader = { .lock = __MUTEX_INITIALIZER(reader.lock) };

/*
 * Called before the recording has an owner. limit: bytes that the owner may take, 0: no limit; not used
 * if the drain thread writes.
 */
void fkt_reader_start(const struct fkt_engine *engine, u64 limit)
{
	WRITE_ONCE(reader.engine, engine);
	reader.limit = limit;
	reader.taken = 0;
}

/*
 * Returns whether `file` owns a recording whose pages can be taken by one of these calls (FKT_CALLS_*).
 * May change at once unless the caller holds the lock.
 */
bool fkt_reader_may(struct file *file, u32 calls)
{
	/* In this order: the acquire in fkt_recording_owned_by() makes this owner's engine visible. */
	return fkt_recording_owned_by(file) && (READ_ONCE(reader.engine)->calls & calls);
}

/* Takes the lock for one of these calls on `file`. -EBADF: it owns no recording that allows them. */
int fkt_reader_lock(struct file *file, u32 calls)
{
	if (!fkt_reader_may(file, calls))
		return -EBADF;
	if (mutex_lock_interruptible(&reader.lock))
		return -ERESTARTSYS;
	/* Check again under the lock: the end of the recording waits for lock holders that pass this check. */
	if (fkt_reader_may(file, calls))
		return 0;
	mutex_unlock(&reader.lock);
	return -EBADF;
}

/* Takes the lock in the drain thread: the recording exists as long as that thread runs. */
void fkt_reader_lock_drain(void)
{
	mutex_lock(&reader.lock);
}

/* Takes the lock again in a call that had dropped it, even if the recording has ended meanwhile. */
void fkt_reader_relock(void)
{
	mutex_lock(&reader.lock);
}

void fkt_reader_unlock(void)
{
	mutex_unlock(&reader.lock);
}

static struct fkt_page *next_page(void)
{
	struct fkt_page *page = NULL;
	unsigned int i;

	if (fkt_recording_keeps())
		return NULL;
	for (i = 0; i < nr_cpu_ids && !page; i++) {
		if (cpu_possible(reader.next_cpu))
			page = fkt_ring_collect(reader.next_cpu);
		if (!page)
			reader.next_cpu = (reader.next_cpu + 1) % nr_cpu_ids;
	}
	return page;
}

/* Returns whether any CPU has a complete page that may be taken. Caller must hold the lock. */
bool fkt_reader_complete(void)
{
	unsigned int cpu;

	if (fkt_recording_keeps())
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
static bool reserve_room(void)
{
	u32 bytes = fkt_rings_page_bytes();

	if (reader.limit && reader.taken + bytes > reader.limit) {
		fkt_recording_end(FKT_STOP_LIMIT, 0);
		return false;
	}
	reader.taken += bytes;
	return true;
}

/*
 * Takes the next complete page of any CPU, or returns NULL. Pages beyond the size limit go back to
 * their ring and count as discarded. Caller must hold the lock.
 */
struct fkt_page *fkt_reader_collect(void)
{
	struct fkt_page *page;

	while ((page = next_page())) {
		if (reserve_room())
			return page;
		per_cpu_ptr(&fkt_cpus, page->cpu)->discarded += page->events;
		fkt_ring_recycle(page);
	}
	return NULL;
}

/* Returns whether there is a page to take; may return true wrongly. For poll(2), whose caller tries again. */
bool fkt_reader_readable(struct file *file)
{
	bool readable;

	if (!fkt_reader_may(file, FKT_CALLS_ANY))
		return false;
	if (!mutex_trylock(&reader.lock))
		return true;
	/* Checked again under the lock, as in fkt_reader_lock(). */
	readable = fkt_reader_may(file, FKT_CALLS_ANY) && reader.engine->readable();
	mutex_unlock(&reader.lock);
	return readable;
}

/*
 * Flight recorder: lets pages be taken from now on, or makes them stay again. -EOPNOTSUPP: it is none, or
 * the drain thread writes its pages. Caller must hold the recording's lock.
 */
int fkt_reader_leave(bool leave)
{
	if (!fkt_recording.overwrite || !reader.engine->calls)
		return -EOPNOTSUPP;
	/* When this has the lock, no page is overwritten or taken any more by a decision made before. */
	mutex_lock(&reader.lock);
	WRITE_ONCE(fkt_recording.leave, leave);
	mutex_unlock(&reader.lock);
	return 0;
}

/*
 * Ends the taking of pages for the recording that `file` (NULL: already closed) owned: when this
 * returns, calls that take pages have ended, and no new one can begin. Called when the recording has no
 * owner any more.
 */
void fkt_reader_reset(struct file *file)
{
	mutex_lock(&reader.lock);
	if (reader.engine->reset)
		reader.engine->reset(file);
	mutex_unlock(&reader.lock);
}
