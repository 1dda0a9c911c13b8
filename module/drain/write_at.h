/* SPDX-License-Identifier: GPL-2.0-only */
/* The begin of a write to the output, for the engines that write. */
#ifndef FKT_WRITE_AT_H
#define FKT_WRITE_AT_H

#include <linux/fs.h>

/*
 * Makes *iocb a write at this position. The owner may have set O_APPEND after the start, which refuses it: pages would
 * go to the end of the file then.
 */
static inline void fkt_write_at(struct kiocb *iocb, struct file *out, loff_t pos)
{
	init_sync_kiocb(iocb, out);
	iocb->ki_flags &= ~IOCB_APPEND;
	iocb->ki_pos = pos;
}

#endif /* FKT_WRITE_AT_H */
