// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that is traced call by call: docs/your-module.md, "See every call". Each number written to
 * /sys/module/my_functions/parameters/run calls the functions below as often.
 */

#include <linux/module.h>
#include <linux/moduleparam.h>

#include <fkt/functions.h>

static unsigned int calls;
module_param(calls, uint, 0444);

static noinline unsigned int factorial(unsigned int n)
{
	calls++;
	return n < 2 ? 1 : n * factorial(n - 1);
}

static noinline unsigned int twice(unsigned int (*function)(unsigned int), unsigned int n)
{
	calls++;
	return function(n) + function(n + 1);
}

/* The compiler inlines it. */
static unsigned int small(unsigned int n)
{
	calls++;
	return n % 4;
}

static int run_set(const char *text, const struct kernel_param *unused)
{
	unsigned int i, count, sum = 0;
	int err = kstrtouint(text, 0, &count);

	calls++;
	for (i = 0; !err && i < count; i++)
		sum += twice(factorial, small(i));
	return err ?: sum == UINT_MAX;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);

static int __init my_functions_init(void)
{
	calls++;
	return 0;
}

static void __exit my_functions_exit(void)
{
}

module_init(my_functions_init);
module_exit(my_functions_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Example of a module that FKT traces call by call");
