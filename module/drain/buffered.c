// SPDX-License-Identifier: GPL-2.0-only
/* Writes through the page cache, with one copy: for outputs without direct I/O (tmpfs, network file systems). */

#include <linux/fs.h>
#include <linux/uio.h>

#include "engine.h"
#include "write_at.h"
#include "writeout.h"

static void buffered_write(struct fkt_chunk *chunk)
{
	struct iov_iter iter;
	struct kiocb iocb;
	ssize_t ret;

	/*
	 * Not vfs_iter_write(): whether it or its caller takes the freeze protection depends on the
	 * kernel version.
	 */
	fkt_write_at(&iocb, chunk->out, chunk->pos + chunk->written);
	iocb.ki_flags &= ~IOCB_DIRECT;
	fkt_chunk_iter(chunk, &iter);
	file_start_write(chunk->out);
	ret = chunk->out->f_op->write_iter(&iocb, &iter);
	file_end_write(chunk->out);
	fkt_chunk_written(chunk, ret);
}

const struct fkt_engine fkt_engine_buffered = {
	.id = FKT_ENGINE_BUFFERED,
	.copies = true,
	.write = buffered_write,
};
