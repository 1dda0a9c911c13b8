// SPDX-License-Identifier: GPL-2.0-only
/* An ftrace_ops and the functions that it traces (traced.h). */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "functions.h"
#include "traced.h"

struct traced {
	/* Fresh for each use: ftrace leaves dangling pointers in one that was registered. */
	struct ftrace_ops ops;
	bool is_registered;
	bool stays; /* ftrace goes on using it */
	unsigned int count; /* functions that are traced */
	unsigned int movable_count; /* of these, functions of modules */
	unsigned long movable[]; /* their nops, ascending */
};

static struct traced *traced_of(struct ftrace_ops *ops)
{
	return container_of(ops, struct traced, ops);
}

/*
 * Makes an ftrace_ops with those of the functions that may be traced; changes the array (functions.h). like: the
 * function that ftrace calls, its flags, and its trampoline if it has one, which functions without another user call
 * directly, and whose functions must return. Returns an ERR_PTR of -ENOENT if no function is left, -EINVAL if one of
 * them cannot be traced, or of another negative errno.
 */
struct ftrace_ops *fkt_traced_make(unsigned long *functions, unsigned int count, const struct ftrace_ops *like)
{
	int err, allowed = fkt_functions_allow(functions, count, like->trampoline);
	unsigned int movable = 0;
	struct traced *traced;

	/* An empty filter would mean every function. */
	if (allowed <= 0)
		return ERR_PTR(allowed ?: -ENOENT);
	while (movable < allowed && functions[allowed - 1 - movable] >= MODULES_VADDR)
		movable++;
	traced = kvzalloc(struct_size(traced, movable, movable), GFP_KERNEL);
	if (!traced)
		return ERR_PTR(-ENOMEM);
	traced->ops.func = like->func;
	traced->ops.trampoline = like->trampoline;
	/* PERMANENT: kernel.ftrace_enabled=0 would end it in silence, and is refused. */
	traced->ops.flags = like->flags | FTRACE_OPS_FL_PERMANENT;
	traced->count = allowed;
	traced->movable_count = movable;
	memcpy(traced->movable, functions + allowed - movable, movable * sizeof(*functions));
	err = ftrace_set_filter_ips(&traced->ops, functions, allowed, 0, 1);
	if (!err)
		return &traced->ops;
	fkt_traced_free(&traced->ops);
	return ERR_PTR(err);
}

/* -ENODEV: ftrace is off. */
int fkt_traced_register(struct ftrace_ops *ops)
{
	int err = register_ftrace_function(ops);

	traced_of(ops)->is_registered = !err;
	/* The only reason for it: kernel.ftrace_enabled is 0. */
	return err == -EBUSY ? -ENODEV : err;
}

/*
 * Returns true when no CPU is between a function's nop and the trampoline, or in the function that ftrace calls. If
 * ftrace has switched itself off after an error, returns false and leaves all functions patched: this ftrace_ops, its
 * functions and this module must then stay until the next boot.
 */
bool fkt_traced_unregister(struct ftrace_ops *ops)
{
	struct traced *traced = traced_of(ops);

	if (!traced->is_registered)
		return !traced->stays;
	traced->is_registered = false;
	if (!unregister_ftrace_function(ops))
		return true;
	pr_warn("ftrace has switched itself off: functions go on calling this module, which stays loaded\n");
	__module_get(THIS_MODULE);
	traced->stays = true;
	return false;
}

/*
 * Stops tracing the functions of this module. Called while ftrace still knows them: by the module's notifier, in a
 * task that may sleep.
 */
void fkt_traced_drop(struct ftrace_ops *ops, const struct module *module)
{
	struct traced *traced = traced_of(ops);
	unsigned int first = 0, last, n;
	int err = 0;

	/* A module's code is contiguous, so its functions are neighbours in the ascending array. */
	while (first < traced->movable_count && !within_module_core(traced->movable[first], module))
		first++;
	for (last = first; last < traced->movable_count; last++)
		if (!within_module_core(traced->movable[last], module))
			break;
	n = last - first;
	if (!n || !traced->is_registered)
		return;
	if (n < traced->count)
		err = ftrace_set_filter_ips(ops, &traced->movable[first], n, 1, 0);
	/* If ftrace has switched itself off after an error (-ENODEV), it will not touch what is loaded there next. */
	if (err && err != -ENODEV)
		pr_err("%s: its functions stay in the filter (%d), so %u functions are not traced any more\n",
		       module->name, err, traced->count);
	if (err || n == traced->count)
		fkt_traced_unregister(ops);
	traced->count -= n;
	traced->movable_count -= n;
	memmove(&traced->movable[first], &traced->movable[last],
		(traced->movable_count - first) * sizeof(traced->movable[0]));
}

/* ops must not be registered. */
void fkt_traced_free(struct ftrace_ops *ops)
{
	if (traced_of(ops)->stays)
		return;
	ftrace_free_filter(ops);
	kvfree(traced_of(ops));
}
