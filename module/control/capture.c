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
 *
 * To arm or to disarm a place in a user program the kernel locks the memory map of each process that has the file
 * mapped, and such a process may keep that locked for as long as it likes (by a FUSE file, for example). So that is
 * done without the lock, while `arming` keeps all others from starting, exchanging and stopping: by FKT_START before
 * anything else, and at the end by a work item, because neither FKT_STOP nor a close waits for it. Places that are
 * still armed then have no hits any more.
 */

#include <linux/file.h>
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

#include "drain/charge.h"
#include "drain/drain.h"
#include "drain/inherit.h"
#include "drain/reader.h"
#include "drain/recording.h"
#include "drain/trigger.h"
#include "events/process.h"
#include "hits/call_context.h"
#include "hits/calls_arm.h"
#include "instruments/call_quick.h"
#include "instruments/histogram.h"
#include "instruments/instrument_table.h"
#include "instruments/mask.h"
#include "instruments/task_flags.h"
#include "instruments/user_table.h"
#include "ring/access.h"
#include "ring/clock.h"
#include "ring/filter.h"
#include "ring/flags.h"
#include "ring/page_pool.h"
#include "ring/rings.h"
#include "ring/wake.h"
#include "ring/write.h"
#include "user/user_arm.h"
#include "user/user_calls.h"
#include "attach.h"
#include "capture.h"
#include "instruments.h"
#include "start.h"

/*
 * How long a close waits for the drain, and for places in user programs to be disarmed: if the output works, everything
 * recorded is then in the file.
 */
#define CLOSE_WAIT (5 * HZ)

/* ---- stop ---- */

/* Has places in user programs disarmed that are still armed. A start that fails does it itself. */
static void disarm_users_locked(struct fkt_recording *rec)
{
	if (rec->arming || !fkt_record_users_armed())
		return;
	rec->arming = true;
	/* Until disarm() ends: the handlers are in this module. */
	__module_get(THIS_MODULE);
	queue_work(system_unbound_wq, &rec->disarm);
}

static void disarm(struct work_struct *work)
{
	fkt_instruments_disarm_users(container_of(work, struct fkt_recording, disarm));
	module_put(THIS_MODULE);
}

/* Ends the recording, except for the work of the drain. */
static void halt_locked(struct fkt_recording *rec)
{
	/* If the machine has just slept: the stop time must not be before the sleep. */
	fkt_recording_wake_clock(rec);
	fkt_recording_end(rec, FKT_STOP_ASKED, 0);
	/* Again: the thread in fkt_recording_end() may have been preempted before it cleared the mask. */
	fkt_mask_clear();
	/* Both functions return when every probe that was running has returned. */
	fkt_instruments_end(rec);
	fkt_detach_all();
	disarm_users_locked(rec);
	fkt_filter_stop();
	fkt_rings_close();
	rec->draining = true;
	fkt_drain_finish(rec);
}

/* Called when the drain has ended. */
static void settle_locked(struct fkt_recording *rec)
{
	fkt_drain_stop(rec);
	/* The drain does not write events any more either. */
	fkt_trigger_stop();
	rec->draining = false;
	WRITE_ONCE(rec->state, FKT_STOPPED);
	fkt_recording_wake_readers(rec);
}

static void set_recorder(struct fkt_recording *rec, struct pid *recorder)
{
	struct pid *old;

	spin_lock(&rec->pid_lock);
	old = rec->recorder;
	rec->recorder = recorder;
	spin_unlock(&rec->pid_lock);
	put_pid(old);
}

/* STOPPED -> IDLE: no page can be fetched any more. The counts stay until the next start. */
void fkt_capture_finish(struct fkt_recording *rec)
{
	struct file *owner = rec->owner;

	/* First, so that no new fetch can access the rings while they are freed. */
	WRITE_ONCE(rec->owner, NULL);
	fkt_reader_reset(rec, owner);
	fkt_drain_release(rec);
	fkt_rings_stop();
	fkt_instruments_free(rec);
	set_recorder(rec, NULL);
	WRITE_ONCE(rec->state, FKT_IDLE);
	module_put(THIS_MODULE);
}

