// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of what is recorded the recording makes itself: its owner's threads and the drain. When
 * writing a page fills about a page, the recording feeds on itself (FKT report, section 8.2.1). Found out from
 * a sample of the pages that leave, so that no probe has to count.
 */

#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>

#include <fkt/page_walk.h>

#include "fkt.h"

/* One page of a CPU in so many is looked at. */
#define EVERY 32

/* Written by whoever drains, one at a time. */
static struct {
	pid_t recorder; /* tgid */
	pid_t drain;
	u64 looked_at; /* bytes of words */
	u64 bytes; /* ... of our own */
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

/* A sealed page leaves its ring. */
void fkt_own_look(const struct fkt_page_header *header)
{
	if (header->seq % EVERY)
		return;
	WRITE_ONCE(own.looked_at, own.looked_at + header->used - FKT_PAGE_HEADER_BYTES);
	WRITE_ONCE(own.bytes, own.bytes + fkt_page_bytes_of(header, header->used, is_own));
}

/* Lockless: a glance. */
void fkt_own_status(struct fkt_status *status)
{
	status->looked_at = READ_ONCE(own.looked_at);
	status->own_bytes = READ_ONCE(own.bytes);
}
