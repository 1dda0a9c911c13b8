// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of the recording: questions that need no lock, the end by itself, and the mask that probes
 * test. The file calls neither the drain nor the readers, so both may call it.
 */

#include <linux/export.h>
#include <linux/freezer.h>
#include <linux/jump_label.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "instruments/instrument_table.h"
#include "instruments/instruments_now.h"
#include "instruments/mask.h"
#include "ring/clock.h"
#include "ring/wake.h"
#include "ring/write.h"
#include "recording.h"
#include "trigger.h"

#define ARM_WAIT (5 * HZ) /* how long a start or an exchange waits while places are armed or disarmed */

struct fkt_recording fkt_recording = {
	.lock = __MUTEX_INITIALIZER(fkt_recording.lock),
	.pid_lock = __SPIN_LOCK_UNLOCKED(fkt_recording.pid_lock),
	.reaped = __WAIT_QUEUE_HEAD_INITIALIZER(fkt_recording.reaped),
	.ready = __WAIT_QUEUE_HEAD_INITIALIZER(fkt_recording.ready),
	.readers = __WAIT_QUEUE_HEAD_INITIALIZER(fkt_recording.readers),
	.awake = __WAIT_QUEUE_HEAD_INITIALIZER(fkt_recording.awake),
	.armed = __WAIT_QUEUE_HEAD_INITIALIZER(fkt_recording.armed),
	.drain.changed = __WAIT_QUEUE_HEAD_INITIALIZER(fkt_recording.drain.changed),
	.drain.writeout.inherited = LIST_HEAD_INIT(fkt_recording.drain.writeout.inherited),
	.writeback.wait = __WAIT_QUEUE_HEAD_INITIALIZER(fkt_recording.writeback.wait),
	.writeback.checkout.lock = __SPIN_LOCK_UNLOCKED(fkt_recording.writeback.checkout.lock),
	.writeback.checkout.cached = LIST_HEAD_INIT(fkt_recording.writeback.checkout.cached),
	.writeback.checkout.returned = LIST_HEAD_INIT(fkt_recording.writeback.checkout.returned),
	.reader.lock = __MUTEX_INITIALIZER(fkt_recording.reader.lock),
	.fetch.reading = LIST_HEAD_INIT(fkt_recording.fetch.reading),
	.fetch.handed = LIST_HEAD_INIT(fkt_recording.fetch.handed),
	.fetch.mark_lock = __SPIN_LOCK_UNLOCKED(fkt_recording.fetch.mark_lock),
	.lent.pages = XARRAY_INIT(fkt_recording.lent.pages, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT),
};
EXPORT_SYMBOL_GPL(fkt_recording);

/* Changed under the lock. Read by probes without a lock. */
struct fkt_instrument_table __rcu *fkt_instruments_now;

/* Returns the table in force; NULL: there is none. Caller must hold the lock. */
struct fkt_instrument_table *fkt_recording_instruments(const struct fkt_recording *rec)
{
	return rcu_dereference_protected(fkt_instruments_now, lockdep_is_held(&rec->lock));
}

/*
 * Waits until the machine is not about to sleep. A signal ends the wait. The task may be frozen in it, so the caller
 * must hold no lock: the freezer would wait in vain for those that wait for it.
 */
static int wait_awake(struct fkt_recording *rec)
{
	return wait_event_freezable(rec->awake, !READ_ONCE(rec->parked));
}

/* Takes the lock, unless the machine is about to sleep (-EAGAIN). -EINTR: the caller is being killed. */
int fkt_recording_lock_now(struct fkt_recording *rec)
{
	int err = fkt_recording_lock(rec);

	if (err || !rec->parked)
		return err;
	mutex_unlock(&rec->lock);
	return -EAGAIN;
}

/* Takes the lock at a time when the machine is not about to sleep. As wait_awake(). */
int fkt_recording_lock_awake(struct fkt_recording *rec)
{
	int err;

	do
		err = wait_awake(rec) ?: fkt_recording_lock_now(rec);
	while (err == -EAGAIN);
	return err;
}

