// SPDX-License-Identifier: GPL-2.0-only
/*
 * Common parts of the two ways in which the recording's owner takes pages itself: splice and read
 * (fetch.c), and pages lent in a mapping of the device (lend.c).
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
#include "drain.h"
#include "engine.h"
#include "fetch.h"
#include "lend.h"
#include "owner.h"
#include "pages.h"
#include "recording.h"

static struct {
	/*
	 * Held by the current drain side, and only for a short time: never across accesses to user
	 * memory, which may take for ever. So the drain thread and the end of the recording may wait
	 * for it.
	 */
	struct mutex lock;
	unsigned int next_cpu; /* where the next search for a page starts, for fairness */
} owner = { .lock = __MUTEX_INITIALIZER(owner.lock) };

/*
 * Returns whether `file` owns a recording whose pages leave by `engine`. May change at once unless the
 * caller holds the lock.
 */
bool fkt_owner_may(struct file *file, const struct fkt_engine *engine)
{
	return fkt_recording_owned_by(file) && fkt_drain_leaves_by(engine);
}

/* Takes the lock for a call on `file`. -EBADF: it has no recording whose pages leave by that engine. */
int fkt_owner_lock(struct file *file, const struct fkt_engine *engine)
{
	if (!fkt_owner_may(file, engine))
		return -EBADF;
	if (mutex_lock_interruptible(&owner.lock))
		return -ERESTARTSYS;
	/* Check again under the lock: the end of the recording waits for lock holders that pass this check. */
	if (fkt_owner_may(file, engine))
		return 0;
	mutex_unlock(&owner.lock);
	return -EBADF;
}

/* Takes the lock in the drain thread: the recording exists as long as that thread runs. */
void fkt_owner_lock_drain(void)
{
	mutex_lock(&owner.lock);
}

/* Takes the lock again in a call that had dropped it, even if the recording has ended meanwhile. */
void fkt_owner_relock(void)
{
	mutex_lock(&owner.lock);
}

bool fkt_owner_trylock(void)
{
	return mutex_trylock(&owner.lock);
}

void fkt_owner_unlock(void)
{
	mutex_unlock(&owner.lock);
}

static struct fkt_page *next_page(void)
{
	struct fkt_page *page = NULL;
	unsigned int i;

	if (fkt_drain_keeps())
		return NULL;
	for (i = 0; i < nr_cpu_ids && !page; i++) {
		if (cpu_possible(owner.next_cpu))
			page = fkt_ring_collect(owner.next_cpu);
		if (!page)
			owner.next_cpu = (owner.next_cpu + 1) % nr_cpu_ids;
	}
	return page;
}

/* Returns whether any CPU has a complete page that may be taken. Caller must hold the lock. */
bool fkt_owner_complete(void)
{
	unsigned int cpu;

	if (fkt_drain_keeps())
		return false;
	for_each_possible_cpu(cpu)
		if (fkt_ring_has_complete(cpu))
			return true;
	return false;
}

/*
 * Takes the next complete page of any CPU, or returns NULL. Pages beyond the size limit go back to
 * their ring and count as discarded. Caller must hold the lock.
 */
struct fkt_page *fkt_owner_collect(void)
{
	struct fkt_page *page;

	while ((page = next_page())) {
		if (fkt_drain_fetch_room())
			return page;
		per_cpu_ptr(&fkt_cpus, page->cpu)->discarded += page->events;
		fkt_ring_recycle(page);
	}
	return NULL;
}

/* Returns whether there is a page to take; may return true wrongly. For poll(2), whose caller tries again. */
bool fkt_owner_readable(struct file *file)
{
	bool readable = false;

	if (!fkt_owner_may(file, &fkt_engine_fetch) && !fkt_owner_may(file, &fkt_engine_lend))
		return false;
	if (!fkt_owner_trylock())
		return true;
	if (fkt_owner_may(file, &fkt_engine_fetch))
		readable = fkt_fetch_readable();
	else if (fkt_owner_may(file, &fkt_engine_lend))
		readable = fkt_lend_readable();
	fkt_owner_unlock();
	return readable;
}

/*
 * Ends the taking of pages for the recording that `file` (NULL: already closed) owned: when this
 * returns, calls that take pages have ended, and no new one can begin.
 */
void fkt_owner_reset(struct file *file)
{
	mutex_lock(&owner.lock);
	fkt_fetch_reset();
	fkt_lend_reset(file);
	mutex_unlock(&owner.lock);
}
