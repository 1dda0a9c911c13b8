// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switches the hooks. A hook is on while one of its layers is recorded, or while the filter or the
 * trigger needs it, so a module that records nothing costs nothing. Callers must hold the recording's lock.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/sysfs.h>

#include "base/hook.h"
#include "records/left_out"
#include "attach.h"

/*
 * The filter's hooks (fork, free_pid) come first, so that the other hooks miss no member; the hooks
 * that run a trigger's program come last, after the events were written.
 */
static const struct fkt_hook_table *const tables[] = {
	&fkt_process_hooks,
	&fkt_user_hooks,
	&fkt_warning_hooks,
	&fkt_interrupt_hooks,
	&fkt_vector_hooks,
	&fkt_trap_hooks,
	&fkt_syscall_hooks,
	&fkt_trigger_hooks,
};

typedef int (*hook_fn)(struct fkt_hook *hook, void *arg);

static int visit_hooks(hook_fn fn, void *arg)
{
	unsigned int t, i;
	int err;

	for (t = 0; t < ARRAY_SIZE(tables); t++) {
		for (i = 0; i < tables[t]->count; i++) {
			err = fn(&tables[t]->hooks[i], arg);
			if (err)
				return err;
		}
	}
	return 0;
}

/* ---- one hook ---- */

/* A kprobe that was registered before must be initialised again. */
static int kprobe_on(struct fkt_hook *hook)
{
	hook->kprobe = (struct kprobe){ .symbol_name = hook->name, .pre_handler = hook->handler };
	return register_kprobe(&hook->kprobe);
}

/*
 * Without memory the kernel may fail to disarm a kprobe that uses ftrace: it keeps the kprobe in its
 * table, and clears ->addr to say so. The struct must stay unchanged then, and the module loaded.
 */
static void keep_kprobe(struct fkt_hook *hook)
{
	WRITE_ONCE(hook->absent, true);
	__module_get(THIS_MODULE);
	pr_err("the kernel could not remove the kprobe on %s: this module stays loaded, without that probe\n", hook->name);
}

static void kprobe_off(struct fkt_hook *hook)
{
	unregister_kprobe(&hook->kprobe);
	if (!hook->kprobe.addr)
		keep_kprobe(hook);
	WRITE_ONCE(hook->missed, hook->missed + hook->kprobe.nmissed);
	WRITE_ONCE(hook->kprobe.nmissed, 0);
}

static int hook_on(struct fkt_hook *hook)
{
	int err;

	if (hook->attached || hook->absent)
		return 0;
	if (hook->tracepoint)
		err = tracepoint_probe_register(hook->tracepoint, hook->probe, NULL);
	else if (hook->handler)
		err = kprobe_on(hook);
	else
		err = hook->on();
	/* This kernel does not have it: reported as missing, and the recording goes on without it. */
	if (err == -ENOENT || err == -EINVAL || err == -EOPNOTSUPP) {
		WRITE_ONCE(hook->absent, true);
		pr_notice("%s cannot be observed on this kernel (%d)\n", hook->name, err);
		return 0;
	}
	WRITE_ONCE(hook->attached, !err);
	return err;
}

static void hook_off(struct fkt_hook *hook)
{
	if (!hook->attached)
		return;
	if (hook->tracepoint)
		tracepoint_probe_unregister(hook->tracepoint, hook->probe, NULL);
	else if (hook->handler)
		kprobe_off(hook);
	else
		hook->off();
	WRITE_ONCE(hook->attached, false);
}

/* ---- all of them ---- */

static bool is_wanted(const struct fkt_hook *hook, u64 layers)
{
	if (hook->also && hook->also())
		return true;
	return (hook->layers & layers) && (!hook->needed || hook->needed());
}

static int attach_one(struct fkt_hook *hook, void *layers)
{
	return is_wanted(hook, *(u64 *)layers) ? hook_on(hook) : 0;
}

static int detach_one(struct fkt_hook *hook, void *layers)
{
	if (!is_wanted(hook, *(u64 *)layers))
		hook_off(hook);
	return 0;
}

/*
 * Switches hooks so that exactly those needed by `layers`, the filter and the condition are on. Returns
 * 0 or a negative errno.
 */
int fkt_attach_layers(u64 layers)
{
	visit_hooks(detach_one, &layers);
	return visit_hooks(attach_one, &layers);
}

