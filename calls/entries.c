// SPDX-License-Identifier: GPL-2.0-only
/* Switches the tracing of entries (entries.h). Nothing of it is left when it has ended, unlike with calls. */

#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "entries.h"
#include "traced.h"

/*
 * Protects `traced`. Taken with the semaphore of the modules' notifiers held; nothing is done under it that takes
 * that one.
 */
static DEFINE_MUTEX(lock);
/* NULL: there is no user. */
static struct ftrace_ops *traced;

static int begin(unsigned long *functions, unsigned int count, ftrace_func_t entered)
{
	const struct ftrace_ops like = { .func = entered };
	struct ftrace_ops *ops;
	int err;

	if (traced)
		return -EBUSY;
	ops = fkt_traced_make(functions, count, &like);
	if (IS_ERR(ops))
		return PTR_ERR(ops);
	err = fkt_traced_register(ops);
	if (err)
		fkt_traced_free(ops);
	else
		traced = ops;
	return err;
}

/*
 * Calls `entered` when one of the functions is entered; those of modules that are gone are left out. Changes the
 * array. `entered` runs in any context and is called with preemption enabled; it must not be traced itself. Returns 0,
 * -EBUSY if there is a user already, -ENOENT if no function is left, -EINVAL if one of them cannot be traced, -ENODEV
 * if ftrace is off, or another negative errno.
 */
int fkt_entries_begin(unsigned long *functions, unsigned int count, ftrace_func_t entered)
{
	int err;

	mutex_lock(&lock);
	err = begin(functions, count, entered);
	mutex_unlock(&lock);
	return err;
}
EXPORT_SYMBOL_GPL(fkt_entries_begin);

/*
 * Ends it. Returns true when `entered` does not run any more; false: ftrace has switched itself off after an error, and
 * goes on calling it until the next boot.
 */
bool fkt_entries_end(void)
{
	bool ended = true;

	mutex_lock(&lock);
	if (traced) {
		ended = fkt_traced_unregister(traced);
		fkt_traced_free(traced);
		traced = NULL;
	}
	mutex_unlock(&lock);
	return ended;
}
EXPORT_SYMBOL_GPL(fkt_entries_end);

/* Called by the modules' notifier before the code of a module runs, and before its memory is freed. */
void fkt_entries_drop(const struct module *module)
{
	mutex_lock(&lock);
	if (traced)
		fkt_traced_drop(traced, module);
	mutex_unlock(&lock);
}
