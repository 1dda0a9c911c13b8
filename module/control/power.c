// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspend and hibernation. Before tasks are frozen, the recording is parked: no events are recorded any
 * more, and all recorded events have been written. So no file changes while an image of the memory is
 * made or restored, when the file systems in the image must match their disks. The threads that write
 * to files are freezable, and so is the recording's work item, which may still have to finish a stop.
 * When the machine is awake, the recording continues, with a clock that includes the time asleep. On
 * each CPU the recording then has a gap in which no event was lost, with the event `asleep` at its end.
 *
 * The lock of the recording is not held while waiting for the drain. The wait is bounded: if the output
 * does not take the pages, the machine stays awake, and the kernel log says why.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/suspend.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "drain/drain.h"
#include "drain/recording.h"
#include "hits/calls_arm.h"
#include "ring/clock.h"
#include "ring/rings.h"
#include "ring/self.h"
#include "ring/write.h"
#include "attach.h"
#include "power.h"

#define PARK_LIMIT (20 * HZ) /* as long as the kernel tries to freeze tasks */

/* Stops the recording of events, and closes all open pages. Caller must hold the recording's lock. */
static void park_probes(struct fkt_recording *rec)
{
	fkt_mask_clear();
	/* Waits for the probes that saw the mask set, until they have written their events. */
	fkt_attach_wait();
	fkt_record_calls_wait();
	fkt_rings_close_open();
	rec->at_park.boot_ns = ktime_get_boottime_ns();
	fkt_rings_pause();
}

static void unpark(struct fkt_recording *rec);

/* Returns when nothing is written to the output any more. -EBUSY: that takes too long; -EINTR: a fatal signal. */
static int park(struct fkt_recording *rec)
{
	u32 wait;
	int err;

	mutex_lock(&rec->lock);
	if (fkt_recording_running(rec) && !rec->draining)
		park_probes(rec);
	fkt_clock_park();
	rec->at_park.mask = rec->mask;
	WRITE_ONCE(rec->parked, true);
	wait = fkt_drain_park(rec);
	mutex_unlock(&rec->lock);
	err = wait ? fkt_drain_wait_parked(rec, wait, PARK_LIMIT) : 0;
	if (err)
		unpark(rec);
	return err;
}

/*
 * Writes the event `asleep` on each CPU, for the thread interrupted there, which is the one that runs
 * at the end of the gap.
 */
static void emit_asleep(void *data)
{
	const struct fkt_recording *rec = data;
	u64 words[FKT_N_ASLEEP] = {
		ktime_get_boottime_ns() - rec->at_park.boot_ns, fkt_clock_slept_ns(),
	};

	fkt_emit(FKT_E_ASLEEP, 0, words, FKT_N_ASLEEP);
}

/* Lets probes write again. Caller must hold the recording's lock. */
static void unpark_probes(struct fkt_recording *rec)
{
	on_each_cpu(emit_asleep, rec, 1);
	fkt_rings_resume();
	if (rec->mask != rec->at_park.mask)
		fkt_tell_mask(rec->mask);
	fkt_recording_go_on(rec);
	fkt_tell_clock();
}

/*
 * FKT_CLOCKS. The owner of a recording gets the clocks as used by the recording, also if tasks run
 * again while the recording is still parked. -EINTR: the caller is being killed.
 */
int fkt_power_read_clocks(struct fkt_recording *rec, const struct file *file, struct fkt_clocks *clocks)
{
	int err;

	if (!fkt_recording_owned_by(rec, file))
		return fkt_clock_read(clocks, false);
	err = fkt_recording_lock(rec);
	if (err)
		return err;
	fkt_recording_wake_clock(rec);
	err = fkt_clock_read(clocks, rec->owner == file);
	mutex_unlock(&rec->lock);
	return err;
}

static void unpark(struct fkt_recording *rec)
{
	mutex_lock(&rec->lock);
	if (!rec->parked) {
		mutex_unlock(&rec->lock);
		return;
	}
	if (rec->state != FKT_IDLE)
		fkt_recording_wake_clock(rec);
	fkt_drain_unpark(rec);
	/* No other recording can have started meanwhile, because of `parked`. */
	if (rec->state == FKT_RECORDING)
		unpark_probes(rec);
	WRITE_ONCE(rec->parked, false);
	mutex_unlock(&rec->lock);
	wake_up_all(&rec->awake);
}

/* Called in task context, while user space runs. An error keeps the machine awake. */
static int power_changes(struct notifier_block *nb, unsigned long what, void *unused)
{
	struct fkt_recording *rec = container_of(nb, struct fkt_recording, power);
	int err;

	switch (what) {
	case PM_HIBERNATION_PREPARE:
	case PM_SUSPEND_PREPARE:
	case PM_RESTORE_PREPARE:
		err = park(rec);
		if (err)
			pr_err("the output does not take the recording's pages (%d): the machine stays awake\n", err);
		return notifier_from_errno(err);
	case PM_POST_HIBERNATION:
	case PM_POST_SUSPEND:
	case PM_POST_RESTORE:
		unpark(rec);
		break;
	}
	return NOTIFY_DONE;
}

int fkt_power_init(struct fkt_recording *rec)
{
	rec->power.notifier_call = power_changes;
	return register_pm_notifier(&rec->power);
}

void fkt_power_exit(struct fkt_recording *rec)
{
	unregister_pm_notifier(&rec->power);
}
