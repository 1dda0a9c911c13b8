// SPDX-License-Identifier: GPL-2.0-only
/* An ftrace_ops and the functions that it traces (traced.h). */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "traceable.h"
#include "traced.h"

/* Functions that ftrace patches at once: it lets no other task run meanwhile, for half a millisecond each if slow. */
#define STEP 4096U

struct traced {
	/* Fresh for each use: ftrace leaves dangling pointers in one that was registered. */
	struct ftrace_ops ops;
	bool is_registered;
	bool stays; /* ftrace goes on using it */
	unsigned int count; /* functions that are traced */
	unsigned long *nops; /* theirs, ascending: those of modules are the last ones */
};

static unsigned long *copy_of(const unsigned long *source, size_t bytes)
{
	unsigned long *copy = kvmalloc(bytes, GFP_KERNEL);

	if (copy)
		memcpy(copy, source, bytes);
	return copy;
}

static struct traced *traced_of(struct ftrace_ops *ops)
{
	return container_of(ops, struct traced, ops);
}

/*
 * Adds the functions to the filter of an ftrace_ops, or removes them, in steps. Returns how many it has changed, and
 * sets *err if these are not all.
 */
static unsigned int change(struct ftrace_ops *ops, unsigned long *nops, unsigned int count, bool remove, int *err)
{
	unsigned int done = 0, n;

	for (*err = 0; done < count; done += n) {
		n = min(count - done, STEP);
		*err = ftrace_set_filter_ips(ops, &nops[done], n, remove, 0);
		if (*err)
			break;
		cond_resched();
	}
	return done;
}

/* Adds all of the functions, or none after an error. */
static int add(struct ftrace_ops *ops, unsigned long *nops, unsigned int count)
{
	int err, ignored;
	unsigned int done = change(ops, nops, count, false, &err);

	if (err)
		change(ops, nops, done, true, &ignored);
	return err;
}

/*
 * Makes an ftrace_ops with those of the functions that may be traced; changes the array (traceable.h). like: the
 * function that ftrace calls, its flags, what it finds in `private`, and its trampoline if it has one, which functions
 * without another user call directly, and whose functions must return. Returns an ERR_PTR of -ENOENT if no function is
 * left, -EINVAL if one of them cannot be traced, or of another negative errno.
 */
struct ftrace_ops *fkt_traced_make(unsigned long *functions, unsigned int count, const struct ftrace_ops *like)
{
	int err, allowed = fkt_functions_allow(functions, count, like->trampoline);
	struct traced *traced;

	/* An empty filter would mean every function. */
	if (allowed <= 0)
		return ERR_PTR(allowed ?: -ENOENT);
	traced = kvzalloc(sizeof(*traced), GFP_KERNEL);
	if (!traced)
		return ERR_PTR(-ENOMEM);
	traced->ops.func = like->func;
	traced->ops.trampoline = like->trampoline;
	traced->ops.private = like->private;
	/* PERMANENT: kernel.ftrace_enabled=0 would end it in silence, and is refused. */
	traced->ops.flags = like->flags | FTRACE_OPS_FL_PERMANENT;
	traced->count = allowed;
	traced->nops = copy_of(functions, allowed * sizeof(*functions));
	/* fkt_traced_register() adds the others. */
	err = traced->nops ? ftrace_set_filter_ips(&traced->ops, functions, min_t(u32, allowed, STEP), 0, 1) : -ENOMEM;
	if (!err)
		return &traced->ops;
	fkt_traced_free(&traced->ops);
	return ERR_PTR(err);
}

/* -ENODEV: ftrace is off. */
int fkt_traced_register(struct ftrace_ops *ops)
{
	struct traced *traced = traced_of(ops);
	int err = register_ftrace_function(ops);

	/* The only reason for -EBUSY: kernel.ftrace_enabled is 0. */
	if (err)
		return err == -EBUSY ? -ENODEV : err;
	traced->is_registered = true;
	if (traced->count > STEP)
		err = add(ops, &traced->nops[STEP], traced->count - STEP);
	if (err)
		fkt_traced_unregister(ops);
	return err;
}

/*
 * Returns true when no CPU is between a function's nop and the trampoline, or in the function that ftrace calls. If
 * ftrace has switched itself off after an error, returns false and leaves all functions patched: this ftrace_ops, its
 * functions and this module must then stay until the next boot.
 */
