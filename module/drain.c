// SPDX-License-Identifier: GPL-2.0-only
/*
 * The drain: one kernel thread, by which complete pages leave the rings and come back as free ones. It
 * writes them itself (chunks.c), or sees that whoever takes them has some to take; and it looks
 * after the rings. Here is its life, from the choice of an engine to the stop.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/freezer.h>
#include <linux/kthread.h>
#include <linux/mount.h>
#include <linux/poll.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "drain.h"

#define TICK (HZ / 2) /* looks at the rings at least so often */
#define PAUSE_LIMIT (20 * HZ) /* what is recorded must be written in that time before a sleep */
#define ALLOCATE_MIN (1ULL << 20) /* bytes of file space in the first step; chunks.c doubles it */

static struct fkt_drain drain = {
	.wait = __WAIT_QUEUE_HEAD_INITIALIZER(drain.wait),
	.readers = __WAIT_QUEUE_HEAD_INITIALIZER(drain.readers),
	.inherited = LIST_HEAD_INIT(drain.inherited),
};

/* Wakes the thread and whoever waits for pages. From irq_work, interrupts, tasks; not from probes. */
void fkt_drain_kick(void)
{
	/* Paired by the wait queue: the flag is set before the waiters are looked at. */
	WRITE_ONCE(drain.kicked, true);
	wake_up(&drain.wait);
	wake_up_interruptible(&drain.readers);
}

wait_queue_head_t *fkt_drain_readers(void)
{
	return &drain.readers;
}

/* Is this the engine by which pages leave? */
bool fkt_drain_leaves_by(const struct fkt_engine *engine)
{
	return READ_ONCE(drain.engine) == engine;
}

/* Do pages stay, for the time being, where they are? Before the stop of a flight recorder. */
bool fkt_drain_keeps(void)
{
	return READ_ONCE(drain.overwrite) && !READ_ONCE(drain.leave) && !READ_ONCE(drain.stop);
}

/* A flight recorder's pages can be taken from now on, or stay again. Under capture.c's lock. */
int fkt_drain_leave(bool leave)
{
	if (!drain.overwrite || drain.engine->write)
		return -EOPNOTSUPP;
	/* The owner's lock: afterwards nobody makes room, or takes pages, as it was before. */
	fkt_owner_lock_drain();
	WRITE_ONCE(drain.leave, leave);
	fkt_owner_unlock();
	return 0;
}

/* Is there room for one more page that the owner will have? Under its lock. */
bool fkt_drain_fetch_room(void)
{
	struct fkt_drain *d = &drain;

	/* An output that is there for the owner's death has its own limit. */
	if (d->out)
		return true;
	if (d->end && d->pos + fkt_rings_page_bytes() > d->end) {
		fkt_capture_end(FKT_STOP_LIMIT, 0);
		return false;
	}
	d->pos += fkt_rings_page_bytes();
	return true;
}

/* ---- the thread ---- */

/* A CPU that has lost events, or -1. */
static int cpu_with_losses(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (READ_ONCE(per_cpu_ptr(&fkt_rings, cpu)->lost))
			return cpu;
	return -1;
}

static void warn_of_losses(struct fkt_drain *d)
{
	int cpu = d->warned ? -1 : cpu_with_losses();

	if (cpu < 0)
		return;
	d->warned = true;
	pr_warn("no free page on CPU %d: its recording %s, losses are counted and marked\n", cpu,
		d->stop_when_full ? "ends" : "pauses");
}

/*
 * A CPU wakes the readers when it has completed several pages. Those that complete few of them in a long
 * time have theirs taken all the same.
 */
static void wake_readers(struct fkt_drain *d)
{
	bool complete;

	if (READ_ONCE(d->engine)->write)
		return;
	fkt_owner_lock_drain();
	complete = fkt_owner_complete();
	fkt_owner_unlock();
	if (complete)
		wake_up_interruptible(&d->readers);
}

