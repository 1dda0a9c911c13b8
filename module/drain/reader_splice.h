/* SPDX-License-Identifier: GPL-2.0-only */
/* splice, sendfile and read by the owner. */
#ifndef FKT_READER_SPLICE_H
#define FKT_READER_SPLICE_H

#include <linux/types.h>

struct file;
struct iov_iter;
struct kiocb;
struct pipe_inode_info;

ssize_t fkt_reader_splice(struct file *file, loff_t *ppos, struct pipe_inode_info *pipe, size_t len,
			 unsigned int flags);
ssize_t fkt_reader_read(struct kiocb *iocb, struct iov_iter *to);

#endif /* FKT_READER_SPLICE_H */
