// SPDX-License-Identifier: GPL-2.0-only
/* The output of a recording: how much it can hold, and which engine writes it. */

#include <linux/fs.h>
#include <linux/math64.h>
#include <linux/sched/signal.h>

#include <fkt/ioctl.h>

#include "ring/page_pool.h"
#include "checkin.h"
#include "engine.h"
#include "output.h"
#include "reader.h"
#include "writeout.h"

#define ALLOCATE_MIN (1ULL << 20) /* bytes of file space allocated in the first step; writeout.c doubles it */

/*
 * Returns the largest possible size of the output: that of a device, or the limit of the file's file
 * system and of the starting process.
 */
static loff_t largest_size(const struct file *out)
{
	const struct inode *inode = out->f_mapping->host;
	unsigned long allowed = rlimit(RLIMIT_FSIZE);
	loff_t most;

	if (S_ISBLK(inode->i_mode))
		return i_size_read(inode);
	most = inode->i_sb->s_maxbytes;
	if (!(out->f_flags & O_LARGEFILE))
		most = min_t(loff_t, most, MAX_NON_LFS);
	/* Read here, because the drain thread, which writes, has no such limit. */
	return allowed == RLIM_INFINITY ? most : min_t(u64, most, allowed);
}

/*
 * Sets where in the output the pages go and how far they may reach. Returns 0 or a negative errno. -ENOSPC,
 * -EFBIG: the output has no room for even one page; -EINVAL: the limit is smaller than a page.
 */
int fkt_output_limits(struct fkt_writeout *w, const struct fkt_start *start)
{
	u32 page = fkt_rings_page_bytes();
	bool device;
	loff_t need;

	if (start->limit && start->limit < page)
		return -EINVAL;
	w->pos = start->offset;
	w->start = start->offset;
	w->allocated = start->offset;
	w->end = start->limit ? start->offset + start->limit : 0;
	w->reserve = start->reserve;
	w->reserve_per_page = start->reserve_per_page;
	w->step = ALLOCATE_MIN;
	w->allocates = false;
	if (!w->out)
		return 0;
	device = S_ISBLK(file_inode(w->out)->i_mode);
	w->allocates = S_ISREG(file_inode(w->out)->i_mode);
	w->most = largest_size(w->out);
	if (!fkt_writeout_fits(w, w->start + page, &need))
		return device ? -ENOSPC : -EFBIG;
	/* The end of a device ends the recording like a limit, with room for the tail behind it. */
	if (device) {
		u64 pages = div64_u64(w->most - w->start - w->reserve, (u64)page + w->reserve_per_page);
		loff_t end = w->start + pages * page;

		w->end = w->end ? min(w->end, end) : end;
	}
	return 0;
}

/* Here, and not where the pages are taken (kft/run.c), so that the drain does not depend on what records by it. */
const struct fkt_engine fkt_engine_kft = {
	.id = FKT_ENGINE_KFT,
	.takes = FKT_TAKES_KFT,
	.refills = true,
	.readable = fkt_reader_complete,
};

static bool can_direct(const struct file *out)
{
	return (out->f_flags & O_DIRECT) && (out->f_mode & FMODE_CAN_ODIRECT);
}

/* Returns the engine that writes the output if none was asked for. */
const struct fkt_engine *fkt_output_best_engine(const struct file *out)
{
	return can_direct(out) ? &fkt_engine_direct : &fkt_engine_buffered;
}

/* Returns the engine asked for, the best one if none was, or NULL if it does not fit the output. out: NULL: none */
const struct fkt_engine *fkt_output_engine(const struct fkt_start *start, struct file *out)
{
	switch (FKT_START_ENGINE_OF(start->flags)) {
	case FKT_ENGINE_NONE:
		return out ? fkt_output_best_engine(out) : &fkt_engine_sendfile;
	case FKT_ENGINE_DIRECT:
		return out && can_direct(out) ? &fkt_engine_direct : NULL;
	case FKT_ENGINE_BUFFERED:
		return out ? &fkt_engine_buffered : NULL;
	case FKT_ENGINE_CHECKIN:
		return out && fkt_checkin_possible(out) ? &fkt_engine_checkin : NULL;
	case FKT_ENGINE_SENDFILE:
		return out ? NULL : &fkt_engine_sendfile;
	case FKT_ENGINE_URING:
		return &fkt_engine_uring;
	case FKT_ENGINE_KFT:
		return &fkt_engine_kft;
	}
	return NULL;
}
