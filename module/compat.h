/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All differences between the supported kernels, 6.1 and 6.12, newest form first. Nothing else in
 * the module tests a version.
 */
#ifndef FKT_COMPAT_H
#define FKT_COMPAT_H

#include <linux/fs.h>
#include <linux/pagemap.h>
#include <linux/version.h>

/*
 * Freeze protection of an asynchronous write to a regular file: held from the submission to the
 * completion, which may run in another context. 6.6 made helpers of what fs/aio.c did by hand.
 */
static inline void fkt_kiocb_start_write(struct kiocb *iocb)
{
	struct inode *inode = file_inode(iocb->ki_filp);

	if (!S_ISREG(inode->i_mode))
		return;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	kiocb_start_write(iocb);
#else
	sb_start_write(inode->i_sb);
	/* Lockdep believes that the task holds it when it returns: tell it that it does not. */
	__sb_writers_release(inode->i_sb, SB_FREEZE_WRITE);
#endif
}

static inline void fkt_kiocb_end_write(struct kiocb *iocb)
{
	struct inode *inode = file_inode(iocb->ki_filp);

	if (!S_ISREG(inode->i_mode))
		return;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	kiocb_end_write(iocb);
#else
	__sb_writers_acquired(inode->i_sb, SB_FREEZE_WRITE);
	sb_end_write(inode->i_sb);
#endif
}

/* What write_begin() finds and write_end() takes: folios since 6.12, pages before. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
typedef struct folio fkt_cache_page;
#define fkt_cache_frame(found, pos) folio_file_page(found, (pos) >> PAGE_SHIFT)
#else
typedef struct page fkt_cache_page;
#define fkt_cache_frame(found, pos) (found)
#endif

#endif /* FKT_COMPAT_H */
