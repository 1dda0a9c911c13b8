// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switches ftrace off for good, as ftrace itself does when it finds a function's code other than it should be; for
 * tests/vm/cases/ftrace_dies. Fails to load.
 */

#include <linux/kprobes.h>
#include <linux/module.h>

static int __init kill_ftrace_init(void)
{
	struct kprobe kprobe = { .symbol_name = "ftrace_kill", .flags = KPROBE_FLAG_DISABLED };
	int err = register_kprobe(&kprobe);

	if (err)
		return err;
	unregister_kprobe(&kprobe);
	((void (*)(void))kprobe.addr)();
	return -EAGAIN;
}
module_init(kill_ftrace_init);

MODULE_DESCRIPTION("Switches ftrace off");
MODULE_LICENSE("GPL v2");
