// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asynchronous direct writes from the ring's own pages: the disk reads the memory that the probes
 * wrote. For files opened with O_DIRECT.
 */

#include <linux/fs.h>
#include <linux/uio.h>

#include "base/compat.h"
#include "engine.h"
#include "write_at.h"
#include "writeout.h"

/* May run in interrupt context, and before write_iter() has returned. */
static void direct_complete(struct kiocb *iocb, long result)
{
	struct fkt_chunk *chunk = container_of(iocb, struct fkt_chunk, iocb);

	fkt_kiocb_end_write(iocb);
	fkt_chunk_written(chunk, result);
}

static void direct_write(struct fkt_chunk *chunk)
{
	struct iov_iter iter;
	ssize_t ret;

	fkt_write_at(&chunk->iocb, chunk->out, chunk->pos + chunk->written);
	chunk->iocb.ki_complete = direct_complete;
	fkt_chunk_iter(chunk, &iter);

	fkt_kiocb_start_write(&chunk->iocb);
	ret = chunk->out->f_op->write_iter(&chunk->iocb, &iter);
	/* All other results are final, and the completion is not called. */
	if (ret != -EIOCBQUEUED)
		direct_complete(&chunk->iocb, ret);
}

const struct fkt_engine fkt_engine_direct = {
	.id = FKT_ENGINE_DIRECT,
	.keeps_header = true,
	.write = direct_write,
};
