/* SPDX-License-Identifier: GPL-2.0-only */
/* Definitions shared by the drain and its engines. */
#ifndef FKT_DRAIN_H
#define FKT_DRAIN_H

#include <linux/bvec.h>
#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/rcuwait.h>
#include <linux/uio.h>

#include "fkt.h"

/* One write: up to FKT_CHUNK_PAGES pages of any CPUs, consecutive in the file. */
struct fkt_chunk {
	struct kiocb iocb;
	struct bio_vec bvec[FKT_CHUNK_PAGES];
	struct fkt_page *pages[FKT_CHUNK_PAGES];
	struct fkt_drain *drain;
	struct file *out;
	loff_t pos; /* in the output (bytes) */
	u32 count; /* pages */
	u32 bytes;
	u32 written; /* bytes written by earlier, short writes */
	ssize_t result; /* of the last write: bytes or -errno; valid once `finished` */
	int error; /* used by checkin.c: error of the page behind `written`, whose content is gone */
	bool finished; /* store-release by the completion, load-acquire by the drain */
};

struct fkt_drain {
	struct task_struct *task;
	struct completion ended; /* the thread has written all pages, and does not access this structure any more */
	struct completion parked; /* the thread writes nothing until `park` is cleared, or it has ended */
	const struct fkt_engine *engine;
	struct file *out;
	struct rcuwait wait; /* the thread's; can be woken where spinlocks must not be taken */
	wait_queue_head_t readers; /* tasks in poll, splice and read */
	bool kicked;

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
	u64 reserve;
	u32 reserve_per_page;

	bool full; /* no further page is written: the rest is discarded */
	bool failed; /* a write failed: chunks in flight behind it are discarded too */
	bool stop; /* no more pages will be completed: the thread must write the rest and end */
	bool stopping; /* the thread has seen `stop` */
	bool park; /* the machine is about to sleep: the thread must write all complete pages and wait */
	bool stop_when_full; /* the first lost event ends the recording */
	bool overwrite; /* flight recorder: pages stay until the stop, the oldest are overwritten */
	bool leave; /* ... but at present they can be taken; changes under the owner's lock */
	bool warned;
	u64 ticks_per_s;
	u64 next_clock; /* when the next clock event is due (ticks) */
	unsigned int first_cpu; /* CPU where gathering starts, for fairness */
	struct list_head inherited; /* pages that the dead owner had; written before those in the rings */

	u64 pages_written;
	u64 cpu_ns; /* CPU time of the thread, up to its last look at the rings */
	u32 wakeups;
};

/* chunks.c */
void fkt_drain_written(struct fkt_chunk *chunk, ssize_t result);
void fkt_drain_refill(struct fkt_drain *d);
bool fkt_chunks_move(struct fkt_drain *d);
bool fkt_drain_fits(const struct fkt_drain *d, loff_t upto, loff_t *need);

/* output.c */
int fkt_output_limits(struct fkt_drain *d, const struct fkt_start *start);
const struct fkt_engine *fkt_output_engine(const struct fkt_start *start, struct file *out);
const struct fkt_engine *fkt_output_best_engine(const struct file *out);

/* Initialises an iterator over the part of a chunk that is not written yet. */
static inline void fkt_chunk_iter(struct fkt_chunk *chunk, struct iov_iter *iter)
{
	iov_iter_bvec(iter, ITER_SOURCE, chunk->bvec, chunk->count, chunk->bytes);
	iov_iter_advance(iter, chunk->written);
}

/* ---- checkout.c: takes frames back that were checked in to the page cache ---- */

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