/* Takes the lock when no exchange of the owner is under way. -EINTR: the caller is being killed. */
static int lock_to_stop(struct fkt_recording *rec, const struct file *owner)
{
	for (;;) {
		int err = fkt_recording_lock(rec);

		if (err || !rec->arming || !fkt_recording_goes_on(rec, owner))
			return err;
		mutex_unlock(&rec->lock);
		/* Freezable, as the wait of an exchange for the end of the machine's sleep is. */
		if (wait_event_state(rec->armed, !READ_ONCE(rec->arming), (TASK_KILLABLE | TASK_FREEZABLE)))
			return -EINTR;
	}
}

/* FKT_STOP. -EINTR: the caller is being killed; its close will end the recording. */
int fkt_capture_stop(struct fkt_recording *rec, struct file *owner)
{
	int err = lock_to_stop(rec, owner);
	u32 thread;

	if (err)
		return err;
	if (rec->owner != owner)
		err = -ENODATA;
	else if (fkt_recording_goes_on(rec, owner))
		halt_locked(rec);
	thread = fkt_drain_thread(rec);
	mutex_unlock(&rec->lock);
	if (!err)
		err = fkt_drain_wait(rec, thread);
	if (!err)
		err = fkt_recording_lock(rec);
	if (err)
		return err;
	/* Another thread may have stopped it already, and may even have started the next recording. */
	if (rec->owner == owner && rec->draining && fkt_drain_ended(rec))
		settle_locked(rec);
	mutex_unlock(&rec->lock);
	return 0;
}
EXPORT_SYMBOL_GPL(fkt_capture_stop);

/* Finishes a recording whose owner has closed its file, once the drain has ended. */
static void reap(struct work_struct *work)
{
	struct fkt_recording *rec = container_of(work, struct fkt_recording, reap);
	bool due;

	mutex_lock(&rec->lock);
	due = rec->orphan && fkt_drain_ended(rec);
	mutex_unlock(&rec->lock);
	if (!due)
		return;
	/* Without the lock, because the output may take long. Only this function changes an orphan. */
	fkt_inherit_write(rec);
	fkt_drain_truncate(rec);
	mutex_lock(&rec->lock);
	if (rec->draining)
		settle_locked(rec);
	fkt_capture_finish(rec);
	WRITE_ONCE(rec->orphan, false);
	if (!atomic_read(&rec->openers))
		fkt_rings_free();
	mutex_unlock(&rec->lock);
	wake_up_all(&rec->reaped);
}

/*
 * The owner closes its file while recording, or dies with pages that it should still have written. reap() is queued
 * here and at the drain's end: the later one does the work.
 */
static void abandon_locked(struct fkt_recording *rec)
{
	if (fkt_recording_goes_on(rec, rec->owner)) {
		fkt_inherit(rec);
		halt_locked(rec);
	}
	rec->orphan = true;
	WRITE_ONCE(rec->owner, NULL);
	set_recorder(rec, NULL);
	queue_work(system_freezable_wq, &rec->reap);
}

/* Called when the device is opened: calls on `file` will be about this recording. */
int fkt_capture_opened(struct fkt_recording *rec, struct file *file)
{
	struct fkt_opener *opener = kzalloc(sizeof(*opener), GFP_KERNEL_ACCOUNT);

	if (!opener)
		return -ENOMEM;
	opener->recording = rec;
	opener->pow = FKT_POW_DEFAULT;
	file->private_data = opener;
	atomic_inc(&rec->openers);
	return 0;
}
EXPORT_SYMBOL_GPL(fkt_capture_opened);

/* Returns whether the current process was killed by a signal. */
static bool is_killed(void)
{
	const struct signal_struct *signal = current->signal;

	return (READ_ONCE(signal->flags) & SIGNAL_GROUP_EXIT) && (READ_ONCE(signal->group_exit_code) & 0x7f);
}

