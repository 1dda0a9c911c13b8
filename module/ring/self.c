// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that the module itself writes (what the drain does, clock readings, changes of the mask and of instruments),
 * and the share of the recording that its owner's threads and the drain cause themselves. If writing one page generates
 * about a page of events, the recording feeds on itself. The share is computed from a sample of the pages taken from
 * the rings, so that no probe has to count.
 */

#include <linux/irqflags.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/page_walk.h>
#include <fkt/wire.h>

#include "clock.h"
#include "own.h"
#include "self.h"
#include "write.h"

/* ---- events ---- */

/*
 * Writes an event with a number of pages and a word, if the layer is on. The mask is read with
 * preemption off: a stop clears the mask and waits for all code that saw it set before it closes the
 * rings.
 */
void fkt_tell(u32 id, u32 pages, u64 word)
{
	preempt_disable_notrace();
	if (fkt_layer_on(FKT_L_FKT))
		fkt_emit(id, pages, &word, 1);
	preempt_enable_notrace();
}

/*
 * Writes a clock event on this CPU, if a recording runs; returns false if the clocks could not be read at one moment.
 */
bool fkt_tell_clock(void)
{
	struct fkt_clocks clocks;
	unsigned long flags;
	bool is_read = true;

	/* No interrupt may come between the readings and the stamp. */
	local_irq_save(flags);
	if (READ_ONCE(fkt_mask)) {
		is_read = fkt_clock_read_now(&clocks);
		if (is_read) {
			const u64 words[FKT_N_CLOCK] = { clocks.mono_raw_ns, clocks.mono_ns, clocks.real_ns };

			fkt_emit(FKT_E_CLOCK, 0, words, FKT_N_CLOCK);
		}
	}
	local_irq_restore(flags);
	return is_read;
}

/* Writes a mask event: from here on these layers are recorded. Caller must hold the recording's lock. */
void fkt_tell_mask(u64 mask)
{
	preempt_disable_notrace();
	fkt_emit(FKT_E_MASK, 0, &mask, FKT_N_MASK);
	preempt_enable_notrace();
}

/* Writes a table event: from here on hits are those of this table. Caller must hold the recording's lock. */
void fkt_tell_table(u32 number, u64 instruments)
{
	preempt_disable_notrace();
	fkt_emit(FKT_E_TABLE, number, &instruments, FKT_N_TABLE);
	preempt_enable_notrace();
}

/* ---- the own share ---- */

/*
 * Of each CPU the FIRST pages are examined, because no others may follow, then every EVERY-th one, which counts for
 * all.
 */
#define FIRST 64
#define EVERY 32

/* Written by the drain side, which is one thread at a time. Static, as are the rings whose pages are examined. */
static struct fkt_self {
	pid_t recorder; /* tgid */
	pid_t drain;
	const struct task_struct *drain_task; /* only compared */
	bool leaves_out; /* there are instruments with FKT_FLAG_NOT_SELF */
	u64 sampled_bytes; /* bytes of words in the pages that those examined count for */
	u64 bytes; /* likewise, of words written while the recorder's threads or the drain ran */
} self;

/* Matches no thread's tgid. */
#define NO_TGID (-1)

struct fkt_own fkt_own = { .recorder = NO_TGID };

static void choose_own(void)
{
	WRITE_ONCE(fkt_own.drain, self.leaves_out ? self.drain_task : NULL);
	WRITE_ONCE(fkt_own.recorder, self.leaves_out ? self.recorder : NO_TGID);
}

/*
 * Sets whether an instrument has FKT_FLAG_NOT_SELF. If one of FKT's threads is running, its events may still be written
 * until its CPU switches to another thread. Caller must hold the recording's lock.
 */
void fkt_self_leave_out(bool leaves_out)
{
	self.leaves_out = leaves_out;
	choose_own();
}

/* Called in a thread of the recorder, before the hooks are on. */
void fkt_self_start(const struct task_struct *drain)
{
	self.recorder = task_tgid_nr(current);
	self.drain = drain->pid;
	self.drain_task = drain;
	choose_own();
	WRITE_ONCE(self.sampled_bytes, 0);
	WRITE_ONCE(self.bytes, 0);
}

static int is_self(u32 tid)
{
	const struct task_struct *task;
	int is;

	if (!tid || tid == self.drain || tid == self.recorder)
		return tid != 0;
	rcu_read_lock();
	task = pid_task(find_pid_ns(tid, &init_pid_ns), PIDTYPE_PID);
	is = task && task_tgid_nr((struct task_struct *)task) == self.recorder;
	rcu_read_unlock();
	return is;
}

/* Examines a page that was taken from its ring, if it belongs to the sample. */
void fkt_self_look(const struct fkt_page_header *header)
{
	const u32 pages = header->seq < FIRST ? 1 : EVERY;

	if (header->seq % pages)
		return;
	WRITE_ONCE(self.sampled_bytes, self.sampled_bytes + pages * (header->used - FKT_PAGE_HEADER_BYTES));
	WRITE_ONCE(self.bytes, self.bytes + pages * fkt_page_bytes_of(header, header->used, is_self));
}

/* Lockless: the two values may be of different moments. */
void fkt_self_status(struct fkt_status *status)
{
	status->sampled_bytes = READ_ONCE(self.sampled_bytes);
	status->own_bytes = READ_ONCE(self.bytes);
}
