/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of a recording that its owner uses when it takes pages itself (reader.c, reader_splice.c, reader_mmap.c). */
#ifndef FKT_READER_STATE_H
#define FKT_READER_STATE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/xarray.h>

struct fkt_engine;
struct fkt_page;

struct fkt_reader {
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
};

/* Pages that splice(2) and read(2) hand out (reader_splice.c). Protected by the reader's lock, except where noted. */
struct fkt_fetch {
	struct fkt_page *page; /* the page being fetched */
	u32 at; /* bytes of it that were handed out */
	struct list_head reading; /* pages from which read(2) copies without the lock */
	struct list_head handed; /* pages handed out completely; their frames may still be referenced */
	bool resend; /* some pages in `handed` have bytes to be handed out again */
	spinlock_t mark_lock; /* protects `unsent` of all pages, and `marked` */
	bool marked; /* a page was marked since look_for_marks() */
};

/* The pages that are lent (reader_mmap.c). Protected by the reader's lock, except where noted. */
struct fkt_lent {
	struct xarray pages; /* those with a number; the fault handler reads it under its spinlock only */
	u32 places; /* pages that fit the owner's mapping; 0: no mapping yet. Under xa_lock */
	u32 numbered; /* pages in the array */
	struct fkt_page *ahead; /* page already collected for which no number was free */
	/* since the stop, when the owner of a flight recorder writes what was kept: */
	u32 taken; /* pages lent */
	u32 written; /* ... and given back as written */
	bool gave_up; /* one was given back unwritten */
};

#endif /* FKT_READER_STATE_H */
