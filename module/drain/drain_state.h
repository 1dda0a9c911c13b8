/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of a recording that its drain thread uses (drain.c, writeout.c, checkin.c). */
#ifndef FKT_DRAIN_STATE_H
#define FKT_DRAIN_STATE_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "charge.h"
#include "checkout.h"
#include "page_index.h"

struct file;
struct fkt_chunk;
struct fkt_engine;
struct task_struct;

/* Used by the drain thread, and set up before that is created, except `inherited` (fkt_inherit()). */
struct fkt_writeout {
	struct file *out; /* NULL: no output was given */
	struct fkt_chunk *chunks; /* ring of FKT_CHUNKS chunks */
	u32 head; /* next chunk to fill */
	u32 tail; /* oldest chunk in flight */

	loff_t pos; /* file position of the next chunk */
	loff_t start; /* file position of the first page */
	loff_t end; /* first byte that no page may use; 0: no limit */
	loff_t most; /* largest size of the output, or that the starting process may give it */
	loff_t allocated; /* file space up to here is allocated */
	u64 step; /* bytes of the next allocation */
	bool allocates; /* the file system supports fallocate() */
	u64 reserve; /* bytes to keep free behind the pages, for what the recorder adds at the end */
	u32 reserve_per_page; /* ... and this many more for each page */

	bool full; /* no further page is written: the rest is discarded */
	bool failed; /* a write failed: chunks in flight behind it are discarded too */
	unsigned int first_cpu; /* CPU where gathering starts, for fairness */
	struct list_head inherited; /* pages that the dead owner had; written before those in the rings */
	u64 pages_written;
};

/* Written by the thread, except where noted; set up and freed under the recording's lock while there is no thread. */
struct fkt_drain {
	struct task_struct *task;
	/*
	 * Counts, not completions, which the next start or park would set back: a waiter that has not run yet would
	 * wait for that one, too.
	 */
	u32 threads; /* threads created so far; changed under the recording's lock */
	u32 ended; /* the last thread that has written all pages: it accesses nothing else of this structure any more */
	u32 parks; /* times that the machine was about to sleep; changed under the recording's lock */
	u32 parked; /* the last park for which all pages were written: nothing is, while `park` has this number */
	wait_queue_head_t changed; /* waiters for `ended` and `parked` */
	const struct fkt_engine *engine; /* the one by which pages leave at present; fkt_inherit() changes it */
	struct fkt_writeout writeout;
	struct fkt_page_index index; /* of the pages written */
	struct fkt_charge charge; /* if the thread may write to an output */

	bool stopping; /* the thread has seen that the rings are closed */
	/* the machine is about to sleep (`parks`): the thread must write all complete pages, and wait; 0: it is not */
	u32 park;
	bool stop_when_full; /* the first lost event ends the recording */
	bool warned;
	bool quickened; /* fkt_recording_quicken() was called */
	u64 ticks_per_s;
	unsigned long next_all; /* when all complete pages are written, however few (jiffies) */
	u64 next_clock; /* when the next clock event is due (ticks) */
	u64 cpu_ns; /* CPU time of the thread, up to its last look at the rings */
	u32 wakeups;
};

/* Used by the engine checkin (checkin.c): by the drain thread, and its own thread where noted. */
struct fkt_writeback {
	struct task_struct *task;
	struct completion ended; /* the thread does not access this structure any more */
	bool stop; /* no more frames will be added: write back the rest and end */
	wait_queue_head_t wait;
	struct file *out;
	loff_t written; /* frames are in the page cache up to here; used by the drain only */
	loff_t asked; /* write-back is requested up to here; written by the drain */
	loff_t started; /* write-back was started up to here; used by the thread only */
	loff_t batch; /* bytes that may wait before write-back is requested */
	u64 copied; /* bytes of frames that were copied, because the page cache had a page there already */
	struct fkt_checkout checkout;
};

#endif /* FKT_DRAIN_STATE_H */