/*
 * As fkt_recording_lock_awake(), at a time when no other caller arms or disarms places without the lock. The caller may
 * then set `arming`, and clears it by fkt_recording_armed(). -EBUSY: another caller does so for long.
 */
int fkt_recording_lock_to_arm(struct fkt_recording *rec)
{
	long left = ARM_WAIT;

	for (;;) {
		int err = fkt_recording_lock_awake(rec);

		if (err || !rec->arming)
			return err;
		mutex_unlock(&rec->lock);
		left = wait_event_freezable_timeout(rec->armed, !READ_ONCE(rec->arming), left);
		if (left <= 0)
			return left ? left : -EBUSY;
	}
}

/* Called without the lock. */
void fkt_recording_armed(struct fkt_recording *rec)
{
	mutex_lock(&rec->lock);
	/* Read without the lock by those who wait for it, and look again with the lock. */
	WRITE_ONCE(rec->arming, false);
	mutex_unlock(&rec->lock);
	wake_up_all(&rec->armed);
}

/* ---- without the lock ---- */

/* The state may change at once; poll and the readers look again when they are woken. */
enum fkt_state fkt_recording_state(const struct fkt_recording *rec)
{
	return READ_ONCE(rec->state);
}
EXPORT_SYMBOL_GPL(fkt_recording_state);

/* Returns whether the recording is past its start, with all hooks on. */
bool fkt_recording_begun(const struct fkt_recording *rec)
{
	/* Pair with the store-releases in prepare() and begin() in capture.c. */
	return smp_load_acquire(&rec->state) != FKT_RECORDING || smp_load_acquire(&rec->begun);
}

/* Returns whether the recording belongs to this open file. */
bool fkt_recording_owned_by(const struct fkt_recording *rec, const struct file *file)
{
	/* Pairs with the store-release in prepare(): an owner seen here can use the rings and the engine. */
	return smp_load_acquire(&rec->owner) == file;
}

/* Wakes the tasks that wait for pages, or for the end. Called from tasks. */
void fkt_recording_wake_readers(struct fkt_recording *rec)
{
	wake_up_interruptible(&rec->readers);
}

/*
 * Ends the recording by itself (limit, full disk, error); hooks stay on until the owner stops it.
 * Called from the drain thread without the lock, because the lock's holder may be waiting for that
 * thread.
 */
void fkt_recording_end(struct fkt_recording *rec, enum fkt_stop_reason reason, int error)
{
	if (cmpxchg(&rec->state, FKT_RECORDING, FKT_STOPPING) != FKT_RECORDING)
		return;
	fkt_mask_clear();
	WRITE_ONCE(rec->stop_clock, fkt_clock());
	WRITE_ONCE(rec->error, error);
	/* Pairs with the load-acquire in fkt_recording_fill_status(): if the reason is seen, so are error and clock. */
	smp_store_release(&rec->reason, reason);
	fkt_kick();
	fkt_recording_wake_readers(rec);
}

/*
 * The drain has ended. If no stop waits for it, the work item finishes the recording; on a freezable
 * workqueue, because it changes the output and must not run while the machine is about to sleep. Called
 * from the drain thread.
 */
void fkt_recording_drained(struct fkt_recording *rec)
{
	queue_work(system_freezable_wq, &rec->reap);
}

/*
 * Fills in the part of FKT_STATUS about the recording as a whole. Without the lock, so that it never
 * has to wait: the values may be of different moments while the state changes; exact once stopped.
 */
