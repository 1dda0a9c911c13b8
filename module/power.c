// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspend and hibernation. Before the machine sleeps the recording pauses: nothing is recorded, and what
 * was recorded has been written, so that no file changes while an image of the memory is made or
 * restored, whose file systems must match their disks. It goes on when the machine is awake again; the
 * events `mask` and `asleep` tell of the time between.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/notifier.h>
#include <linux/suspend.h>

#include "fkt.h"

/* Process context; user space runs still, or again. An error keeps the machine awake. */
static int power_changes(struct notifier_block *nb, unsigned long what, void *unused)
{
	int err;

	switch (what) {
	case PM_HIBERNATION_PREPARE:
	case PM_SUSPEND_PREPARE:
	case PM_RESTORE_PREPARE:
		err = fkt_capture_pause();
		if (err)
			pr_err("the output takes no pages: not asleep with a recording under way\n");
		return notifier_from_errno(err);
	case PM_POST_HIBERNATION:
	case PM_POST_SUSPEND:
	case PM_POST_RESTORE:
		fkt_capture_resume();
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