static int detach_any(struct fkt_hook *hook, void *unused)
{
	hook_off(hook);
	return 0;
}

static int forget_missed(struct fkt_hook *hook, void *unused)
{
	WRITE_ONCE(hook->missed, 0);
	return 0;
}

/* A recording begins: resets the counts of missed calls. Called while no hook is on. */
void fkt_attach_start(void)
{
	visit_hooks(forget_missed, NULL);
}

static int add_missed(struct fkt_hook *hook, void *sum)
{
	*(u64 *)sum += READ_ONCE(hook->missed);
	if (READ_ONCE(hook->attached))
		*(u64 *)sum += READ_ONCE(hook->kprobe.nmissed);
	return 0;
}

/*
 * Returns the number of calls of functions with a kprobe (free_pid, exceptions) that were not recorded,
 * because their CPU was in another kprobe's handler. Lockless: approximate while hooks are switched,
 * exact once they are off.
 */
u64 fkt_attach_missed(void)
{
	u64 missed = 0;

	visit_hooks(add_missed, &missed);
	return missed;
}

/* Returns when every probe that runs now has returned. */
void fkt_attach_wait(void)
{
	/* Tracepoint probes, and everything else that runs with preemption off: kprobes, NMIs, clock events. */
	tracepoint_synchronize_unregister();
	synchronize_rcu();
}

/* Switches all hooks off, and returns when every probe that ran has returned. */
void fkt_detach_all(void)
{
	visit_hooks(detach_any, NULL);
	fkt_attach_wait();
}

/* ---- what this kernel lacks ---- */

/* Text for a file of sysfs, which has a page. */
struct lacks {
	char *text;
	int size;
};

static int add_lack(struct fkt_hook *hook, void *arg)
{
	struct lacks *lacks = arg;
	const char *kind = hook->shows ? "" : "tracepoint ";

	/* Lockless: a recording's start may find out about another hook meanwhile, which the next reading has. */
	if (READ_ONCE(hook->absent))
		lacks->size += sysfs_emit_at(lacks->text, lacks->size, "%s%s\n", kind, hook->shows ?: hook->name);
	return 0;
}

/* Reading the module's parameter `lacks`: what cannot be recorded on this kernel, as far as was tried; a line each. */
static int get_lacks(char *text, const struct kernel_param *unused)
{
	struct lacks lacks = { .text = text };

	visit_hooks(add_lack, &lacks);
	return lacks.size;
}

/* Reading the module's parameter `left_out`: classes of tracepoints without fields of their own; a line each. */
static int get_left_out(char *text, const struct kernel_param *unused)
{
	return FKT_LEFT_OUT_COUNT ? sysfs_emit(text, "%s\n", FKT_LEFT_OUT_NAMES) : 0;
}

static int set_never(const char *text, const struct kernel_param *unused)
{
	return -EPERM;
}

static const struct kernel_param_ops lacks_ops = { .set = set_never, .get = get_lacks };
module_param_cb(lacks, &lacks_ops, NULL, 0444);
static const struct kernel_param_ops left_out_ops = { .set = set_never, .get = get_left_out };
module_param_cb(left_out, &left_out_ops, NULL, 0444);

/* ---- finding the tracepoints ---- */

static int match_tracepoint(struct fkt_hook *hook, void *arg)
{
	struct tracepoint *tp = arg;

	if (hook->probe && !strcmp(hook->name, tp->name))
		hook->tracepoint = tp;
	return 0;
}

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	visit_hooks(match_tracepoint, tp);
}

static int check_found(struct fkt_hook *hook, void *unused)
{
	if (hook->probe && !hook->tracepoint) {
		WRITE_ONCE(hook->absent, true);
		pr_notice("this kernel has no tracepoint %s\n", hook->name);
	}
	return 0;
}

/* Few tracepoints are exported, so they are looked up by name. */
int fkt_attach_init(void)
{
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (FKT_LEFT_OUT_COUNT)
		pr_info("%u classes of tracepoints have no fields of their own on this kernel (/sys/module/fkt/parameters/left_out)\n",
			FKT_LEFT_OUT_COUNT);
	return visit_hooks(check_found, NULL);
}

void fkt_attach_exit(void)
{
	fkt_detach_all();
}
