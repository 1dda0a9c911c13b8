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

#include "attach.h"
#include "clock.h"
#include "drain.h"
#include "power.h"
#include "recording.h"
#include "rings.h"
#include "self.h"
#include "write.h"

#include "../probes/calls.h"

#define PARK_LIMIT (20 * HZ) /* as long as the kernel tries to freeze tasks */

/* Protected by fkt_recording.lock. */
static u64 parked_boot_ns; /* time at which the recording was parked */
static u64 parked_mask;

/* Stops the recording of events, and closes all open pages. Caller must hold fkt_recording.lock. */
static void park_probes(void)
{
	fkt_mask_clear();
	/* Waits for the probes that saw the mask set, until they have written their events. */
	fkt_attach_wait();
	fkt_record_calls_wait();
	fkt_rings_close_open();
	parked_boot_ns = ktime_get_boottime_ns();
	fkt_rings_pause();
}

static void unpark(void);

/* Returns when nothing is written to the output any more. -EBUSY: that takes too long; -EINTR: a fatal signal. */
static int park(void)
{
	bool wait;
	int err;

	mutex_lock(&fkt_recording.lock);
	if (fkt_recording_running() && !fkt_recording.draining)
		park_probes();
	fkt_clock_park();
	parked_mask = fkt_recording.mask;
	WRITE_ONCE(fkt_recording.parked, true);
	wait = fkt_drain_park();
	mutex_unlock(&fkt_recording.lock);
	err = wait ? fkt_drain_wait_parked(PARK_LIMIT) : 0;
	if (err)
		unpark();
	return err;
}

/*
 * Writes the event `asleep` on each CPU, for the thread interrupted there, which is the one that runs
 * at the end of the gap.
 */
static void emit_asleep(void *unused)
{
	u64 words[FKT_N_ASLEEP] = {
		ktime_get_boottime_ns() - parked_boot_ns, fkt_clock_slept_ns(),
	};

	fkt_emit(FKT_E_ASLEEP, 0, words, FKT_N_ASLEEP);
}

/* Lets probes write again. Caller must hold fkt_recording.lock. */
static void unpark_probes(void)
{
	on_each_cpu(emit_asleep, NULL, 1);
	fkt_rings_resume();
	if (fkt_recording.mask != parked_mask)
		fkt_tell_mask(fkt_recording.mask);
	fkt_recording_go_on();
	fkt_tell_clock();
}

/*
 * FKT_CLOCKS. The owner of a recording gets the clocks as used by the recording, also if tasks run
 * again while the recording is still parked. -EINTR: the caller is being killed.
 */
int fkt_power_read_clocks(const struct file *file, struct fkt_clocks *clocks)
{
	int err;

	if (!fkt_recording_owned_by(file))
		return fkt_clock_read(clocks, false);
	err = fkt_recording_lock();
	if (err)
		return err;
	fkt_recording_wake_clock();
	err = fkt_clock_read(clocks, fkt_recording.owner == file);
	mutex_unlock(&fkt_recording.lock);
	return err;
}

static void unpark(void)
{
	mutex_lock(&fkt_recording.lock);
	if (!fkt_recording.parked) {
		mutex_unlock(&fkt_recording.lock);
		return;
	}
	if (fkt_recording.state != FKT_IDLE)
		fkt_recording_wake_clock();
	fkt_drain_unpark();
	/* No other recording can have started meanwhile, because of `parked`. */
	if (fkt_recording.state == FKT_RECORDING)
		unpark_probes();
	WRITE_ONCE(fkt_recording.parked, false);
	mutex_unlock(&fkt_recording.lock);
	wake_up_all(&fkt_recording.awake);
}

/* Called in task context, while user space runs. An error keeps the machine awake. */
static int power_changes(struct notifier_block *nb, unsigned long what, void *unused)
{
	int err;

	switch (what) {
	case PM_HIBERNATION_PREPARE:
	case PM_SUSPEND_PREPARE:
	case PM_RESTORE_PREPARE:
		err = park();
		if (err)
			pr_err("the output does not take the recording's pages (%d): the machine stays awake\n", err);
		return notifier_from_errno(err);
	case PM_POST_HIBERNATION:
	case PM_POST_SUSPEND:
	case PM_POST_RESTORE:
		unpark();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block power_block = { .notifier_call = power_changes };

int fkt_power_init(void)
{
	return register_pm_notifier(&power_block);
}

void fkt_power_exit(void)
{
	unregister_pm_notifier(&power_block);
}