void fkt_recording_fill_status(struct fkt_recording *rec, struct fkt_status *status)
{
	/* While the hooks are still being switched on, the state is reported as idle: events would be missing. */
	status->state = fkt_recording_begun(rec) ? READ_ONCE(rec->state) : FKT_IDLE;
	/* Pairs with the store-release in fkt_recording_end(). */
	status->stop_reason = smp_load_acquire(&rec->reason);
	status->error = READ_ONCE(rec->error);
	status->stopped_by = status->stop_reason == FKT_STOP_INSTRUMENT ? READ_ONCE(fkt_stopped_by) : 0;
	status->recording = READ_ONCE(rec->recording);
	status->mask = status->state == FKT_RECORDING ? READ_ONCE(rec->mask) : 0;
	status->start_clock = READ_ONCE(rec->start_clock);
	status->stop_clock = READ_ONCE(rec->stop_clock);
	spin_lock(&rec->pid_lock);
	status->recorder = pid_vnr(rec->recorder);
	spin_unlock(&rec->pid_lock);
}

/*
 * Returns whether a process owns the recording. Copies its name, for which there are TASK_COMM_LEN bytes, and sets
 * *number to its number in the caller's pid namespace; 0: it is not visible there.
 */
bool fkt_recording_owner_name(struct fkt_recording *rec, char *name, pid_t *number)
{
	struct task_struct *task;
	bool is_owned;

	spin_lock(&rec->pid_lock);
	is_owned = rec->recorder;
	*number = pid_vnr(rec->recorder);
	rcu_read_lock();
	task = pid_task(rec->recorder, PIDTYPE_TGID);
	/* Its name may change meanwhile; there is always a zero at the end of it. */
	strscpy(name, task ? task->comm : "(gone)", TASK_COMM_LEN);
	rcu_read_unlock();
	spin_unlock(&rec->pid_lock);
	return is_owned;
}
EXPORT_SYMBOL_GPL(fkt_recording_owner_name);

/* Returns whether nothing is recorded until a hit whose action is FKT_ACTION_START. Exact under the lock. */
bool fkt_recording_waits(const struct fkt_recording *rec)
{
	/* Pairs with the store-release in fkt_recording_begin_by(): who sees the begin sees its time. */
	return READ_ONCE(rec->waits) && !smp_load_acquire(&rec->started_by);
}
EXPORT_SYMBOL_GPL(fkt_recording_waits);

/* Returns whether not even such a hit is seen until one whose action is FKT_ACTION_PRIME. Exact under the lock. */
bool fkt_recording_is_unprimed(const struct fkt_recording *rec)
{
	return READ_ONCE(rec->primes) && !READ_ONCE(rec->primed_by);
}
EXPORT_SYMBOL_GPL(fkt_recording_is_unprimed);

/*
 * A hit of the instrument with this index, whose action is FKT_ACTION_PRIME. Any context, preemption is disabled. The
 * comments in fkt_recording_begin_by() apply here, too.
 */
void fkt_recording_prime_by(struct fkt_recording *rec, u32 instrument)
{
	if (READ_ONCE(fkt_mask) != FKT_MASK_PRIMES)
		return;
	/* LOCK-prefixed, once in a recording: of hits at the same time only one goes on. */
	if (cmpxchg(&rec->primed_by, 0, instrument + 1))
		return;
	fkt_emit0(FKT_E_HIT, instrument);
	/* LOCK-prefixed, too: against an end or a park. */
	cmpxchg(&fkt_mask, FKT_MASK_PRIMES, FKT_MASK_WAITS);
}
EXPORT_SYMBOL_GPL(fkt_recording_prime_by);

/*
 * A hit of the instrument with this index, whose action is FKT_ACTION_START. Any context, preemption is disabled. Only
 * the first hit changes the mask, and only from FKT_MASK_WAITS: an end or a park that has cleared it stays in force.
 * While it waits, rec->mask does not change (fkt_steer_mask()). The hit is written before the mask is set,
 * so that on its CPU all that is recorded follows it: what is called here, and interrupts meanwhile, are not recorded.
 */