bool fkt_traced_unregister(struct ftrace_ops *ops)
{
	struct traced *traced = traced_of(ops);
	int ignored;

	if (!traced->is_registered)
		return !traced->stays;
	traced->is_registered = false;
	/* If that fails, all are removed in one step. */
	if (traced->count > STEP)
		change(ops, &traced->nops[STEP], traced->count - STEP, true, &ignored);
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
	while (first < traced->count && !within_module_core(traced->nops[first], module))
		first++;
	for (last = first; last < traced->count; last++)
		if (!within_module_core(traced->nops[last], module))
			break;
	n = last - first;
	if (!n || !traced->is_registered)
		return;
	if (n < traced->count)
		err = ftrace_set_filter_ips(ops, &traced->nops[first], n, 1, 0);
	/* If ftrace has switched itself off after an error (-ENODEV), it will not touch what is loaded there next. */
	if (err && err != -ENODEV)
		pr_err("%s: its functions stay in the filter (%d), so %u functions are not traced any more\n",
		       module->name, err, traced->count);
	if (err || n == traced->count)
		fkt_traced_unregister(ops);
	traced->count -= n;
	memmove(&traced->nops[first], &traced->nops[last], (traced->count - first) * sizeof(traced->nops[0]));
}

/* Returns false if it traces nothing, because all its functions were in modules that are gone. */
bool fkt_traced_is_registered(struct ftrace_ops *ops)
{
	return traced_of(ops)->is_registered;
}

/*
 * Merges two ascending arrays. merged: has room for both; added: for those of `b` that are not in `a`. Returns how many
 * these are.
 */
static unsigned int merge(const unsigned long *a, unsigned int as, const unsigned long *b, unsigned int bs,
			  unsigned long *merged, unsigned long *added)
{
	unsigned int i = 0, j = 0, k = 0, n = 0;

	while (i < as || j < bs) {
		if (j == bs || (i < as && a[i] < b[j])) {
			merged[k++] = a[i++];
			continue;
		}
		if (i < as && a[i] == b[j])
			i++;
		else
			added[n++] = b[j];
		merged[k++] = b[j++];
	}
	return n;
}

/*
 * Traces these functions too. nops: as fkt_functions_allow() makes them; ops: must be registered. An error changes
 * nothing.
 */
int fkt_traced_add(struct ftrace_ops *ops, const unsigned long *nops, unsigned int count)
{
	struct traced *traced = traced_of(ops);
	unsigned long *merged = kvmalloc_array(traced->count + count, sizeof(*merged), GFP_KERNEL);
	unsigned long *added = kvmalloc_array(count, sizeof(*added), GFP_KERNEL);
	unsigned int n;
	int err = -ENOMEM;

	if (merged && added) {
		n = merge(traced->nops, traced->count, nops, count, merged, added);
		err = add(ops, added, n);
		if (!err) {
			swap(traced->nops, merged);
			traced->count += n;
		}
	}
	kvfree(added);
	kvfree(merged);
	return err;
}

/*
 * Traces only those of its functions that are in `nops`. Returns false if none is left: then it is not registered any
 * more. If memory is short, it goes on tracing the others.
 */
bool fkt_traced_keep(struct ftrace_ops *ops, const unsigned long *nops, unsigned int count)
{
	struct traced *traced = traced_of(ops);
	unsigned int i, j = 0, n = 0, kept = 0;
	unsigned long *gone;
	int err;

	if (!traced->is_registered)
		return false;
	gone = kvmalloc_array(traced->count, sizeof(*gone), GFP_KERNEL);
	if (!gone)
		return true;
	for (i = 0; i < traced->count; i++) {
		while (j < count && nops[j] < traced->nops[i])
			j++;
		if (j == count || nops[j] != traced->nops[i])
			gone[n++] = traced->nops[i];
	}
	if (n == traced->count) {
		fkt_traced_unregister(ops);
		traced->count = 0;
	} else {
		n = change(ops, gone, n, true, &err);
		for (i = 0, j = 0; i < traced->count; i++) {
			if (j < n && gone[j] == traced->nops[i])
				j++;
			else
				traced->nops[kept++] = traced->nops[i];
		}
		traced->count = kept;
	}
	kvfree(gone);
	return traced->is_registered;
}

/* ops must not be registered. */
void fkt_traced_free(struct ftrace_ops *ops)
{
	if (traced_of(ops)->stays)
		return;
	ftrace_free_filter(ops);
	kvfree(traced_of(ops)->nops);
	kvfree(traced_of(ops));
}
