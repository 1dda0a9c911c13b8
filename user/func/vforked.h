/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A child of vfork(), or of clone() with CLONE_VM and CLONE_VFORK, has its parent's memory and thread-local variables, and
 * the parent waits until it has ended or executes another program. Its calls are those of another process all the same:
 * it begins with a copy of the parent's list, as a child of fork() does, and gets a ring of its own. When the parent goes on,
 * it takes back what it had. Part of func.c.
 */
#ifndef FKT_FUNC_VFORKED_H
#define FKT_FUNC_VFORKED_H

#include <sched.h>
#include <stdarg.h>

#include "hooked.h"

struct vforked {
	/* The parent's. */
	struct calls *calls;
	struct fkt_user_thread *thread;
	uint64_t put_back;
	sigset_t blocked;
	/* What a child of clone() runs. */
	int (*function)(void *);
	void *given;

	struct calls of_child;
};

static int (*next_clone)(int (*)(void *), void *, int, void *, ...);

__attribute__((visibility("hidden"))) struct vforked *fkt_func_before_vfork(void);
__attribute__((visibility("hidden"))) long fkt_func_after_vfork(struct vforked *v, long result);

/* Returns NULL if nothing needs to be kept. Signals are blocked until both processes have their own calls. */
struct vforked *fkt_func_before_vfork(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	const int error = errno;
	struct vforked *v;
	sigset_t all;

	if (!is_recorded())
		return NULL;
	v = (struct vforked *)mmap(NULL, sizeof(*v), PROT_READ | PROT_WRITE, flags, -1, 0);
	errno = error;
	if (v == MAP_FAILED)
		return NULL;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &v->blocked);
	v->calls = thread_calls;
	v->thread = fkt_user_self;
	v->put_back = put_back;
	if (v->calls) {
		memcpy(&v->of_child, v->calls, offsetof(struct calls, all) + v->calls->depth * sizeof(struct call));
		v->of_child.unhooked = 0;
	}
	return v;
}

static void begin_child(struct vforked *v)
{
	thread_calls = v->calls ? &v->of_child : NULL;
	fkt_user_self = NULL;
	pthread_sigmask(SIG_SETMASK, &v->blocked, NULL);
}

/* The child has ended, or it has memory of its own. */
static void continue_parent(struct vforked *v)
{
	struct fkt_user_thread *const of_child = fkt_user_self;
	const sigset_t blocked = v->blocked;

	fkt_user_self = v->thread;
	/* Nothing is the child's if there was none. */
	if (of_child && of_child != v->thread)
		fkt_user_detach(of_child);
	if (thread_calls && thread_calls != v->calls && thread_calls != &v->of_child)
		munmap(thread_calls, sizeof(*thread_calls));
	thread_calls = v->calls;
	put_back = v->put_back;
	pthread_setspecific(fkt_user_key, fkt_user_self);
	pthread_setspecific(calls_key, thread_calls);
	if (v->of_child.unhooked && !put_back)
		hook_places(thread_calls);
	munmap(v, sizeof(*v));
	pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

/* result: of the system call, 0 in the child. Returns that of vfork(). */
long fkt_func_after_vfork(struct vforked *v, long result)
{
	if (v && !result)
		begin_child(v);
	else if (v)
		continue_parent(v);
	if (result >= 0)
		return result;
	errno = (int)-result;
	return -1;
}

static int run_child(void *child)
{
	struct vforked *const v = (struct vforked *)child;
	int (*const function)(void *) = v->function;
	void *const given = v->given;

	begin_child(v);
	return function(given);
}

__attribute__((visibility("default"))) int clone(int (*function)(void *), void *stack, int flags, void *given, ...)
{
	const int shared = CLONE_VM | CLONE_VFORK;
	struct vforked *v = NULL;
	void *tls;
	pid_t *parent, *child;
	va_list rest;
	int pid, error;

	/* All three whether they were passed or not: they are registers and a word of the stack. */
	va_start(rest, given);
	parent = va_arg(rest, pid_t *);
	tls = va_arg(rest, void *);
	child = va_arg(rest, pid_t *);
	va_end(rest);
	if (!next_clone)
		*(void **)&next_clone = dlsym(RTLD_NEXT, "clone");
	if (function && (flags & (shared | CLONE_SETTLS)) == shared)
		v = fkt_func_before_vfork();
	if (!v)
		return next_clone(function, stack, flags, given, parent, tls, child);
	v->function = function;
	v->given = given;
	pid = next_clone(run_child, stack, flags, v, parent, tls, child);
	error = errno;
	continue_parent(v);
	errno = error;
	return pid;
}

extern __typeof__(clone) __clone __attribute__((alias("clone"), leaf, nothrow, visibility("default")));

#endif /* FKT_FUNC_VFORKED_H */
