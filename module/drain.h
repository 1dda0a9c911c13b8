/* SPDX-License-Identifier: GPL-2.0-only */
/* What the drain and its engines share. */
#ifndef FKT_DRAIN_H
#define FKT_DRAIN_H

#include <linux/bvec.h>
#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/rcuwait.h>
#include <linux/uio.h>

#include "fkt.h"

/* One write: consecutive in the file, up to FKT_CHUNK_PAGES pages of any CPUs. */
struct fkt_chunk {
	struct kiocb iocb;
	struct bio_vec bvec[FKT_CHUNK_PAGES];
	struct fkt_page *pages[FKT_CHUNK_PAGES];
	struct fkt_drain *drain;
	struct file *out;
	loff_t pos; /* in the output (bytes) */
	u32 count; /* pages */
	u32 bytes;
	u32 written; /* bytes, by earlier writes that came up short */
	ssize_t result; /* of the last write: bytes or -errno; valid once `finished` */
	int error; /* checkin.c's: of the page behind `written`, whose content is gone */
	bool finished; /* store-release by the completion, load-acquire by the drain */
};

struct fkt_drain {
	struct task_struct *task;
	struct completion ended; /* the thread has written all, and touches no more of this */
	struct completion parked; /* it writes nothing until `park` is over, or it has ended */
	const struct fkt_engine *engine;
	struct file *out;
	struct rcuwait wait; /* the thread's: can be woken where a spinlock may not be taken */
	wait_queue_head_t readers; /* poll and fetch */
	bool kicked;

	struct fkt_chunk *chunks; /* FKT_CHUNKS of them, used in a circle */
	u32 head; /* next chunk to fill */
	u32 tail; /* oldest chunk in flight */

	loff_t pos; /* where the next chunk goes */
	loff_t start; /* where the first page went */
	loff_t end; /* first byte that no page may use; 0: no limit */
	loff_t most; /* largest size that the output can have, or that the starter may give it */
	loff_t allocated; /* file space up to here is ours */
	u64 step; /* of the next allocation */
	bool allocates; /* the file system can */
	u64 reserve;
	u32 reserve_per_page;

	bool full; /* no further page is written: the rest is discarded */
	bool failed; /* ... and what is in flight behind the failed write, too */
	bool stop; /* no page comes any more: the thread shall write what there is and end */
	bool stopping; /* it has seen that */
	bool park; /* the machine is about to sleep: the thread shall write what there is and rest */
	bool stop_when_full; /* the first loss ends the recording */
	bool overwrite; /* until the stop pages stay, the oldest make room */
	bool leave; /* ... but for now, they can be taken; changes under the owner's lock */
	bool warned;
	u64 ticks_per_s;
	u64 next_clock; /* when the next clock event is due (ticks) */
	unsigned int first_cpu; /* where gathering starts, for fairness */
	struct list_head inherited; /* pages that the dead owner had; written before what the rings have */

	u64 pages_written;
	u64 cpu_ns; /* CPU time of the thread, up to its last look at the rings */
	u32 wakeups;
};

/* chunks.c */
void fkt_drain_written(struct fkt_chunk *chunk, ssize_t result);
void fkt_drain_refill(struct fkt_drain *d);
bool fkt_chunks_move(struct fkt_drain *d);
bool fkt_drain_fits(const struct fkt_drain *d, loff_t upto, loff_t *need);

/* The part of a chunk that is not written yet, as an iterator. */
static inline void fkt_chunk_iter(struct fkt_chunk *chunk, struct iov_iter *iter)
{
	iov_iter_bvec(iter, ITER_SOURCE, chunk->bvec, chunk->count, chunk->bytes);
	iov_iter_advance(iter, chunk->written);
}

/* ---- checkout.c: frames that were checked in come back from the page cache ---- */

void fkt_checkout_start(u64 most);
bool fkt_checkout_can(void);
int fkt_checkout_add(struct address_space *mapping, struct folio *folio, pgoff_t index, gfp_t gfp);
void fkt_checkout_sent(struct page *frames);
void fkt_checkout_give_up(struct page *frames);
void fkt_checkout(struct address_space *mapping, loff_t from, loff_t upto);
struct page *fkt_checkout_frames(unsigned int cpu);
void fkt_checkout_stop(void);
void fkt_checkout_status(struct fkt_status *status);

#endif /* FKT_DRAIN_H */
