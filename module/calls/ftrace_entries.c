// SPDX-License-Identifier: GPL-2.0-only
/* Switches the tracing of entries (ftrace_entries.h). Nothing of it is left when it has ended, unlike with calls. */

#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "ftrace_entries.h"
#include "traceable.h"
#include "traced.h"

/*
 * Protects `traced`. Taken with the semaphore of the modules' notifiers held, so that semaphore must never be taken
 * under this lock.
 */
static DEFINE_MUTEX(lock);
/* NULL: there is no user. */
static struct ftrace_ops *traced;

/* Returns an ftrace_ops that is registered, or an ERR_PTR. */
static struct ftrace_ops *make(unsigned long *functions, unsigned int count, ftrace_func_t entered)
{
	const struct ftrace_ops like = { .func = entered };
	struct ftrace_ops *ops = fkt_traced_make(functions, count, &like);
	int err;

	if (IS_ERR(ops))
		return ops;
	err = fkt_traced_register(ops);
	if (!err)
		return ops;
	fkt_traced_free(ops);
	return ERR_PTR(err);
}

static int begin(unsigned long *functions, unsigned int count, ftrace_func_t entered)
{
	struct ftrace_ops *ops;

	if (traced)
		return -EBUSY;
	ops = make(functions, count, entered);
	if (IS_ERR(ops))
		return PTR_ERR(ops);
	traced = ops;
	return 0;
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

static int arm(unsigned long *functions, unsigned int count, ftrace_func_t entered)
{
	struct ftrace_ops *ops;
	int allowed;

	if (!traced)
		return -EINVAL;
	if (fkt_traced_is_registered(traced)) {
		allowed = fkt_functions_allow(functions, count, false);
		return allowed > 0 ? fkt_traced_add(traced, functions, allowed) : allowed ?: -ENOENT;
	}
	/* `traced` has no functions any more. */
	ops = make(functions, count, entered);
	if (IS_ERR(ops))
		return PTR_ERR(ops);
	fkt_traced_free(traced);
	traced = ops;
	return 0;
}

/*
 * Calls `entered`, the same one, also when one of these functions is entered. Changes the array. After an error the
 * caller must go back with fkt_entries_disarm(). Errors as of fkt_entries_begin(), but -EINVAL if there is no user.
 */
int fkt_entries_arm(unsigned long *functions, unsigned int count, ftrace_func_t entered)
{
	int err;

	mutex_lock(&lock);
	err = arm(functions, count, entered);
	mutex_unlock(&lock);
	return err;
}
EXPORT_SYMBOL_GPL(fkt_entries_arm);

/* Traces no other functions than these, of which there may be none. Changes the array. */
void fkt_entries_disarm(unsigned long *functions, unsigned int count)
{
	mutex_lock(&lock);
	if (traced)
		fkt_traced_keep(traced, functions, fkt_functions_known(functions, count));
	mutex_unlock(&lock);
}
EXPORT_SYMBOL_GPL(fkt_entries_disarm);

/*
 * Ends the tracing. Returns true when `entered` does not run any more; false: ftrace has switched itself off after an
 * error, and goes on calling `entered` until the next boot.
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
