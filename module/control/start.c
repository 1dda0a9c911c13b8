// SPDX-License-Identifier: GPL-2.0-only
/* Checks the arguments of FKT_START before they are used. */

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/overflow.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "start.h"

/* Positions in the output are loff_t: every later sum of these numbers must fit. */
static int check_extent(const struct fkt_start *start)
{
	u64 sum;

	if (check_add_overflow(start->offset, start->limit, &sum) ||
	    check_add_overflow(sum, start->reserve, &sum) || sum > S64_MAX)
		return -EINVAL;
	return 0;
}

/*
 * Checks the arguments that do not depend on the output. -EPROTO: another ABI version; -EINVAL: an
 * invalid value.
 */
int fkt_start_check(const struct fkt_start *start)
{
	if (start->abi != FKT_ABI_VERSION || start->size != sizeof(*start))
		return -EPROTO;
	if (start->mask & ~fkt_all_layers())
		return -EINVAL;
	if (start->flags & ~(FKT_START_ARGS | FKT_START_STOP_WHEN_FULL | FKT_START_OVERWRITE |
			     FKT_START_NO_PAIRS | FKT_START_ENGINE(0xff)))
		return -EINVAL;
	if ((start->flags & FKT_START_STOP_WHEN_FULL) && (start->flags & FKT_START_OVERWRITE))
		return -EINVAL;
	if (FKT_START_ENGINE_OF(start->flags) == FKT_ENGINE_URING && start->out_fd >= 0 &&
	    !(start->flags & FKT_START_OVERWRITE))
		return -EINVAL;
	/* Only kft/run.c takes the pages of this engine. */
	if (FKT_START_ENGINE_OF(start->flags) == FKT_ENGINE_KFT)
		return -EINVAL;
	if (!start->recording || start->offset % PAGE_SIZE)
		return -EINVAL;
	return check_extent(start);
}

static int check_output(const struct file *out)
{
	const struct inode *inode = out->f_mapping->host;

	if (!(out->f_mode & FMODE_WRITE) || (out->f_flags & O_APPEND) || !out->f_op->write_iter ||
	    (!S_ISREG(inode->i_mode) && !S_ISBLK(inode->i_mode)))
		return -EBADF;
	if (IS_IMMUTABLE(inode))
		return -EPERM;
	return IS_SWAPFILE(inode) ? -ETXTBSY : 0;
}

/* Returns the file or device that pages are written to, with a reference; NULL if there is none; or an ERR_PTR. */
struct file *fkt_start_output(const struct fkt_start *start)
{
	struct file *out;
	int err;

	if (start->out_fd < 0)
		return NULL;
	out = fget(start->out_fd);
	if (!out)
		return ERR_PTR(-EBADF);
	err = check_output(out);
	if (!err)
		return out;
	fput(out);
	return ERR_PTR(err);
}
