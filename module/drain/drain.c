// SPDX-License-Identifier: GPL-2.0-only
/*
 * The drain: a kernel thread that takes complete pages from the rings and returns them as free ones. It
 * writes the pages itself (writeout.c), or makes sure that the owner has pages to take; and it maintains
 * the rings. This file contains the thread's life cycle.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/freezer.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include <fkt/ioctl.h>

#include "ring/access.h"
#include "ring/clock.h"
#include "ring/cpu_ring.h"
#include "ring/filter.h"
#include "ring/page_pool.h"
#include "ring/rings.h"
#include "ring/self.h"
#include "ring/wake.h"
#include "ring/write.h"
#include "charge.h"
#include "drain.h"
#include "engine.h"
#include "output.h"
#include "page_index.h"
#include "reader.h"
#include "recording.h"
#include "writeout.h"

#define TICK (HZ / 2) /* longest time between two looks at the rings */
#define CLOCK_EVERY_S 60 /* seconds between two clock events */

/* ---- the thread ---- */

/* Returns a CPU that has lost events, or -1. */
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
 * Wakes readers for complete pages. A CPU itself wakes them only when it has completed several pages;
 * this makes sure that the pages of CPUs with few events are taken too.
 */
static void wake_readers(struct fkt_recording *rec)
{
	bool complete;

	if (READ_ONCE(rec->drain.engine)->write)
		return;
	fkt_reader_lock_drain(rec);
	complete = fkt_reader_complete(rec);
	fkt_reader_unlock(rec);
	if (complete)
		fkt_recording_wake_readers(rec);
}

/* The time that this thread has run (ns). The tick's interrupt may add to it here: either value is true. */
static void note_own_time(struct fkt_drain *d)
{
	WRITE_ONCE(d->cpu_ns, READ_ONCE(current->se.sum_exec_runtime));
}

static void housekeep(struct fkt_recording *rec)
{
	struct fkt_drain *d = &rec->drain;
	u64 now = fkt_clock();
	unsigned int cpu;

	/*
	 * Not while a CPU is coming online or going offline, which may take long. Not in a flight
	 * recorder, where a page that is closed early costs as much history as a full one.
	 */
	if (!rec->overwrite && cpus_read_trylock()) {
		for_each_online_cpu(cpu)
			fkt_ring_close_old(cpu, now, d->ticks_per_s);
		cpus_read_unlock();
	}
	wake_readers(rec);
	warn_of_losses(d);
	/* If the clocks could not be read at one moment: again at the next time. */
	if ((s64)(now - d->next_clock) >= 0 && fkt_tell_clock())
		d->next_clock += CLOCK_EVERY_S * d->ticks_per_s;
}

/*
 * If the owner takes the pages: makes sure that there are free ones. Returns true if the thread should
 * look again soon.
 */
static bool provide_free_pages(struct fkt_recording *rec)
{
	struct fkt_drain *d = &rec->drain;
	const struct fkt_engine *engine;
	bool again;

	fkt_reader_lock_drain(rec);
	/*
	 * Does not change under this lock. After the owner's death it is an engine that writes, which has
	 * none of these operations.
	 */
	engine = d->engine;
	if (fkt_recording_keeps(rec)) {
		if (engine->overwrite)
			engine->overwrite(rec);
		fkt_rings_overwrite();
	} else if (engine->refills && !d->stopping) {
		fkt_rings_refill();
	}
	again = engine->reclaim && engine->reclaim(rec);
	fkt_reader_unlock(rec);
	return again;
}

/* When the thread looks at the rings again if it is not woken before. */
enum next_look {
	LOOK_ON_TICK,
	LOOK_SOON, /* frames are still in use, and nothing wakes the thread when they are free */
	LOOK_AT_ONCE, /* there was more to do than fits one look */
};

/* Returns whether complete pages are written even if they are few. */
static bool must_write_all(struct fkt_drain *d, bool park)
{
	/* Both are tested, so that neither is still set when the pages are written. */
	const bool is_asked = xchg(&fkt_waker.all, false), is_late = time_after_eq(jiffies, d->next_all);

	if (!is_asked && !is_late && !park && !d->stopping)
		return false;
	d->next_all = jiffies + TICK;
	return true;
}

/* Moves the complete pages of the rings according to the kind of recording. all: must_write_all() */
static enum next_look move_pages(struct fkt_recording *rec, bool all)
{
	struct fkt_drain *d = &rec->drain;
	const struct fkt_engine *engine;

