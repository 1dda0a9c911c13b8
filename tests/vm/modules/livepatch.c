// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replaces the function that shows /proc/cmdline by one that shows "patched"; for tests/vm/cases/call_taken. Before it
 * can be unloaded, 0 must be written to /sys/kernel/livepatch/livepatch/enabled.
 */

#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/seq_file.h>

static int show_patched(struct seq_file *m, void *v)
{
	seq_puts(m, "patched\n");
	return 0;
}

static struct klp_func funcs[] = {
	{ .old_name = "cmdline_proc_show", .new_func = show_patched },
	{ }
};

static struct klp_object objects[] = {
	{ .funcs = funcs },
	{ }
};

static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objects };

static int __init livepatch_init(void)
{
	return klp_enable_patch(&patch);
}

static void __exit livepatch_exit(void)
{
}

module_init(livepatch_init);
module_exit(livepatch_exit);

MODULE_DESCRIPTION("Replaces a function of the kernel");
MODULE_LICENSE("GPL v2");
MODULE_INFO(livepatch, "Y");
