/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing by the drain: the output, and the chunks of pages on their way to it. */
#ifndef FKT_WRITEOUT_H
#define FKT_WRITEOUT_H

#include <linux/bvec.h>
#include <linux/fs.h>
#include <linux/types.h>
#include <linux/uio.h>

#include "ring/cpu_ring.h"
#include "drain_state.h"

struct fkt_engine;
struct fkt_page;
struct fkt_recording;

#define FKT_CHUNK_PAGES FKT_BATCH_PAGES /* pages of one write */
#define FKT_CHUNKS 8 /* chunks in flight */

/* One write: up to FKT_CHUNK_PAGES pages of any CPUs, consecutive in the file. */
struct fkt_chunk {
	struct kiocb iocb;
	struct bio_vec bvec[FKT_CHUNK_PAGES];
	struct fkt_page *pages[FKT_CHUNK_PAGES];
	struct fkt_recording *recording;
	struct file *out;
	loff_t pos; /* in the output (bytes) */
	u32 count; /* pages */
	u32 bytes;
	u32 written; /* bytes written by earlier, short writes */
	ssize_t result; /* of the last write: bytes or -errno; valid once `finished` */
	int error; /* used by checkin.c: error of the page behind `written`, whose content is gone */
	bool finished; /* store-release by the completion, load-acquire by the drain */
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
