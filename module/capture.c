// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state machine of the recording (there is at most one):
 *
 *   IDLE --start--> RECORDING --stop, close--> STOPPED --free, close, start--> IDLE
 *                       \--limit, full, error--> STOPPING --stop, close-->/
 *
 * A start sets up clock, filter, memory, drain, hooks and mask, in this order; a stop goes in the
 * opposite order. The CPUs' open pages are closed only when the hooks are off and every probe has
 * returned, and only then is the drain told to finish.
 *
 * The drain may need as long as the output takes, which may be for ever (a network file system, a frozen
 * file system, FUSE). So the lock is not held while waiting for it: FKT_STOP waits without the lock,
 * until a fatal signal; a close waits for a few seconds, and then a work item does the rest when the
 * drain ends. Until then, no other recording can start (EBUSY). The lock is not held across accesses to
 * user memory either.
 */

#include <linux/file.h>
#include <linux/freezer.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "access.h"
#include "attach.h"
#include "capture.h"
#include "clock.h"
#include "drain.h"
#include "filter.h"
#include "owner.h"
#include "pages.h"
#include "power.h"
#include "rings.h"
#include "start.h"
#include "wake.h"
#include "when.h"
#include "write.h"

/* How long a close waits for the drain: if the output works, everything recorded is then in the file. */
#define CLOSE_WAIT (5 * HZ)

static void reap(struct work_struct *unused);

struct fkt_capture fkt_capture = {
	.lock = __MUTEX_INITIALIZER(fkt_capture.lock),
	.pid_lock = __SPIN_LOCK_UNLOCKED(fkt_capture.pid_lock),
	.reap = __WORK_INITIALIZER(fkt_capture.reap, reap),
	.reaped = __WAIT_QUEUE_HEAD_INITIALIZER(fkt_capture.reaped),
	.ready = __WAIT_QUEUE_HEAD_INITIALIZER(fkt_capture.ready),
	.awake = __WAIT_QUEUE_HEAD_INITIALIZER(fkt_capture.awake),
};

static atomic_t openers; /* number of open files */

/* Lockless: the state may change at once; poll and fetch look again when they are woken. */
enum fkt_state fkt_capture_state(void)
{
	return READ_ONCE(fkt_capture.state);
}

/* Returns whether the recording is past its start, with all hooks on. Needs no lock. */
bool fkt_capture_begun(void)
{
	/* Pair with the store-releases in prepare() and begin(). */
	return smp_load_acquire(&fkt_capture.state) != FKT_RECORDING || smp_load_acquire(&fkt_capture.begun);
}

bool fkt_capture_owner(const struct file *file)
{
	/* Pairs with the store-release in prepare(): an owner seen here can use the rings and the engine. */
	return smp_load_acquire(&fkt_capture.owner) == file;
}

/* ---- stop ---- */

/*
 * Ends the recording by itself (limit, full disk, error); hooks stay on until the owner stops it.
 * Called from the drain thread without the lock, because the lock's holder may be waiting for that
 * thread.
 */
void fkt_capture_end(enum fkt_stop_reason reason, int error)
{
	if (cmpxchg(&fkt_capture.state, FKT_RECORDING, FKT_STOPPING) != FKT_RECORDING)
		return;
	WRITE_ONCE(fkt_mask, 0);
	WRITE_ONCE(fkt_capture.stop_clock, fkt_clock());
	WRITE_ONCE(fkt_capture.error, error);
	/* Pairs with the load-acquire in fkt_capture_glance(): if the reason is seen, so are error and clock. */
	smp_store_release(&fkt_capture.reason, reason);
	fkt_kick();
	fkt_drain_wake_readers();
}

/* Ends the recording, except for the work of the drain. */
static void halt_locked(void)
{
	/* If the machine has just slept: the stop time must not be before the sleep. */
	fkt_power_wake_clock();
	fkt_capture_end(FKT_STOP_ASKED, 0);
	/* Again: the thread in fkt_capture_end() may have been preempted before it cleared the mask. */
	WRITE_ONCE(fkt_mask, 0);
	/* Returns when every probe that was running has returned. */
	fkt_detach_all();
	fkt_filter_stop();
	fkt_rings_close();
	fkt_capture.draining = true;
	fkt_drain_finish();
}

