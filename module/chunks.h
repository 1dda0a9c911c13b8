/* SPDX-License-Identifier: GPL-2.0-only */
/* The writes of the drain. */
#ifndef FKT_CHUNKS_H
#define FKT_CHUNKS_H

#include <linux/bvec.h>
#include <linux/fs.h>
#include <linux/types.h>
#include <linux/uio.h>

#include "cpu_ring.h"

struct fkt_drain;
struct fkt_page;

#define FKT_CHUNK_PAGES FKT_BATCH_PAGES /* pages of one write */
#define FKT_CHUNKS 8 /* chunks in flight */

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

void fkt_drain_written(struct fkt_chunk *chunk, ssize_t result);
void fkt_drain_refill(struct fkt_drain *d);
bool fkt_chunks_move(struct fkt_drain *d);
bool fkt_drain_fits(const struct fkt_drain *d, loff_t upto, loff_t *need);

/* Initialises an iterator over the part of a chunk that is not written yet. */
static inline void fkt_chunk_iter(struct fkt_chunk *chunk, struct iov_iter *iter)
{
	iov_iter_bvec(iter, ITER_SOURCE, chunk->bvec, chunk->count, chunk->bytes);
	iov_iter_advance(iter, chunk->written);
}

#endif /* FKT_CHUNKS_H */
