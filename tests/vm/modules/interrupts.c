// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts a wait for a mutex, for tests/vm/cases/lent_pages: of the calls of mutex_lock_interruptible() that the
 * tasks of this name make, the one with this number returns -EINTR, as if a signal had come while another task has
 * the mutex.
 *
 *   insmod interrupts.ko task=NAME; echo NUMBER >/sys/module/interrupts/parameters/number
 */

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>

static char *task = "";
module_param(task, charp, 0444);
MODULE_PARM_DESC(task, "name of the tasks");

static unsigned int number;
module_param(number, uint, 0644);
MODULE_PARM_DESC(number, "counts down with each call; at 1 the call is interrupted; 0: never");

static int interrupted(void)
{
	return -EINTR;
}

/* The function has pushed nothing yet: what is called in its place returns to its caller. */
static int on_lock(struct kprobe *kprobe, struct pt_regs *regs)
{
	if (!number || strcmp(current->comm, task) || --number)
		return 0;
	instruction_pointer_set(regs, (unsigned long)interrupted);
	return 1;
}
NOKPROBE_SYMBOL(on_lock);

static struct kprobe on_mutex = {
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	.symbol_name = "mutex_lock_interruptible_nested",
#else
	.symbol_name = "mutex_lock_interruptible",
#endif
	.pre_handler = on_lock,
};

static int __init interrupts_init(void)
{
	return register_kprobe(&on_mutex);
}

static void __exit interrupts_exit(void)
{
	unregister_kprobe(&on_mutex);
}
module_init(interrupts_init);
module_exit(interrupts_exit);

MODULE_DESCRIPTION("Interrupts a wait for a mutex");
MODULE_LICENSE("GPL v2");
