// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures how much of the recording is caused by the recording itself: by its owner's threads and the
 * drain. If writing one page generates about a page of events, the recording feeds on itself (FKT
 * report, section 8.2.1). Computed from a sample of the pages taken from the rings, so that no probe
 * has to count.
 */

#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>

#include <fkt/ioctl.h>
#include <fkt/page_walk.h>
#include <fkt/wire.h>

#include "own.h"

/* Every EVERY-th page of each CPU is examined. */
#define EVERY 32

/* Written by the drain side, which is one thread at a time. */
static struct {
	pid_t recorder; /* tgid */
	pid_t drain;
	u64 looked_at; /* bytes of words */
	u64 bytes; /* bytes of words written while the recorder's threads or the drain ran */
} own;

void fkt_own_start(const struct task_struct *drain)
{
	own.recorder = task_tgid_nr(current);
	own.drain = drain->pid;
	WRITE_ONCE(own.looked_at, 0);
	WRITE_ONCE(own.bytes, 0);
}

static int is_own(u32 tid)
{
	const struct task_struct *task;
	int is;

	if (!tid || tid == own.drain || tid == own.recorder)
		return tid != 0;
	rcu_read_lock();
	task = pid_task(find_pid_ns(tid, &init_pid_ns), PIDTYPE_PID);
	is = task && task_tgid_nr((struct task_struct *)task) == own.recorder;
	rcu_read_unlock();
	return is;
}

/* Examines a page that was taken from its ring, if it belongs to the sample. */
void fkt_own_look(const struct fkt_page_header *header)
{
	if (header->seq % EVERY)
		return;
	WRITE_ONCE(own.looked_at, own.looked_at + header->used - FKT_PAGE_HEADER_BYTES);
	WRITE_ONCE(own.bytes, own.bytes + fkt_page_bytes_of(header, header->used, is_own));
}

/* Lockless: the two values may be of different moments. */
void fkt_own_status(struct fkt_status *status)
{
	status->looked_at = READ_ONCE(own.looked_at);
	status->own_bytes = READ_ONCE(own.bytes);
}
