// SPDX-License-Identifier: GPL-2.0-only
/*
 * The drain: one kernel thread, by which complete pages leave the rings and come back as free ones. It
 * writes them itself (chunks.c), or sees that whoever takes them has some to take; and it looks
 * after the rings. Here is its life, from the choice of an engine to the stop.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

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
#define CLOCK_EVERY_S 60 /* seconds between two clock events */
#define ALLOCATE_MIN (1ULL << 20) /* bytes of file space in the first step; chunks.c doubles it */

static struct fkt_drain drain = {
	.ended = COMPLETION_INITIALIZER(drain.ended),
	.parked = COMPLETION_INITIALIZER(drain.parked),
	.wait = __RCUWAIT_INITIALIZER(drain.wait),
	.readers = __WAIT_QUEUE_HEAD_INITIALIZER(drain.readers),
	.inherited = LIST_HEAD_INIT(drain.inherited),
};

/*
 * Wakes the thread, which wakes those that wait for pages. From irq_work, interrupts (on PREEMPT_RT hard ones
 * too), tasks; not from probes.
 */
void fkt_drain_kick(void)
{
	/* Before the wake-up, which has a full barrier before it looks for the thread. */
	WRITE_ONCE(drain.kicked, true);
	rcuwait_wake_up(&drain.wait);
}

/* Wakes those that wait for pages, or for the end. From tasks. */
void fkt_drain_wake_readers(void)
{
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
		d->next_clock += CLOCK_EVERY_S * d->ticks_per_s;
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

/* When the thread looks at the rings again, if it is not woken before. */
enum next_look {
	LOOK_ON_TICK,
	LOOK_SOON, /* frames are still in use elsewhere, and no wake-up will tell when they are free */
	LOOK_AT_ONCE, /* there was more to do than one look may take */
};

/* What the rings have. */
static enum next_look move_pages(struct fkt_drain *d)
{
	/*
	 * Changes when the owner dies; a last round for it does no harm. Pairs with the store-release in
	 * fkt_drain_inherit(): with the engine come the pages that the owner had.
	 */
	if (!smp_load_acquire(&d->engine)->write)
		return serve_owner(d) ? LOOK_SOON : LOOK_ON_TICK;
	if (d->overwrite && !d->stopping) {
		/* Not if they were inherited: they follow upon those that the owner had. */
		if (fkt_drain_keeps())
			overwrite();
		return LOOK_ON_TICK;
	}
	return fkt_chunks_move(d) ? LOOK_AT_ONCE : LOOK_ON_TICK;
}

static bool has_work(struct fkt_drain *d)
{
	return READ_ONCE(d->kicked) || (!d->stopping && READ_ONCE(d->stop));
}

/* Sleeps until there is work, or for so many ticks; while the machine sleeps in any case. */
static void wait_for_work(struct fkt_drain *d, long ticks)
{
	prepare_to_rcuwait(&d->wait);
	for (;;) {
		/* Its barrier pairs with the one in rcuwait_wake_up(): one of us sees the other's store. */
		set_current_state(TASK_IDLE);
		if (has_work(d) || !ticks || freezing(current))
			break;
		ticks = schedule_timeout(ticks);
	}
	finish_rcuwait(&d->wait);
	try_to_freeze();
}

static void wait_for_look(struct fkt_drain *d, enum next_look look)
{
	if (look == LOOK_AT_ONCE) {
		cond_resched();
		return;
	}
	wait_for_work(d, look == LOOK_SOON ? HZ / 50 : TICK);
	WRITE_ONCE(d->wakeups, d->wakeups + 1);
	fkt_tell_wake();
}

/* One look at the rings, and what follows from it. */
static enum next_look look_at_rings(struct fkt_drain *d)
{
	/* Read before the rings: what is complete at a stop is seen by the last round. */
	d->stopping = READ_ONCE(d->stop);
	/*
	 * With a barrier: were the rings looked at while this store is on its way, it could undo
	 * the kick for a page that they did not show yet (tests/model, KICK_UNFENCED). And in one
	 * piece: a kick that came between a load and a store would not reach the readers.
	 */
	if (xchg(&d->kicked, false))
		fkt_drain_wake_readers();
	WRITE_ONCE(d->cpu_ns, current->se.sum_exec_runtime);
	/* The probe that lost the first event has cleared the mask already. */
	if (fkt_rings_full())
		fkt_capture_end(FKT_STOP_RING, 0);
	return move_pages(d);
}

/*
 * The machine is about to sleep, and all that was complete is written: stays here until it is awake, or the
 * recording is stopped before that. Those that take pages themselves still learn of some.
 */
static void rest(struct fkt_drain *d)
{
	complete_all(&d->parked);
	while (READ_ONCE(d->park) && !READ_ONCE(d->stop)) {
		wait_for_work(d, MAX_SCHEDULE_TIMEOUT);
		/* In one piece, as in look_at_rings(). */
		if (xchg(&d->kicked, false))
			fkt_drain_wake_readers();
	}
	d->next_clock = fkt_clock() + CLOCK_EVERY_S * d->ticks_per_s;
}

static int drain_thread(void *data)
{
	struct fkt_drain *d = data;
	const struct cred *old = NULL;
	unsigned long next_housekeeping = jiffies;
	enum next_look look = LOOK_ON_TICK;
	bool park;

	set_freezable();
	/* Quotas and reserved blocks as they are for whoever opened the file. */
	if (d->out)
		old = override_creds(d->out->f_cred);
	do {
		wait_for_look(d, look);
		/* Read before the rings, which were closed before it was set: what they have is written first. */
		park = READ_ONCE(d->park);
		look = look_at_rings(d);
		if (park && !d->stopping && d->head == d->tail && look != LOOK_AT_ONCE)
			rest(d);
		if (time_after_eq(jiffies, next_housekeeping)) {
			next_housekeeping = jiffies + TICK;
			housekeep(d);
		}
		/* A stop waits for chunks in flight, and for what is still in the rings. */
	} while (!d->stopping || d->head != d->tail || look == LOOK_AT_ONCE);
	warn_of_losses(d);
	/* Here, not in the caller of the stop: it may wait for the output. */
	if (d->engine->stop)
		d->engine->stop();
	if (old)
		revert_creds(old);
	WRITE_ONCE(d->cpu_ns, current->se.sum_exec_runtime);
	complete_all(&d->ended);
	/* In this order: fkt_drain_park() looks at `ended` after it has made `parked` anew. */
	complete_all(&d->parked);
	fkt_capture_drained();
	return 0;
}

/* The largest size of the output: a device's own; of a file what its file system and the starter can give it. */
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
	/* Asked here: the drain thread, which writes, has no such limit. */
	return allowed == RLIM_INFINITY ? most : min_t(u64, most, allowed);
}

