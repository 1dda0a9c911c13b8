/* SPDX-License-Identifier: GPL-2.0-only */
/* splice, sendfile and read by the owner. */
#ifndef FKT_FETCH_H
#define FKT_FETCH_H

#include <linux/types.h>

struct file;
struct iov_iter;
struct kiocb;
struct pipe_inode_info;

ssize_t fkt_fetch_splice(struct file *file, loff_t *ppos, struct pipe_inode_info *pipe, size_t len,
			 unsigned int flags);
ssize_t fkt_fetch_read(struct kiocb *iocb, struct iov_iter *to);

#endif /* FKT_FETCH_H */