/* Called when the drain has ended. */
static void settle_locked(void)
{
	fkt_drain_stop();
	/* The drain does not write events any more either. */
	fkt_when_stop();
	fkt_capture.draining = false;
	WRITE_ONCE(fkt_capture.state, FKT_STOPPED);
	fkt_drain_wake_readers();
}

static void set_recorder(struct pid *recorder)
{
	struct pid *old;

	spin_lock(&fkt_capture.pid_lock);
	old = fkt_capture.recorder;
	fkt_capture.recorder = recorder;
	spin_unlock(&fkt_capture.pid_lock);
	put_pid(old);
}

/* STOPPED -> IDLE: no page can be fetched any more. The counts stay until the next start. */
void fkt_capture_finish(void)
{
	struct file *owner = fkt_capture.owner;

	/* First, so that no new fetch can access the rings while they are freed. */
	WRITE_ONCE(fkt_capture.owner, NULL);
	fkt_owner_reset(owner);
	fkt_drain_release();
	fkt_rings_stop();
	set_recorder(NULL);
	WRITE_ONCE(fkt_capture.state, FKT_IDLE);
	module_put(THIS_MODULE);
}

/* FKT_STOP. -EINTR: the caller is being killed; its close will end the recording. */
int fkt_capture_stop(struct file *owner)
{
	int err = fkt_capture_lock();

	if (err)
		return err;
	if (fkt_capture.owner != owner)
		err = -ENODATA;
	else if (fkt_capture_goes_on(owner))
		halt_locked();
	mutex_unlock(&fkt_capture.lock);
	if (!err)
		err = fkt_drain_wait();
	if (!err)
		err = fkt_capture_lock();
	if (err)
		return err;
	/* Another thread may have stopped it already, and may even have started the next recording. */
	if (fkt_capture.owner == owner && fkt_capture.draining && fkt_drain_ended())
		settle_locked();
	mutex_unlock(&fkt_capture.lock);
	return 0;
}

/* Finishes a recording whose owner has closed its file, once the drain has ended. */
static void reap(struct work_struct *unused)
{
	bool due;

	mutex_lock(&fkt_capture.lock);
	due = fkt_capture.orphan && fkt_drain_ended();
	mutex_unlock(&fkt_capture.lock);
	if (!due)
		return;
	/* Without the lock, because the output may take long. Only this function changes an orphan. */
	fkt_drain_truncate();
	mutex_lock(&fkt_capture.lock);
	settle_locked();
	fkt_capture_finish();
	WRITE_ONCE(fkt_capture.orphan, false);
	if (!atomic_read(&openers))
		fkt_rings_free();
	mutex_unlock(&fkt_capture.lock);
	wake_up_all(&fkt_capture.reaped);
}

/*
 * The drain has ended. If no stop waits for it, reap() finishes the recording; on a freezable
 * workqueue, because it changes the output and must not run while the machine is about to sleep. Called
 * from the drain thread.
 */
void fkt_capture_drained(void)
{
	queue_work(system_freezable_wq, &fkt_capture.reap);
}

/*
 * The owner closes its file while recording. reap() is queued here and at the drain's end: the later
 * one does the work.
 */
static void abandon_locked(void)
{
	if (!fkt_capture.draining) {
		fkt_drain_inherit();
		halt_locked();
	}
	fkt_capture.orphan = true;
	WRITE_ONCE(fkt_capture.owner, NULL);
	set_recorder(NULL);
	queue_work(system_freezable_wq, &fkt_capture.reap);
}

/* Called when the device is opened. */
int fkt_capture_opened(struct file *file)
{
	struct fkt_opener *opener = kzalloc(sizeof(*opener), GFP_KERNEL);

	if (!opener)
		return -ENOMEM;
	opener->pow = FKT_POW_DEFAULT;
	file->private_data = opener;
	atomic_inc(&openers);
	return 0;
}

/*
 * Called when the device is closed, also when the process dies: a recording that still runs ends here,
 * and its output stays readable. Closing the last open file frees the kept pages; those of an orphan
 * are freed in reap(). Waits for the lock uninterruptibly, but it is never held for long.
 */
