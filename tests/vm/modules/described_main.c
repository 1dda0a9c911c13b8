// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests/vm/cases/kft_modules: functions whose types are described (BTF), among them one of two with the same name,
 * the other of which (described_twin.c) takes arguments on the stack. tests/vm/programs/describe.c writes the
 * description.
 *
 *   echo N >/sys/module/described/parameters/run   calls each of them N times
 *   /sys/module/described/parameters/wrong         how many results were wrong
 *   insmod described.ko init_ms=N init_err=E       its init takes N ms and fails with E
 */

#include <linux/delay.h>
#include <linux/module.h>

#include "described.h"

static unsigned int wrong, init_ms, init_err;
module_param(wrong, uint, 0444);
module_param(init_ms, uint, 0444);
module_param(init_err, uint, 0444);

static noinline __noclone u64 described_twin(u64 a, u64 b, u64 c)
{
	barrier();
	return a + 2 * b + 3 * c;
}

static noinline __noclone u64 described_one(u64 a)
{
	barrier();
	return a + 1;
}

static int set_run(const char *text, const struct kernel_param *unused)
{
	unsigned int i, rounds;
	int err = kstrtouint(text, 0, &rounds);

	for (i = 0; !err && i < rounds; i++) {
		wrong += described_twin(i, 2, 3) != i + 13;
		wrong += described_one(i) != i + 1;
		wrong += described_many(i) != i + 203;
	}
	return err;
}

static const struct kernel_param_ops run_ops = { .set = set_run };
module_param_cb(run, &run_ops, NULL, 0200);

static int __init described_init(void)
{
	msleep(init_ms);
	return -(int)init_err;
}

static void __exit described_exit(void)
{
}

module_init(described_init);
module_exit(described_exit);

MODULE_DESCRIPTION("Functions whose types are described");
MODULE_LICENSE("GPL v2");