static void housekeep(struct fkt_drain *d)
{
	u64 now = fkt_clock();
	unsigned int cpu;

	/*
	 * Not now if a CPU is coming or going: that may take long. Not in a flight recorder, where a
	 * page that is closed early costs as much history as a full one.
	 */
	if (!d->overwrite && cpus_read_trylock()) {
		for_each_online_cpu(cpu)
			fkt_ring_close_old(cpu, now, d->ticks_per_s);
		cpus_read_unlock();
	}
	wake_readers(d);
	warn_of_losses(d);
	if ((s64)(now - d->next_clock) >= 0) {
		d->next_clock += 60 * d->ticks_per_s;
		fkt_clock_emit();
	}
}

static void overwrite(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		fkt_ring_overwrite(cpu);
}

/* Where the owner takes the pages: sees that there are free ones. True: look again soon. */
static bool serve_owner(struct fkt_drain *d)
{
	bool again;

	fkt_owner_lock_drain();
	if (fkt_drain_keeps()) {
		fkt_lend_overwrite();
		overwrite();
	} else if (d->engine == &fkt_engine_lend) {
		fkt_drain_refill(d);
	}
	again = fkt_fetch_reclaim();
	fkt_owner_unlock();
	return again;
}

/* What the rings have; true: look again soon. */
static bool move_pages(struct fkt_drain *d)
{
	/*
	 * Changes when the owner dies; a last round for it does no harm. Pairs with the store-release in
	 * fkt_drain_inherit(): with the engine come the pages that the owner had.
	 */
	if (!smp_load_acquire(&d->engine)->write)
		return serve_owner(d);
	if (d->overwrite && !d->stopping) {
		/* Not if they were inherited: they follow upon those that the owner had. */
		if (fkt_drain_keeps())
			overwrite();
		return false;
	}
	fkt_chunks_move(d);
	return false;
}

/*
 * Before the machine sleeps: returns when all complete pages are written and the thread writes no more,
 * until fkt_drain_resume() or a stop. EBUSY: the output takes too long. Under capture.c's lock.
 */
int fkt_drain_pause(void)
{
	struct fkt_drain *d = &drain;

	if (!d->task)
		return 0;
	reinit_completion(&d->paused);
	WRITE_ONCE(d->pause, true);
	fkt_drain_kick();
	if (wait_for_completion_timeout(&d->paused, PAUSE_LIMIT))
		return 0;
	fkt_drain_resume();
	return -EBUSY;
}

void fkt_drain_resume(void)
{
	WRITE_ONCE(drain.pause, false);
	fkt_drain_kick();
}

/* Nothing is in flight, and nothing came in this round: stays here while the machine is about to sleep. */
static void pause_thread(struct fkt_drain *d)
{
	complete(&d->paused);
	wait_event_freezable(d->wait, !READ_ONCE(d->pause) || READ_ONCE(d->stop));
}

static bool has_work(struct fkt_drain *d)
{
	return READ_ONCE(d->kicked) || (!d->stopping && READ_ONCE(d->stop));
}

static int drain_thread(void *data)
{
	struct fkt_drain *d = data;
	const struct cred *old = NULL;
	unsigned long next_look = jiffies;
	bool again = false; /* somebody still holds frames, and will not say when it lets go */
	bool pausing;
	loff_t pos;

	/* Quotas and reserved blocks as they are for whoever opened the file. */
	if (d->out)
		old = override_creds(d->out->f_cred);
	set_freezable();
	do {
		/* No signal reaches a kernel thread: it is woken by work, in time, or frozen. */
		wait_event_freezable_timeout(d->wait, has_work(d), again ? HZ / 50 : TICK);
		/* Read before the rings, as the stop is: what is complete by then is written. */
		pausing = READ_ONCE(d->pause);
		pos = d->pos;
		/* Read before the rings: what is complete at a stop is seen by the last round. */
		d->stopping = READ_ONCE(d->stop);
		/*
		 * With a barrier: were the rings looked at while this store is on its way, it could undo
		 * the kick for a page that they did not show yet (tests/model, KICK_UNFENCED).
		 */
		smp_store_mb(d->kicked, false);
		d->wakeups++;
		fkt_tell_wake();
		/* Before pages come back, with which the CPU would go on behind its loss. */
		if (d->stop_when_full && cpu_with_losses() >= 0)
			fkt_capture_end(FKT_STOP_RING, 0);
		again = move_pages(d);
		if (pausing && d->head == d->tail && d->pos == pos)
			pause_thread(d);
		else if (pausing)
			again = true;
		if (time_after_eq(jiffies, next_look)) {
			next_look = jiffies + TICK;
			housekeep(d);
		}
		/* Chunks in flight, or empty rings: a stop waits for the former. */
	} while (!d->stopping || d->head != d->tail);
	warn_of_losses(d);
	if (old)
		revert_creds(old);
	d->cpu_ns = current->se.sum_exec_runtime;
	complete(&d->ended);
	return 0;
}