void fkt_capture_closed(struct file *file)
{
	bool owned;

	mutex_lock(&fkt_capture.lock);
	/* Only calls on this file could make it the owner, and they have all returned. */
	owned = fkt_capture.owner == file;
	if (owned && fkt_capture_running())
		abandon_locked();
	else if (owned)
		fkt_capture_finish();
	/* A file opened meanwhile has no pages yet: starting a recording needs the lock. */
	if (atomic_dec_and_test(&openers) && fkt_capture.state == FKT_IDLE)
		fkt_rings_free();
	mutex_unlock(&fkt_capture.lock);
	if (owned)
		wait_event_timeout(fkt_capture.reaped, !READ_ONCE(fkt_capture.orphan), CLOSE_WAIT);
	kfree(file->private_data);
}

/* Called before the module is unloaded: the work item of the last recording may still be running. */
void fkt_capture_exit(void)
{
	flush_work(&fkt_capture.reap);
}

/* ---- start ---- */

static void prepare(struct file *owner, const struct fkt_start *start)
{
	/* Pairs with the load-acquire in fkt_capture_owner(): the rings and the engine are set up. */
	smp_store_release(&fkt_capture.owner, owner);
	set_recorder(get_pid(task_tgid(current)));
	fkt_capture.recording = start->recording;
	fkt_capture.mask = start->mask;
	fkt_capture.reason = FKT_STOP_NONE;
	fkt_capture.error = 0;
	fkt_capture.start_clock = fkt_clock();
	fkt_capture.stop_clock = 0;
	fkt_capture.begun = false;
	/*
	 * Pairs with the load-acquire in fkt_capture_begun(): a reader of this state sees `begun` of
	 * this recording.
	 */
	smp_store_release(&fkt_capture.state, FKT_RECORDING);
}

/*
 * Sets the layers that probes record, after the hooks are on and the rings are set up. Caller must hold
 * fkt_capture.lock.
 */
void fkt_capture_set_mask(u64 mask)
{
	/*
	 * System calls are being added to the mask: for those under way the condition must not use an
	 * older begin.
	 */
	if (mask & ~READ_ONCE(fkt_mask) & 1ULL << FKT_L_SYSTEM)
		fkt_when_calls_begin();
	/* A probe that sees the mask sees the rings, and the data that the condition uses. */
	smp_store_release(&fkt_mask, mask);
}

/* Lets probes write from here on. Not earlier, so that switching the hooks on is not recorded. */
static void begin(void)
{
	fkt_capture.start_clock = fkt_clock();
	fkt_capture_set_mask(fkt_capture.mask);
	/* Pairs with the load-acquire in fkt_capture_begun(): everything after that is recorded. */
	smp_store_release(&fkt_capture.begun, true);
	fkt_drain_introduce();
}

static void set_key(struct static_key_false *key, bool on)
{
	if (on)
		static_branch_enable(key);
	else
		static_branch_disable(key);
}

static void set_keys(const struct fkt_start *start)
{
	bool args = start->flags & FKT_START_ARGS;

	set_key(&fkt_key_args, args);
	if (start->flags & FKT_START_NO_PAIRS || start->clock != FKT_CLOCK_TSC || !fkt_when_pairs())
		static_branch_disable(&fkt_key_pairs);
	else
		static_branch_enable(&fkt_key_pairs);
	set_key(&fkt_key_special,
		args || start->filter != FKT_FILTER_NONE || start->clock != FKT_CLOCK_TSC);
}

/* Takes over `condition`: it is freed on error, otherwise by fkt_when_stop(). */
static int start_locked(struct file *owner, const struct fkt_start *start, struct file *out,
			struct fkt_when *condition)
{
	int err;

