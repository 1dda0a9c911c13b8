/* SPDX-License-Identifier: GPL-2.0-only */
/* What the drain and its engines share. */
#ifndef FKT_DRAIN_H
#define FKT_DRAIN_H

#include <linux/bvec.h>
#include <linux/fs.h>
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

void fkt_drain_written(struct fkt_chunk *chunk, ssize_t result);

/* The part of a chunk that is not written yet, as an iterator. */
static inline void fkt_chunk_iter(struct fkt_chunk *chunk, struct iov_iter *iter)
{
	iov_iter_bvec(iter, ITER_SOURCE, chunk->bvec, chunk->count, chunk->bytes);
	iov_iter_advance(iter, chunk->written);
}

#endif /* FKT_DRAIN_H */