/*
 * Called when the device is closed, also when the process dies: a recording that still runs ends here, and its output
 * stays readable. Pages of a flight recorder whose owner is killed while it writes them after the stop are written in
 * its place; not if it closes the device, which says that it is done with them. Closing the last open file frees the
 * kept pages; those of an orphan are freed in reap(). Only the owner and the last one wait for the lock,
 * uninterruptibly.
 */
void fkt_capture_closed(struct file *file)
{
	struct fkt_recording *rec = fkt_recording_of(file);
	/* Only calls on this file could make it the owner, or end that, and they have all returned. */
	const bool owned = READ_ONCE(rec->owner) == file;

	if (owned) {
		mutex_lock(&rec->lock);
		if (fkt_recording_running(rec) || (is_killed() && fkt_inherit_left(rec)))
			abandon_locked(rec);
		else
			fkt_capture_finish(rec);
		mutex_unlock(&rec->lock);
	}
	if (atomic_dec_and_test(&rec->openers)) {
		mutex_lock(&rec->lock);
		/* A file opened meanwhile has no pages yet: starting a recording needs the lock. */
		if (rec->state == FKT_IDLE)
			fkt_rings_free();
		mutex_unlock(&rec->lock);
	}
	if (owned) {
		wait_event_timeout(rec->reaped, !READ_ONCE(rec->orphan), CLOSE_WAIT);
		wait_event_timeout(rec->armed, !READ_ONCE(rec->arming), CLOSE_WAIT);
	}
	kfree(file->private_data);
}
EXPORT_SYMBOL_GPL(fkt_capture_closed);

/* Chooses the quick tables that the mask allows, also if the recording has ended meanwhile. */
static void quicken(struct work_struct *work)
{
	struct fkt_recording *rec = container_of(work, struct fkt_recording, quicken);

	mutex_lock(&rec->lock);
	fkt_mask_choose_quick(fkt_recording_instruments(rec));
	mutex_unlock(&rec->lock);
}

/* Called before the device can be opened. */
void fkt_capture_init(struct fkt_recording *rec)
{
	INIT_WORK(&rec->reap, reap);
	INIT_WORK(&rec->disarm, disarm);
	INIT_WORK(&rec->quicken, quicken);
}

/* Called before the module is unloaded: the work items of the last recording may still be running. */
void fkt_capture_exit(struct fkt_recording *rec)
{
	flush_work(&rec->quicken);
	flush_work(&rec->reap);
	flush_work(&rec->disarm);
}

/* ---- start ---- */

static void prepare(struct fkt_recording *rec, struct file *owner, const struct fkt_start *start,
		    const struct fkt_instrument_table *instruments)
{
	/* Pairs with the load-acquire in fkt_recording_owned_by(): the rings and the engine are set up. */
	smp_store_release(&rec->owner, owner);
	set_recorder(rec, get_pid(task_tgid(current)));
	/* Before the counts, which are 0 now: whoever sees this recording's counts is asked for this user. */
	rec->uid = owner->f_cred->uid;
	/* Read without the lock by fkt_recording_fill_status(), to which values of different moments are as good. */
	WRITE_ONCE(rec->recording, start->recording);
	WRITE_ONCE(rec->mask, start->mask);
	WRITE_ONCE(rec->clock, start->clock);
	WRITE_ONCE(rec->reason, FKT_STOP_NONE);
	WRITE_ONCE(rec->error, 0);
	/* Until begin(), so that no status has that of an earlier recording. */
	WRITE_ONCE(rec->start_clock, fkt_clock());
	WRITE_ONCE(rec->stop_clock, 0);
	rec->begun = false;
	/* No probe runs that could read or set these. */
	fkt_stopped_by = 0;
	rec->waits = fkt_instrument_table_has(instruments, FKT_ACTION_START);
	rec->primed_by = 0;
	rec->primes = fkt_instrument_table_has(instruments, FKT_ACTION_PRIME);
	memset(fkt_flags, 0, sizeof(fkt_flags));
	fkt_lowest_stack_reset();
	/*
	 * Pairs with the load-acquire in fkt_recording_begun(): a reader of this state sees `begun` of
	 * this recording.
	 */
	smp_store_release(&rec->state, FKT_RECORDING);
}