void fkt_recording_begin_by(struct fkt_recording *rec, u32 instrument)
{
	const u64 mask = READ_ONCE(rec->mask);

	if (READ_ONCE(fkt_mask) != FKT_MASK_WAITS)
		return;
	/* LOCK-prefixed, against other CPUs, once in a recording: of simultaneous hits only one goes on. */
	if (cmpxchg(&rec->is_beginning, false, true))
		return;
	if (mask & 1ULL << FKT_L_SYSTEM)
		fkt_trigger_calls_begin();
	WRITE_ONCE(rec->since, fkt_clock());
	/*
	 * Pairs with the load-acquire in fkt_recording_waits(). Before the mask, so that fkt_recording_set_mask() does
	 * not take a cleared mask for one that waits.
	 */
	smp_store_release(&rec->started_by, instrument + 1);
	/* The rings are set up before the mask waits; an end or a park waits for this probe before it closes them. */
	fkt_emit(FKT_E_MASK, 0, &mask, FKT_N_MASK);
	fkt_emit0(FKT_E_HIT, instrument);
	/* LOCK-prefixed, too: against an end or a park. */
	cmpxchg(&fkt_mask, FKT_MASK_WAITS, mask);
	/* The owner lists the tasks now, with the names that they got meanwhile. */
	fkt_wake_soon();
}
EXPORT_SYMBOL_GPL(fkt_recording_begin_by);

/*
 * A hit has begun the recording. Its probe cannot take the lock under which the quick tables are chosen, so this queues
 * a work item; until that runs, the table of all functions serves the hits. Called from the drain thread, which must
 * not take the lock either.
 */
void fkt_recording_quicken(struct fkt_recording *rec)
{
	queue_work(system_freezable_wq, &rec->quicken);
}
EXPORT_SYMBOL_GPL(fkt_recording_quicken);

/* ---- under the lock ---- */

/* Returns the layers that events can come of. Caller must hold the lock. */
u64 fkt_recording_layers(const struct fkt_recording *rec)
{
	return 1ULL << FKT_L_SYSTEM | 1ULL << FKT_L_FKT | 1ULL << FKT_L_PROCESS |
	       fkt_instrument_table_layers(fkt_recording_instruments(rec));
}

/*
 * Sets the layers that probes record, after the hooks are on and the rings are set up. Caller must hold
 * the lock.
 */
void fkt_recording_set_mask(struct fkt_recording *rec, u64 mask)
{
	/*
	 * System calls are being added to the mask: for those under way the trigger must not use an
	 * older begin.
	 */
	if (mask & ~READ_ONCE(fkt_mask) & 1ULL << FKT_L_SYSTEM)
		fkt_trigger_calls_begin();
	/*
	 * No hit can prime or begin it meanwhile: before the start and while the machine slept the mask is 0, and all
	 * probes have returned.
	 */
	if (fkt_recording_is_unprimed(rec))
		mask = FKT_MASK_PRIMES;
	else if (fkt_recording_waits(rec))
		mask = FKT_MASK_WAITS;
	/* A probe that sees the mask sees the rings, and the data that the trigger uses. */
	smp_store_release(&fkt_mask, mask);
	fkt_mask_choose_quick(fkt_recording_instruments(rec));
}

/*
 * Lets probes record the layers in rec->mask. If the recording ends by itself meanwhile, the
 * mask must stay 0, so the state is checked after setting the mask. Caller must hold the lock.
 */
void fkt_recording_go_on(struct fkt_recording *rec)
{
	fkt_recording_set_mask(rec, rec->mask);
	smp_mb(); /* pairs with the cmpxchg in fkt_recording_end(), with fkt_gap() and stop() in actions.c */
	if (READ_ONCE(rec->state) != FKT_RECORDING || READ_ONCE(fkt_full) || READ_ONCE(fkt_stopped_by))
		fkt_mask_clear();
}

/*
 * Adds the time asleep to a clock that did not count it. No probe writes meanwhile, because the
 * recording is parked. Caller must hold the lock.
 */
void fkt_recording_wake_clock(const struct fkt_recording *rec)
{
	if (!rec->parked || !fkt_clock_wake())
		return;
	/* From here on the clock is not the bare counter, which the fastest paths read. */
	static_branch_disable(&fkt_key_pairs);
	static_branch_enable(&fkt_key_special);
}
