/* SPDX-License-Identifier: GPL-2.0-only */
/* The drain: its state, which chunks.c, output.c and the engines that write share, and its life cycle. */
#ifndef FKT_DRAIN_H
#define FKT_DRAIN_H

#include <linux/completion.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/types.h>

#include <fkt/ioctl.h>

struct fkt_chunk;
struct fkt_engine;

struct fkt_drain {
	struct task_struct *task;
	struct completion ended; /* the thread has written all pages, and does not access this structure any more */
	struct completion parked; /* the thread writes nothing until `park` is cleared, or it has ended */
	const struct fkt_engine *engine;
	struct file *out;

	struct fkt_chunk *chunks; /* ring of FKT_CHUNKS chunks */
	u32 head; /* next chunk to fill */
	u32 tail; /* oldest chunk in flight */

	loff_t pos; /* file position of the next chunk */
	loff_t start; /* file position of the first page */
	loff_t end; /* first byte that no page may use; 0: no limit */
	loff_t most; /* largest size of the output, or that the starting process may give it */
	loff_t allocated; /* file space up to here is allocated */
	u64 step; /* bytes of the next allocation */
	bool allocates; /* the file system supports fallocate() */
	u64 reserve;
	u32 reserve_per_page;

	bool full; /* no further page is written: the rest is discarded */
	bool failed; /* a write failed: chunks in flight behind it are discarded too */
	bool stop; /* no more pages will be completed: the thread must write the rest and end */
	bool stopping; /* the thread has seen `stop` */
	bool park; /* the machine is about to sleep: the thread must write all complete pages and wait */
	bool stop_when_full; /* the first lost event ends the recording */
	bool overwrite; /* flight recorder: pages stay until the stop, the oldest are overwritten */
	bool leave; /* ... but at present they can be taken; changes under the owner's lock */
	bool warned;
	u64 ticks_per_s;
	u64 next_clock; /* when the next clock event is due (ticks) */
	unsigned int first_cpu; /* CPU where gathering starts, for fairness */
	struct list_head inherited; /* pages that the dead owner had; written before those in the rings */

	u64 pages_written;
	u64 cpu_ns; /* CPU time of the thread, up to its last look at the rings */
	u32 wakeups;
};

int fkt_drain_start(const struct fkt_start *start, struct file *out);
void fkt_drain_finish(void);
int fkt_drain_wait(void);
void fkt_drain_join(void);
bool fkt_drain_ended(void);
void fkt_drain_stop(void);
void fkt_drain_introduce(void);
void fkt_drain_release(void);
void fkt_drain_inherit(void);
void fkt_drain_truncate(void);
bool fkt_drain_park(void);
int fkt_drain_wait_parked(long limit);
void fkt_drain_unpark(void);
bool fkt_drain_leaves_by(const struct fkt_engine *engine);
int fkt_drain_leave(bool leave);
bool fkt_drain_keeps(void);
bool fkt_drain_fetch_room(void);
void fkt_drain_status(struct fkt_status *status);

#endif /* FKT_DRAIN_H */