/* Lets probes write from here on. Not earlier, so that switching the hooks on is not recorded. */
static void begin(struct fkt_recording *rec)
{
	WRITE_ONCE(rec->start_clock, fkt_clock());
	rec->since = rec->start_clock;
	fkt_recording_set_mask(rec, rec->mask);
	/* Pairs with the load-acquire in fkt_recording_begun(): everything after that is recorded. */
	smp_store_release(&rec->begun, true);
	/* The recording's list of tasks is older than the thread. */
	fkt_process_introduce(rec->drain.task);
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
	if (start->flags & FKT_START_NO_PAIRS || start->clock != FKT_CLOCK_TSC || !fkt_trigger_pairs())
		static_branch_disable(&fkt_key_pairs);
	else
		static_branch_enable(&fkt_key_pairs);
	set_key(&fkt_key_special,
		args || start->filter != FKT_FILTER_NONE || start->clock != FKT_CLOCK_TSC);
}

/* Arguments of FKT_START in kernel memory, and the output. Each pointer may be NULL. */
struct parts {
	struct fkt_trigger_plan *trigger;
	struct fkt_instrument_table *instruments;
	struct file *out;
	u64 refused; /* function or instruction that the kernel refuses to probe; 0: none */
};

static void free_parts(struct parts *parts)
{
	kvfree(parts->trigger);
	fkt_instrument_table_free(parts->instruments);
	if (parts->out)
		fput(parts->out);
}

/* Returns 0 or a negative errno; the caller must call free_parts() in any case. */
static int get_parts(struct file *owner, const struct fkt_start *start, enum fkt_given by, struct parts *parts)
{
	void *got = fkt_trigger_get(start);

	if (IS_ERR(got))
		return PTR_ERR(got);
	parts->trigger = got;
	got = start->instruments ? fkt_instrument_table_get(owner, start->instruments, start->clock, by) : NULL;
	if (IS_ERR(got))
		return PTR_ERR(got);
	parts->instruments = got;
	if (parts->instruments && (parts->instruments->calls || parts->instruments->entries))
		fkt_record_calls_load();
	got = fkt_start_output(start);
	if (IS_ERR(got))
		return PTR_ERR(got);
	parts->out = got;
	return 0;
}

/* Switches on everything that writes events. Takes parts->instruments unless it fails early. */
static int attach(struct fkt_recording *rec, const struct fkt_start *start, struct parts *parts)
{
	struct fkt_instrument_table *instruments = parts->instruments;
	/* First, because the hooks that follow threads are on if threads have flags, or open calls. */
	int err = fkt_task_flags_make(instruments ? instruments->threads : 0) ?:
		  fkt_user_calls_make(instruments ? instruments->users : NULL) ?:
		  fkt_attach_layers(start->mask);

	if (!err)
		err = fkt_filter_adopt();
	if (err)
		return err;
	parts->instruments = NULL;
	return fkt_instruments_begin(rec, instruments, &parts->refused);
}

/* Takes parts->trigger, and unless it fails early parts->instruments. */
static int start_locked(struct fkt_recording *rec, struct file *owner, const struct fkt_start *start,
			struct parts *parts)
{
	struct fkt_trigger_plan *trigger = parts->trigger;
	int err;

	parts->trigger = NULL;
	/* Frees it on error; later fkt_trigger_stop() does. */
	err = fkt_trigger_start(trigger);
	if (err)
		return err;
	err = fkt_clock_start(start->clock);
	if (err)
		goto err_trigger;
	err = fkt_filter_start(owner, start->filter, start->filter_pid);
	if (err)
		goto err_trigger;
	fkt_rings_configure(owner->private_data,
			    FKT_START_ENGINE_OF(start->flags) == FKT_ENGINE_CHECKIN ? 0 : fkt_charge_payer());
	err = fkt_rings_start(start->recording, start->flags & FKT_START_STOP_WHEN_FULL);
	if (err)
		goto err_filter;
	rec->overwrite = start->flags & FKT_START_OVERWRITE;
	rec->leave = false;
	rec->closed = false;
	/* The drain thread looks at it. */
	rec->started_by = 0;
	rec->is_beginning = false;
	err = fkt_drain_start(rec, owner, start, parts->out);
	if (err)
		goto err_rings;
	set_keys(start);
	fkt_attach_start();
	__module_get(THIS_MODULE);
	prepare(rec, owner, start, parts->instruments);
	err = attach(rec, start, parts);
	if (!err) {
		begin(rec);
		return 0;
	}
	/* Nothing was recorded, so the drain does not wait for the output. */
	halt_locked(rec);
	fkt_drain_join(rec);
	settle_locked(rec);
	fkt_capture_finish(rec);
	return err;

err_rings:
	fkt_rings_stop();
err_filter:
	fkt_filter_stop();
err_trigger:
	fkt_trigger_stop();
	return err;
}

