// SPDX-License-Identifier: GPL-2.0-only
/* Initialises the parts of the module in order, and removes them in the opposite order. */

#include <linux/module.h>
#include <linux/rcupdate.h>

#include "drain/recording.h"
#include "ring/filter.h"
#include "ring/rings.h"
#include "ring/wake.h"
#include "attach.h"
#include "boot_config.h"
#include "capture.h"
#include "control.h"
#include "kft_files.h"
#include "power.h"

static int __init fkt_init(void)
{
	int err;

	fkt_boot_config_check();
	err = fkt_attach_init();
	if (err)
		return err;
	fkt_wake_init();
	err = fkt_rings_init();
	if (err)
		goto err_attach;
	fkt_capture_init(&fkt_recording);
	err = fkt_power_init(&fkt_recording);
	if (err)
		goto err_capture;
	err = fkt_kft_files_init();
	if (err)
		goto err_power;
	err = fkt_control_init();
	if (err)
		goto err_kft;
	return 0;

err_kft:
	fkt_kft_files_exit();
err_power:
	fkt_power_exit(&fkt_recording);
err_capture:
	fkt_capture_exit(&fkt_recording);
	fkt_rings_exit();
err_attach:
	fkt_attach_exit();
	return err;
}

static void __exit fkt_exit(void)
{
	fkt_control_exit();
	fkt_kft_files_exit();
	fkt_power_exit(&fkt_recording);
	fkt_capture_exit(&fkt_recording);
	fkt_rings_exit();
	fkt_attach_exit();
	/*
	 * A task that dropped the last reference to the module (by a pipe buffer) may have been
	 * preempted before it returned.
	 */
	synchronize_rcu_tasks();
}

module_init(fkt_init);
module_exit(fkt_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Fast Kernel Tracing");
MODULE_VERSION("0.1");
