// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests/vm/cases/call_modules: a module that is unloaded while its functions are traced. successor.ko (successor.c)
 * is loaded where it was: its function at the same address takes arguments on the stack, so a call would return a wrong
 * sum if it were traced.
 *
 *   /sys/module/neighbour/parameters/address  where the function is
 *   /sys/module/neighbour/parameters/sum      calls it; "right" if the sum of its arguments is
 */

#include <linux/module.h>

#ifdef SUCCESSOR
#define PARAMETERS u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i
#define SUM (a + b + c + d + e + f + g + h + i)
#define ARGUMENTS 1, 2, 3, 4, 5, 6, 7, 8, 9
#define RIGHT 45
#else
#define PARAMETERS u64 a, u64 b
#define SUM (a + b)
#define ARGUMENTS 1, 2
#define RIGHT 3
#endif

/* Alone in its section, so that it has the same place in both modules. */
static noinline __section(".text.neighbour") __aligned(64) u64 neighbour_sum(PARAMETERS)
{
	return SUM;
}

static int get_address(char *buffer, const struct kernel_param *unused)
{
	return sysfs_emit(buffer, "0x%lx\n", (unsigned long)neighbour_sum);
}

static int get_sum(char *buffer, const struct kernel_param *unused)
{
	return sysfs_emit(buffer, "%s\n", neighbour_sum(ARGUMENTS) == RIGHT ? "right" : "wrong");
}

static const struct kernel_param_ops address_ops = { .get = get_address };
module_param_cb(address, &address_ops, NULL, 0400);
static const struct kernel_param_ops sum_ops = { .get = get_sum };
module_param_cb(sum, &sum_ops, NULL, 0400);

static int __init neighbour_init(void)
{
	return 0;
}

static void __exit neighbour_exit(void)
{
}

module_init(neighbour_init);
module_exit(neighbour_exit);

MODULE_DESCRIPTION("A module whose functions are traced while it is unloaded");
MODULE_LICENSE("GPL v2");