	/*
	 * The engine changes when the owner dies; another round with the old one is harmless. Pairs
	 * with the store-release in fkt_inherit(): if the new engine is seen, so are the pages
	 * that the owner had.
	 */
	engine = smp_load_acquire(&d->engine);
	if (!engine->write)
		return provide_free_pages(rec) ? LOOK_SOON : LOOK_ON_TICK;
	if (rec->overwrite && !d->stopping) {
		/* Not with inherited pages: the pages in the rings must follow those without a hole. */
		if (fkt_recording_keeps(rec))
			fkt_rings_overwrite();
		return LOOK_ON_TICK;
	}
	return fkt_writeout_move(&d->writeout, engine, all, !d->stopping) ? LOOK_AT_ONCE : LOOK_ON_TICK;
}

static bool has_work(const struct fkt_recording *rec)
{
	return READ_ONCE(fkt_waker.kicked) || (!rec->drain.stopping && READ_ONCE(rec->closed));
}

/* Sleeps until there is work, at most for `ticks` jiffies; stays frozen while the machine sleeps. */
static void wait_for_work(struct fkt_recording *rec, long ticks)
{
	prepare_to_rcuwait(&fkt_waker.wait);
	for (;;) {
		/* Its barrier pairs with the one in rcuwait_wake_up(): one side sees the other's store. */
		set_current_state(TASK_IDLE);
		if (has_work(rec) || !ticks || freezing(current))
			break;
		ticks = schedule_timeout(ticks);
	}
	finish_rcuwait(&fkt_waker.wait);
	try_to_freeze();
}

/* Writes the event of the drain's wake-up: how many pages wait for the drain, and how many are free. */
static void tell_wake(void)
{
	u32 filled = 0, free = 0;
	unsigned int cpu;

	/* Tested here too, because counting the pages takes long. */
	if (!fkt_layer_on(FKT_L_FKT))
		return;
	for_each_possible_cpu(cpu)
		fkt_ring_count_pages(cpu, &filled, &free);
	fkt_tell(FKT_E_DRAIN_WAKE, 0, (u64)free << 32 | filled);
}

static void wait_for_look(struct fkt_recording *rec, enum next_look look)
{
	struct fkt_drain *d = &rec->drain;

	if (look == LOOK_AT_ONCE) {
		cond_resched();
		return;
	}
	wait_for_work(rec, look == LOOK_SOON ? HZ / 50 : TICK);
	WRITE_ONCE(d->wakeups, d->wakeups + 1);
	tell_wake();
}

/* Looks at the rings once, and moves pages. park: the machine is about to sleep. */
static enum next_look look_at_rings(struct fkt_recording *rec, bool park)
{
	struct fkt_drain *d = &rec->drain;

	/* Read before the rings: the last round then sees everything that was complete at the stop. */
	d->stopping = READ_ONCE(rec->closed);
	/*
	 * With a barrier: if the rings were read before this store is visible, it could overwrite the
	 * kick for a page that the read did not see (tests/model, KICK_UNFENCED). And as one atomic
	 * operation: a kick between a separate load and store would not wake the readers.
	 */
	if (xchg(&fkt_waker.kicked, false))
		fkt_recording_wake_readers(rec);
	note_own_time(d);
	if (READ_ONCE(rec->started_by) && !d->quickened) {
		d->quickened = true;
		fkt_recording_quicken(rec);
	}
	/* The probe that lost the first event has already cleared the mask. */
	if (READ_ONCE(fkt_full))
		fkt_recording_end(rec, FKT_STOP_RING, 0);
	/* The probe of the hit that ends the recording has already cleared the mask, too. */
	if (READ_ONCE(fkt_stopped_by))
		fkt_recording_end(rec, FKT_STOP_INSTRUMENT, 0);
	return move_pages(rec, must_write_all(d, park));
}

/*
 * The machine is about to sleep, and all complete pages are written: waits here until it is awake, or
 * until the recording is stopped before that. Readers that take pages themselves are still woken. park: which
 * sleep it is; if the next one comes before this thread has run, its pages have to be written first.
 */
static void rest(struct fkt_recording *rec, u32 park)
{
	struct fkt_drain *d = &rec->drain;

	WRITE_ONCE(d->parked, park);
	wake_up_all(&d->changed);
	while (READ_ONCE(d->park) == park && !READ_ONCE(rec->closed)) {
		wait_for_work(rec, MAX_SCHEDULE_TIMEOUT);
		/* One atomic operation, as in look_at_rings(). */
		if (xchg(&fkt_waker.kicked, false))
			fkt_recording_wake_readers(rec);
	}
	d->next_clock = fkt_clock() + CLOCK_EVERY_S * d->ticks_per_s;
}

/*
 * Quotas and reserved blocks are those of the task that opened the output, cgroups those of the one that
 * started the recording, also if there is no output: extra pages are charged to them. Returns the thread's own
 * credentials, for fkt_drain_write_for_self(); NULL if there is no output.
 */