static void set_limits(struct fkt_drain *d, const struct fkt_start *start)
{
	loff_t size = d->out ? i_size_read(d->out->f_mapping->host) : 0;

	d->pos = start->offset;
	d->start = start->offset;
	d->allocated = start->offset;
	d->end = start->limit ? start->offset + start->limit : 0;
	d->reserve = start->reserve;
	d->reserve_per_page = start->reserve_per_page;
	d->step = ALLOCATE_MIN;
	d->allocates = d->out && S_ISREG(file_inode(d->out)->i_mode);
	/* A device has the size that it has; the tail must fit behind the pages. */
	if (d->out && S_ISBLK(file_inode(d->out)->i_mode) && size > d->start + d->reserve) {
		u64 room = size - d->start - d->reserve;
		u32 page = fkt_rings_page_bytes();
		loff_t end = d->start + div_u64(room, page + d->reserve_per_page) * page;

		d->end = d->end ? min(d->end, end) : end;
	}
}

static bool can_direct(const struct file *out)
{
	return (out->f_flags & O_DIRECT) && (out->f_mode & FMODE_CAN_ODIRECT);
}

static const struct fkt_engine *best_engine(const struct file *out)
{
	return can_direct(out) ? &fkt_engine_direct : &fkt_engine_buffered;
}

/* The engine asked for, the best one, or NULL if the output cannot do it. */
static const struct fkt_engine *choose_engine(const struct fkt_start *start, struct file *out)
{
	if (FKT_START_ENGINE_OF(start->flags) == FKT_ENGINE_LEND)
		return &fkt_engine_lend;
	if (!out)
		return &fkt_engine_fetch;
	switch (FKT_START_ENGINE_OF(start->flags)) {
	case FKT_ENGINE_NONE:
		return best_engine(out);
	case FKT_ENGINE_DIRECT:
		return can_direct(out) ? &fkt_engine_direct : NULL;
	case FKT_ENGINE_BUFFERED:
		return &fkt_engine_buffered;
	case FKT_ENGINE_CHECKIN:
		return fkt_checkin_possible(out) ? &fkt_engine_checkin : NULL;
	}
	return NULL;
}

