// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the ways have in common in which the recording's owner takes pages itself: splice and read
 * (fetch.c), and pages that it sees in a mapping of the device (lend.c).
 *
 * The rings' drain side has one user at a time. With such an engine that is whoever holds the lock
 * here: the owner's system calls, and the drain thread when pages come back or make room.
 */

#include <linux/mutex.h>

#include "fkt.h"

static struct {
	/*
	 * Held by whoever is the drain side now, for short: never while user memory is accessed, which
	 * may take for ever. So others, the drain thread and the end of the recording, may wait for it.
	 */
	struct mutex lock;
	unsigned int next_cpu; /* goes on there, so that no CPU waits for another */
} owner = { .lock = __MUTEX_INITIALIZER(owner.lock) };

/* Does `file` own a recording whose pages leave by `engine`? A glance, certain under the lock. */
bool fkt_owner_may(struct file *file, const struct fkt_engine *engine)
{
	return fkt_capture_owner(file) && fkt_drain_leaves_by(engine);
}

/* Takes the lock for a call from `file`. EBADF: it has nothing to take by that engine. */
int fkt_owner_lock(struct file *file, const struct fkt_engine *engine)
{
	if (!fkt_owner_may(file, engine))
		return -EBADF;
	if (mutex_lock_interruptible(&owner.lock))
		return -ERESTARTSYS;
	/* Again under the lock: the recording's end waits for whoever is let in. */
	if (fkt_owner_may(file, engine))
		return 0;
	mutex_unlock(&owner.lock);
	return -EBADF;
}

/* The drain thread's: there is a recording as long as it runs. */
void fkt_owner_lock_drain(void)
{
	mutex_lock(&owner.lock);
}

/* Takes the lock again, for a moment, in a call that had dropped it: whatever happened meanwhile. */
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

/* Has any CPU a complete page that may be taken? Under the lock. */
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
 * The next complete page of any CPU, or NULL. What is beyond the size limit goes back to its ring and
 * counts as discarded. Under the lock.
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

/* Is something there to take? For poll(2), which looks again. */
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
 * The end of the recording that `file` (NULL: it is gone) owned: who takes pages now has ended when this returns, and
 * nobody can begin.
 */
void fkt_owner_reset(struct file *file)
{
	mutex_lock(&owner.lock);
	fkt_fetch_reset();
	fkt_lend_reset(file);
	mutex_unlock(&owner.lock);
}