const struct cred *fkt_drain_write_for_owner(const struct fkt_drain *d)
{
	fkt_charge_begin(&d->charge);
	return d->writeout.out ? override_creds(d->writeout.out->f_cred) : NULL;
}

void fkt_drain_write_for_self(const struct cred *old)
{
	fkt_charge_end();
	if (old)
		revert_creds(old);
}

static int drain_thread(void *data)
{
	struct fkt_recording *rec = data;
	struct fkt_drain *d = &rec->drain;
	const struct cred *old;
	unsigned long next_housekeeping = jiffies;
	enum next_look look = LOOK_ON_TICK;
	u32 park;

	set_freezable();
	old = fkt_drain_write_for_owner(d);
	do {
		wait_for_look(rec, look);
		/* Read before the rings, which were closed before it was set: their pages are written first. */
		park = READ_ONCE(d->park);
		look = look_at_rings(rec, park);
		if (park && !d->stopping && !fkt_writeout_busy(&d->writeout) && look != LOOK_AT_ONCE)
			rest(rec, park);
		if (time_after_eq(jiffies, next_housekeeping)) {
			next_housekeeping = jiffies + TICK;
			housekeep(rec);
		}
		/* A stop waits for chunks in flight, and for pages still in the rings. */
	} while (!d->stopping || fkt_writeout_busy(&d->writeout) || look == LOOK_AT_ONCE);
	warn_of_losses(d);
	/* In this thread, not in the caller of FKT_STOP: it may have to wait for the output. */
	if (d->engine->stop)
		d->engine->stop(rec);
	fkt_drain_write_for_self(old);
	note_own_time(d);
	/* Pairs with the load-acquire in fkt_drain_ended(). */
	smp_store_release(&d->ended, d->threads);
	wake_up_all(&d->changed);
	fkt_recording_drained(rec);
	return 0;
}

/* Takes a reference to `out`, if there is an output. */
static void reset_writeout(struct fkt_writeout *w, struct file *out)
{
	w->head = 0;
	w->tail = 0;
	w->full = false;
	w->failed = false;
	w->pages_written = 0;
	w->first_cpu = 0;
	w->out = out ? get_file(out) : NULL;
}

/* No probe and no drain thread runs that could look at these. */
static void reset_drain(struct fkt_drain *d, const struct fkt_start *start)
{
	d->park = 0;
	d->stopping = false;
	d->stop_when_full = start->flags & FKT_START_STOP_WHEN_FULL;
	d->warned = false;
	d->quickened = false;
	fkt_waker.kicked = false;
	fkt_waker.all = false;
	d->next_all = jiffies + TICK;
	d->cpu_ns = 0;
	d->wakeups = 0;
}

/*
 * Starts the thread. owner: the recording's; out: the file that pages are written to (a reference is
 * taken); NULL: they are fetched. Returns 0 or a negative errno.
 */
int fkt_drain_start(struct fkt_recording *rec, const struct file *owner, const struct fkt_start *start,
		    struct file *out)
{
	const struct fkt_engine *engine = fkt_output_engine(start, out);
	struct fkt_drain *d = &rec->drain;
	struct fkt_writeout *w = &d->writeout;
	struct task_struct *task;
	int err;

	if (!engine)
		return -EOPNOTSUPP;
	w->chunks = kcalloc(FKT_CHUNKS, sizeof(*w->chunks), GFP_KERNEL_ACCOUNT);
	if (!w->chunks)
		return -ENOMEM;
	reset_writeout(w, out);
	reset_drain(d, start);
	fkt_charge_get(&d->charge);
	WRITE_ONCE(d->engine, engine);
	/* An output that is only used if the owner dies has its own limit. */
	fkt_reader_start(rec, engine, out ? 0 : start->limit);
	d->ticks_per_s = fkt_clock_khz() * 1000;
	d->next_clock = fkt_clock() + CLOCK_EVERY_S * d->ticks_per_s;
	err = fkt_output_limits(w, start);
	if (err) {
		fkt_drain_release(rec);
		return err;
	}

	if (engine->keeps_header)
		fkt_page_index_start(&d->index);
	err = engine->start ? engine->start(rec, out, w->pos, fkt_rings_bytes(), !fkt_access_uncharged(owner)) : 0;
	if (err) {
		fkt_drain_release(rec);
		return err;
	}
	task = kthread_create(drain_thread, rec, "fkt_drain");
	if (IS_ERR(task)) {
		if (engine->stop)
			engine->stop(rec);
		fkt_drain_release(rec);
		return PTR_ERR(task);
	}
	get_task_struct(task);
	d->threads++;
	fkt_filter_own(task);
	fkt_self_start(task);
	/* The thread has little to do, but if it runs late, events are lost. */
	set_user_nice(task, MIN_NICE);
	d->task = task;
	wake_up_process(task);
	return 0;
}