/* Starts the thread. out: where pages go (a reference is taken); NULL: they are fetched. */
int fkt_drain_start(const struct fkt_start *start, struct file *out)
{
	const struct fkt_engine *engine = choose_engine(start, out);
	struct fkt_drain *d = &drain;
	struct task_struct *task;
	int err;

	if (!engine)
		return -EOPNOTSUPP;
	d->chunks = kcalloc(FKT_CHUNKS, sizeof(*d->chunks), GFP_KERNEL);
	if (!d->chunks)
		return -ENOMEM;
	d->head = 0;
	d->tail = 0;
	d->full = false;
	d->failed = false;
	d->stop = false;
	d->pause = false;
	init_completion(&d->paused);
	init_completion(&d->ended);
	d->stopping = false;
	d->stop_when_full = start->flags & FKT_START_STOP_WHEN_FULL;
	d->overwrite = start->flags & FKT_START_OVERWRITE;
	d->leave = false;
	d->warned = false;
	d->kicked = false;
	d->pages_written = 0;
	d->cpu_ns = 0;
	d->wakeups = 0;
	d->first_cpu = 0;
	d->out = out ? get_file(out) : NULL;
	d->engine = engine;
	d->ticks_per_s = fkt_clock_khz() * 1000;
	d->next_clock = fkt_clock() + 60 * d->ticks_per_s;
	set_limits(d, start);

	if (engine->remembers)
		fkt_index_start();
	err = engine->start ? engine->start(out, d->pos, fkt_rings_bytes()) : 0;
	if (err) {
		fkt_drain_release();
		return err;
	}
	task = kthread_create(drain_thread, d, "fkt_drain");
	if (IS_ERR(task)) {
		if (engine->stop)
			engine->stop();
		fkt_drain_release();
		return PTR_ERR(task);
	}
	get_task_struct(task);
	fkt_filter_own(task);
	fkt_own_start(task);
	/* It has little to do, but what it does late is lost. */
	set_user_nice(task, MIN_NICE);
	d->task = task;
	wake_up_process(task);
	return 0;
}

/* Says the thread's name in the recording, whose list of tasks is older. */
void fkt_drain_introduce(void)
{
	fkt_process_introduce(drain.task);
}

/* After the rings are closed: returns when every complete page is written, or can be fetched. */
void fkt_drain_stop(void)
{
	if (!drain.task)
		return;
	/*
	 * kthread_stop() only when the thread has nothing left to do: on 6.1 it marks the thread as
	 * if a signal were pending, and file systems then refuse what they would wait for.
	 */
	WRITE_ONCE(drain.stop, true);
	fkt_drain_kick();
	wait_for_completion(&drain.ended);
	kthread_stop(drain.task);
	put_task_struct(drain.task);
	drain.task = NULL;
	if (drain.engine->stop)
		drain.engine->stop();
	wake_up_interruptible(&drain.readers);
}

/* Drops the output and the chunks. */
void fkt_drain_release(void)
{
	if (drain.out)
		fput(drain.out);
	drain.out = NULL;
	kfree(drain.chunks);
	drain.chunks = NULL;
	fkt_index_stop();
}

/* The owner of a flight recorder died: what it keeps goes to the output named for that. Before the stop. */
void fkt_drain_inherit(void)
{
	if (!drain.out || drain.engine->write)
		return;
	/*
	 * The owner's lock: nobody makes room any more as if pages were lent, nor as if those in the rings were
	 * the oldest ones.
	 */
	fkt_owner_lock_drain();
	WRITE_ONCE(drain.leave, true);
	fkt_lend_inherit(&drain.inherited);
	/* Pairs with the load-acquire in move_pages(). */
	smp_store_release(&drain.engine, best_engine(drain.out));
	fkt_owner_unlock();
}

/* The recorder died: gives back the file space behind the last page. */
void fkt_drain_truncate(void)
{
	struct file *out = drain.out;
	const struct cred *old;

	if (!out || !S_ISREG(file_inode(out)->i_mode))
		return;
	old = override_creds(out->f_cred);
	vfs_truncate(&out->f_path,
		     drain.start + drain.pages_written * (loff_t)fkt_rings_page_bytes());
	revert_creds(old);
}

void fkt_drain_status(struct fkt_status *status)
{
	struct task_struct *task = drain.task;

	status->drain_ns = task ? READ_ONCE(task->se.sum_exec_runtime) : drain.cpu_ns;
	status->wakeups = drain.wakeups;
	if (!drain.engine)
		return;
	status->engine = drain.engine->id;
	status->bytes_copied = drain.engine->copies ? status->bytes_written : 0;
	if (drain.engine == &fkt_engine_checkin) {
		status->bytes_copied = fkt_checkin_copied();
		fkt_checkout_status(status);
	}
}
