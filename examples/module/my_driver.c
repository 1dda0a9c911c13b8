// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver of a device that does not exist, with probes of FKT's: docs/your-module.md. Each number written to
 * /sys/module/my_driver/parameters/submit makes as many requests; each seventh fails and resets the device. The other
 * parameters count what the probes show.
 */

#include <linux/module.h>
#include <linux/moduleparam.h>

#include <fkt/probe.h>

#define MY_DRIVER_RESET 17

FKT_DEFINE_EVENT(block, request_done, FKT_U64(sector), FKT_S32(error), FKT_STR(queue, 16));

static unsigned int requests, errors, resets;
module_param(requests, uint, 0444);
module_param(errors, uint, 0444);
module_param(resets, uint, 0444);

static void reset(unsigned int channel, int why)
{
	resets++;
	FKT_PROBE2(block, MY_DRIVER_RESET, channel, why);
}

static void request(u64 sector)
{
	int error = ++requests % 7 ? 0 : -EIO;

	FKT_TRACE(request_done, sector, error, sector % 2 ? "odd" : "even");
	if (error) {
		errors++;
		reset(sector % 4, error);
	}
}

static int submit_set(const char *text, const struct kernel_param *unused)
{
	unsigned int i, count;
	int err = kstrtouint(text, 0, &count);

	for (i = 0; !err && i < count; i++)
		request(requests * 8ULL);
	return err;
}

static const struct kernel_param_ops submit_ops = { .set = submit_set };
module_param_cb(submit, &submit_ops, NULL, 0200);

static int __init my_driver_init(void)
{
	request(0);
	return 0;
}

static void __exit my_driver_exit(void)
{
}

module_init(my_driver_init);
module_exit(my_driver_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Example of a module with probes of FKT's");