/*
 * Called after the rings are closed: tells the thread to write every complete page, or make sure that
 * it can be fetched, and to end.
 */
void fkt_drain_finish(struct fkt_recording *rec)
{
	WRITE_ONCE(rec->closed, true);
	fkt_kick();
}

/* Returns the number of the recording's thread, for fkt_drain_wait(). Caller must hold the recording's lock. */
u32 fkt_drain_thread(const struct fkt_recording *rec)
{
	return rec->drain.threads;
}

/* Returns whether this thread, or a later one, has written all pages, as told by fkt_drain_finish(). */
static bool has_ended(const struct fkt_drain *d, u32 thread)
{
	/* Pairs with the store-release in drain_thread(). */
	return (s32)(smp_load_acquire(&d->ended) - thread) >= 0;
}

/*
 * Waits for a thread to end. -EINTR: the caller is being killed. Caller must not hold a lock: the
 * output may take long. Meanwhile there may be another recording.
 */
int fkt_drain_wait(struct fkt_recording *rec, u32 thread)
{
	return wait_event_killable(rec->drain.changed, has_ended(&rec->drain, thread)) ? -EINTR : 0;
}

/* Waits for the thread to end, uninterruptibly; only if it has nothing to write. */
void fkt_drain_join(struct fkt_recording *rec)
{
	wait_event(rec->drain.changed, fkt_drain_ended(rec));
}

/*
 * The machine is about to sleep: tells the thread to write all complete pages, and then nothing until
 * fkt_drain_unpark() or a stop. Returns a number for fkt_drain_wait_parked(); 0: nothing will be written. Called
 * after the rings were closed, under the recording's lock.
 */
u32 fkt_drain_park(struct fkt_recording *rec)
{
	struct fkt_drain *d = &rec->drain;

	if (!d->task)
		return 0;
	WRITE_ONCE(d->park, ++d->parks);
	fkt_kick();
	return d->parks;
}

/*
 * Waits until the thread is parked, or has ended. Caller must not hold a lock. -EBUSY: the output did not take the
 * pages within `limit` jiffies; -EINTR: a fatal signal.
 */
int fkt_drain_wait_parked(struct fkt_recording *rec, u32 park, long limit)
{
	struct fkt_drain *d = &rec->drain;
	/* No other thread is created while the machine is about to sleep. */
	long left = wait_event_killable_timeout(d->changed, READ_ONCE(d->parked) == park || fkt_drain_ended(rec),
						limit);

	if (left < 0)
		return -EINTR;
	return left ? 0 : -EBUSY;
}

void fkt_drain_unpark(struct fkt_recording *rec)
{
	WRITE_ONCE(rec->drain.park, 0);
	fkt_kick();
}

/* Returns whether the recording's thread has written all pages. */
bool fkt_drain_ended(const struct fkt_recording *rec)
{
	return has_ended(&rec->drain, READ_ONCE(rec->drain.threads));
}

/*
 * Called after the thread has ended its work: frees it. kthread_stop() is not called earlier, because
 * on 6.1 it marks the thread as if a signal were pending, and file systems then refuse writes that have
 * to wait.
 */
void fkt_drain_stop(struct fkt_recording *rec)
{
	kthread_stop(rec->drain.task);
	put_task_struct(rec->drain.task);
	rec->drain.task = NULL;
}

/* Releases the output with its cgroups, and the chunks. */
void fkt_drain_release(struct fkt_recording *rec)
{
	struct fkt_writeout *w = &rec->drain.writeout;

	if (w->out)
		fput(w->out);
	w->out = NULL;
	fkt_charge_put(&rec->drain.charge);
	kfree(w->chunks);
	w->chunks = NULL;
	fkt_page_index_stop(&rec->drain.index);
}

/*
 * The recorder died: truncates the output after the last page. Called after the thread has ended its work. Not if the
 * owner has written all pages itself: it may have added something behind them.
 */
void fkt_drain_truncate(struct fkt_recording *rec)
{
	if (rec->drain.engine->write)
		fkt_writeout_truncate(&rec->drain.writeout);
}

/* Lockless: the values may be of different moments. */
void fkt_drain_status(const struct fkt_recording *rec, struct fkt_status *status)
{
	const struct fkt_engine *engine = READ_ONCE(rec->drain.engine);

	status->drain_ns = READ_ONCE(rec->drain.cpu_ns);
	status->wakeups = READ_ONCE(rec->drain.wakeups);
	if (!engine)
		return;
	status->engine = engine->id;
	status->bytes_copied = engine->copies ? status->bytes_written : 0;
	if (engine->status)
		engine->status(rec, status);
}
