// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests/vm/cases/record_places: functions with arguments of all shapes, which check that they get the right ones,
 * and a function that an interrupt and one that an NMI calls. Nothing describes their types, so none is called through;
 * the compiler makes no variants of them.
 *
 *   echo N >/sys/module/shapes/parameters/run   calls each of them N times (busy and nap: N / 10 times)
 *   echo N >/sys/module/shapes/parameters/deep  calls the one with much room on the stack, N deep
 *   /sys/module/shapes/parameters/wrong         how many results or arguments were wrong
 */

#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/stdarg.h>
#include <asm/apic.h>
#include <asm/nmi.h>

static unsigned int wrong;
module_param(wrong, uint, 0444);

#define DEEPEST 66 /* calls of shape_deep(), which take 9 KB of a stack of 16 KB */

static u64 sink;
/* Read each time, so that the compiler does not know the arguments. */
static u64 numbers[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
#define N(i) READ_ONCE(numbers[i])

struct large {
	u64 words[5];
};

static noinline __noclone u64 shape_nine(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i)
{
	barrier();
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

static noinline __noclone u64 shape_by_value(struct large large, int more)
{
	barrier();
	return large.words[0] + large.words[4] + more;
}

static noinline __noclone struct large shape_large_result(u64 first)
{
	barrier();
	return (struct large){ { first, 1, 2, 3, first + 4 } };
}

static noinline __noclone u64 shape_variadic(unsigned int count, ...)
{
	va_list arguments;
	u64 sum = 0;

	va_start(arguments, count);
	while (count--)
		sum += va_arg(arguments, u64);
	va_end(arguments);
	return sum;
}

static noinline __noclone u64 shape_recursive(u64 depth)
{
	/* Read each time, or the compiler would make a loop of it. */
	return depth ? shape_recursive(depth - 1) + READ_ONCE(sink) + 1 : 0;
}

static noinline __noclone u64 shape_deep(u64 depth)
{
	u8 room[96] = { 1 };
	u64 below;

	barrier_data(room);
	below = depth ? shape_deep(depth - 1) + 1 : 0;
	/* It is needed until here. */
	barrier_data(room);
	return below;
}

static noinline __noclone u64 shape_busy(unsigned int us)
{
	const u64 end = ktime_get_ns() + us * NSEC_PER_USEC;

	/* Not udelay(), which is calibrated at boot, on a machine that may be busy then. */
	while (ktime_get_ns() < end)
		cpu_relax();
	return us;
}

static noinline __noclone long shape_nap(unsigned int ms)
{
	/* By the clock: ticks may come late and all at once in an emulator. */
	usleep_range(ms * 1000, ms * 1000 + 100);
	return -(long)ms;
}

static noinline __noclone void shape_on_ipi(void *unused)
{
	barrier();
}

static noinline __noclone int shape_on_nmi(unsigned int type, struct pt_regs *regs)
{
	barrier();
	return NMI_HANDLED;
}

static void run_once(unsigned int i)
{
	const struct large large = { { i, 0, 0, 0, N(7) } };

	wrong += shape_nine(i, N(2), N(3), N(4), N(5), N(6), N(7), N(8), N(9)) != i + 284;
	wrong += shape_by_value(large, N(3)) != i + 10;
	wrong += shape_large_result(i).words[4] != i + 4;
	wrong += shape_variadic(9, N(1), N(2), N(3), N(4), N(5), N(6), N(7), N(8), (u64)i) != i + 36;
	wrong += shape_recursive(4) != 4;
	smp_call_function_single(i % num_online_cpus(), shape_on_ipi, NULL, 1);
	if (i % 10)
		return;
	wrong += shape_busy(100) != 100;
	wrong += shape_nap(5) != -5;
	apic->send_IPI_self(NMI_VECTOR);
}

static int set_run(const char *text, const struct kernel_param *unused)
{
	unsigned int i, rounds;
	int err = kstrtouint(text, 0, &rounds);

	for (i = 0; !err && i < rounds; i++)
		run_once(i);
	return err;
}

static const struct kernel_param_ops run_ops = { .set = set_run };
module_param_cb(run, &run_ops, NULL, 0200);

static int set_deep(const char *text, const struct kernel_param *unused)
{
	unsigned int depth;
	int err = kstrtouint(text, 0, &depth);

	if (!err && depth > DEEPEST)
		err = -EINVAL;
	if (!err)
		wrong += shape_deep(depth) != depth;
	return err;
}

static const struct kernel_param_ops deep_ops = { .set = set_deep };
module_param_cb(deep, &deep_ops, NULL, 0200);

static int __init shapes_init(void)
{
	return register_nmi_handler(NMI_LOCAL, shape_on_nmi, 0, "shapes");
}

static void __exit shapes_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "shapes");
}

module_init(shapes_init);
module_exit(shapes_exit);

MODULE_DESCRIPTION("Functions with arguments of all shapes");
MODULE_LICENSE("GPL v2");