/*
 * Takes the lock for a start. In the kernel, the caller has locks for which tasks wait that the freezer waits for:
 * -EAGAIN and -EBUSY instead of a wait. by: as in fkt_capture_start_checked()
 */
static int lock_to_start(struct fkt_recording *rec, enum fkt_given by)
{
	return by == FKT_GIVEN_BY_KERNEL ? fkt_recording_lock_now(rec) : fkt_recording_lock_awake(rec);
}

/* Sets `arming`, so that no other recording can start. -EBUSY: there is another one; -EDQUOT: it takes too much. */
static int begin_arming(struct fkt_recording *rec, struct file *owner, enum fkt_given by)
{
	const struct fkt_opener *opener = owner->private_data;
	int err = by == FKT_GIVEN_BY_KERNEL ? lock_to_start(rec, by) : fkt_recording_lock_to_arm(rec);

	if (err)
		return err;
	if (rec->owner == owner && rec->state == FKT_STOPPED)
		fkt_capture_finish(rec);
	if (rec->state != FKT_IDLE || rec->arming)
		err = -EBUSY;
	else if (!fkt_access_memory(owner, opener->pow))
		err = -EDQUOT;
	else
		rec->arming = true;
	mutex_unlock(&rec->lock);
	return err;
}

/* Starts the recording. Errors: those of begin_arming(), and others. */
static int start_or_refuse(struct fkt_recording *rec, struct file *owner, const struct fkt_start *start,
			   struct parts *parts, enum fkt_given by)
{
	int err = begin_arming(rec, owner, by);

	if (err)
		return err;
	if (parts->instruments)
		err = fkt_record_users_arm(parts->instruments->users, &parts->refused);
	if (!err)
		err = lock_to_start(rec, by);
	if (!err) {
		err = start_locked(rec, owner, start, parts);
		mutex_unlock(&rec->lock);
	}
	if (err)
		fkt_instruments_disarm_users(rec);
	else
		fkt_recording_armed(rec);
	return err;
}

/*
 * Starts a recording with arguments that were checked. by: where the instruments are given. Errors as those of
 * fkt_capture_start(); by the kernel also -EAGAIN: the machine is about to sleep.
 */
int fkt_capture_start_checked(struct fkt_recording *rec, struct file *owner, const struct fkt_start *start,
			      enum fkt_given by)
{
	struct fkt_opener *opener = owner->private_data;
	struct parts parts = {};
	int err;

	err = fkt_access_start(owner, start);
	if (err)
		return err;
	err = get_parts(owner, start, by, &parts);
	if (!err)
		err = start_or_refuse(rec, owner, start, &parts, by);
	WRITE_ONCE(opener->refused, parts.refused);
	free_parts(&parts);
	if (!err)
		wake_up_all(&rec->ready);
	return err;
}
EXPORT_SYMBOL_GPL(fkt_capture_start_checked);

/*
 * FKT_START. -EBUSY: another open file records; -EPROTO: another ABI version; -EPERM, -EACCES: see
 * access.c; -EDQUOT: more memory than the opener may have; -ENOPKG: there is no module fkt_calls.
 */
int fkt_capture_start(struct fkt_recording *rec, struct file *owner, const struct fkt_start *start)
{
	int err = fkt_start_check(start);

	return err ?: fkt_capture_start_checked(rec, owner, start, FKT_GIVEN_BY_USER);
}
