// SPDX-License-Identifier: GPL-2.0-only
/*
 * Empty probes on the entry and exit of system calls: the cost of a tracer that does nothing, mostly
 * that of the kernel's slow path for system calls. The lower bound in the benchmark.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

static struct tracepoint *entry, *exit_;

static void empty(void *data, struct pt_regs *regs, long value)
{
}

static void look(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sys_enter"))
		entry = tp;
	if (!strcmp(tp->name, "sys_exit"))
		exit_ = tp;
}

static int __init empty_probes_init(void)
{
	int err;

	for_each_kernel_tracepoint(look, NULL);
	if (!entry || !exit_)
		return -ENOENT;
	err = tracepoint_probe_register(entry, empty, NULL);
	if (err)
		return err;
	err = tracepoint_probe_register(exit_, empty, NULL);
	if (err)
		tracepoint_probe_unregister(entry, empty, NULL);
	return err;
}

static void __exit empty_probes_exit(void)
{
	tracepoint_probe_unregister(exit_, empty, NULL);
	tracepoint_probe_unregister(entry, empty, NULL);
	tracepoint_synchronize_unregister();
}

module_init(empty_probes_init);
module_exit(empty_probes_exit);
MODULE_DESCRIPTION("Empty probes on system calls, for FKT's benchmark");
MODULE_LICENSE("GPL");