/* ENOSPC, EFBIG: the output has not even room for one page; EINVAL: nor has the limit. */
static int set_limits(struct fkt_drain *d, const struct fkt_start *start)
{
	u32 page = fkt_rings_page_bytes();
	bool device;
	loff_t need;

	if (start->limit && start->limit < page)
		return -EINVAL;
	d->pos = start->offset;
	d->start = start->offset;
	d->allocated = start->offset;
	d->end = start->limit ? start->offset + start->limit : 0;
	d->reserve = start->reserve;
	d->reserve_per_page = start->reserve_per_page;
	d->step = ALLOCATE_MIN;
	d->allocates = false;
	if (!d->out)
		return 0;
	device = S_ISBLK(file_inode(d->out)->i_mode);
	d->allocates = S_ISREG(file_inode(d->out)->i_mode);
	d->most = largest_size(d->out);
	if (!fkt_drain_fits(d, d->start + page, &need))
		return device ? -ENOSPC : -EFBIG;
	/* What does not fit on a device ends the recording as a limit does, with the tail behind it. */
	if (device) {
		u64 pages = div64_u64(d->most - d->start - d->reserve, (u64)page + d->reserve_per_page);
		loff_t end = d->start + pages * page;

		d->end = d->end ? min(d->end, end) : end;
	}
	return 0;
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
	d->park = false;
	/* Not init_completion(): a thread that waited for the last one's end may still be on its way out. */
	reinit_completion(&d->ended);
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
	WRITE_ONCE(d->engine, engine);
	d->ticks_per_s = fkt_clock_khz() * 1000;
	d->next_clock = fkt_clock() + CLOCK_EVERY_S * d->ticks_per_s;
	err = set_limits(d, start);
	if (err) {
		fkt_drain_release();
		return err;
	}

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

/* After the rings are closed: the thread shall write every complete page, or see that it can be fetched, and end. */
void fkt_drain_finish(void)
{
	WRITE_ONCE(drain.stop, true);
	fkt_drain_kick();
}

/* Waits for its end. EINTR: the caller is being killed. Without any lock: the output may take long. */
int fkt_drain_wait(void)
{
	return wait_for_completion_killable(&drain.ended) ? -EINTR : 0;
}

/* The same where the thread has nothing to write, and the caller cannot go on without it. */
void fkt_drain_join(void)
{
	wait_for_completion(&drain.ended);
}

/*
 * The machine is about to sleep: the thread shall write what is complete, and then nothing until
 * fkt_drain_unpark() or a stop. True: fkt_drain_wait_parked() tells when. After the rings were closed, under
 * capture.c's lock.
 */
bool fkt_drain_park(void)
{
	if (!drain.task)
		return false;
	reinit_completion(&drain.parked);
	WRITE_ONCE(drain.park, true);
	fkt_drain_kick();
	return !completion_done(&drain.ended);
}

/* Without any lock. EBUSY: the output does not take the pages in that time (jiffies); EINTR: a fatal signal. */
int fkt_drain_wait_parked(long limit)
{
	long left = wait_for_completion_killable_timeout(&drain.parked, limit);

	if (left < 0)
		return -EINTR;
	return left ? 0 : -EBUSY;
}

void fkt_drain_unpark(void)
{
	WRITE_ONCE(drain.park, false);
	fkt_drain_kick();
}

/* Has the thread written all, as it was told to? */
bool fkt_drain_ended(void)
{
	return completion_done(&drain.ended);
}

/*
 * After that: sees the thread off. kthread_stop() only now that it has nothing left to do: on 6.1 it marks
 * the thread as if a signal were pending, and file systems then refuse what they would wait for.
 */
void fkt_drain_stop(void)
{
	kthread_stop(drain.task);
	put_task_struct(drain.task);
	drain.task = NULL;
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

/* Lockless: a glance. */
void fkt_drain_status(struct fkt_status *status)
{
	const struct fkt_engine *engine = READ_ONCE(drain.engine);

	status->drain_ns = READ_ONCE(drain.cpu_ns);
	status->wakeups = READ_ONCE(drain.wakeups);
	if (!engine)
		return;
	status->engine = engine->id;
	status->bytes_copied = engine->copies ? status->bytes_written : 0;
	if (engine == &fkt_engine_checkin) {
		status->bytes_copied = fkt_checkin_copied();
		fkt_checkout_status(status);
	}
}
