/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing by the drain: the output, and the chunks of pages on their way to it. */
#ifndef FKT_WRITEOUT_H
#define FKT_WRITEOUT_H

#include <linux/bvec.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/uio.h>

#include "cpu_ring.h"

struct fkt_engine;
struct fkt_page;

#define FKT_CHUNK_PAGES FKT_BATCH_PAGES /* pages of one write */
#define FKT_CHUNKS 8 /* chunks in flight */

/* One write: up to FKT_CHUNK_PAGES pages of any CPUs, consecutive in the file. */
struct fkt_chunk {
	struct kiocb iocb;
	struct bio_vec bvec[FKT_CHUNK_PAGES];
	struct fkt_page *pages[FKT_CHUNK_PAGES];
	struct file *out;
	loff_t pos; /* in the output (bytes) */
	u32 count; /* pages */
	u32 bytes;
	u32 written; /* bytes written by earlier, short writes */
	ssize_t result; /* of the last write: bytes or -errno; valid once `finished` */
	int error; /* used by checkin.c: error of the page behind `written`, whose content is gone */
	bool finished; /* store-release by the completion, load-acquire by the drain */
};

/* Used by the drain thread, and set up before that is created, except `inherited` (fkt_drain_inherit()). */
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

void fkt_chunk_written(struct fkt_chunk *chunk, ssize_t result);
bool fkt_writeout_move(struct fkt_writeout *w, const struct fkt_engine *engine, bool all, bool refill);
bool fkt_writeout_fits(const struct fkt_writeout *w, loff_t upto, loff_t *need);
void fkt_writeout_truncate(const struct fkt_writeout *w);

/* Returns whether chunks are in flight. Called from the drain thread. */
static inline bool fkt_writeout_busy(const struct fkt_writeout *w)
{
	return w->head != w->tail;
}

/* Initialises an iterator over the part of a chunk that is not written yet. */
static inline void fkt_chunk_iter(struct fkt_chunk *chunk, struct iov_iter *iter)
{
	iov_iter_bvec(iter, ITER_SOURCE, chunk->bvec, chunk->count, chunk->bytes);
	iov_iter_advance(iter, chunk->written);
}

#endif /* FKT_WRITEOUT_H */