	err = fkt_when_start(condition);
	if (err)
		return err;
	err = fkt_clock_start(start->clock);
	if (err)
		goto err_when;
	err = fkt_filter_start(owner, start->filter, start->filter_pid);
	if (err)
		goto err_when;
	fkt_rings_configure(owner->private_data);
	err = fkt_rings_start(start->recording, start->flags & FKT_START_STOP_WHEN_FULL);
	if (err)
		goto err_filter;
	err = fkt_drain_start(start, out);
	if (err)
		goto err_rings;
	set_keys(start);
	fkt_attach_start();
	__module_get(THIS_MODULE);
	prepare(owner, start);
	err = fkt_attach_layers(start->mask);
	if (!err)
		err = fkt_filter_adopt();
	if (!err) {
		begin();
		return 0;
	}
	/* Nothing was recorded, so the drain does not wait for the output. */
	halt_locked();
	fkt_drain_join();
	settle_locked();
	fkt_capture_finish();
	return err;

err_rings:
	fkt_rings_stop();
err_filter:
	fkt_filter_stop();
err_when:
	fkt_when_stop();
	return err;
}

/* Takes the lock at a time when the machine is not about to sleep. A signal ends the wait. */
static int lock_awake(void)
{
	int err;

	for (;;) {
		err = wait_event_freezable(fkt_capture.awake, !READ_ONCE(fkt_capture.parked));
		if (!err)
			err = fkt_capture_lock();
		if (err || !fkt_capture.parked)
			return err;
		mutex_unlock(&fkt_capture.lock);
	}
}

/* Starts the recording, or frees `condition` and returns an error, -EBUSY if there is another recording. */
static int start_or_refuse(struct file *owner, const struct fkt_start *start, struct file *out,
			   struct fkt_when *condition)
{
	const struct fkt_opener *opener = owner->private_data;
	int err = lock_awake();

	if (err) {
		kvfree(condition);
		return err;
	}
	if (fkt_capture.owner == owner && fkt_capture.state == FKT_STOPPED)
		fkt_capture_finish();
	if (fkt_capture.state != FKT_IDLE)
		err = -EBUSY;
	else if (!fkt_access_memory(owner, opener->pow))
		err = -EDQUOT;
	if (err)
		kvfree(condition);
	else
		err = start_locked(owner, start, out, condition);
	mutex_unlock(&fkt_capture.lock);
	return err;
}

/*
 * FKT_START. -EBUSY: another open file records; -EPROTO: another ABI version; -EPERM, -EACCES: see
 * access.c; -EDQUOT: more memory than the opener may have.
 */
int fkt_capture_start(struct file *owner, const struct fkt_start *start)
{
	struct fkt_when *condition;
	struct file *out;
	int err;

	err = fkt_start_check(start);
	if (!err)
		err = fkt_access_start(owner, start);
	if (err)
		return err;
	condition = fkt_when_get(start);
	if (IS_ERR(condition))
		return PTR_ERR(condition);
	out = fkt_start_output(start);
	if (IS_ERR(out)) {
		kvfree(condition);
		return PTR_ERR(out);
	}
	err = start_or_refuse(owner, start, out, condition);
	if (out)
		fput(out);
	if (!err)
		wake_up_all(&fkt_capture.ready);
	return err;
}

/* ---- status ---- */

/*
 * Fills in the part of FKT_STATUS about the recording as a whole. Without the lock, so that it never
 * has to wait: the values may be of different moments while the state changes; exact once stopped.
 */
void fkt_capture_glance(struct fkt_status *status)
{
	/* While the hooks are still being switched on, the state is reported as idle: events would be missing. */
	status->state = fkt_capture_begun() ? READ_ONCE(fkt_capture.state) : FKT_IDLE;
	/* Pairs with the store-release in fkt_capture_end(). */
	status->stop_reason = smp_load_acquire(&fkt_capture.reason);
	status->error = READ_ONCE(fkt_capture.error);
	status->recording = READ_ONCE(fkt_capture.recording);
	status->mask = status->state == FKT_RECORDING ? READ_ONCE(fkt_capture.mask) : 0;
	status->start_clock = READ_ONCE(fkt_capture.start_clock);
	status->stop_clock = READ_ONCE(fkt_capture.stop_clock);
	spin_lock(&fkt_capture.pid_lock);
	status->recorder = pid_vnr(fkt_capture.recorder);
	spin_unlock(&fkt_capture.pid_lock);
}
