/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Functions compiled with -pg -mfentry call __fentry__ when they are entered, and nothing when they return: so the place on
 * the stack where a function's return address is gets that of fkt_func_return() (fentry.S), which knows the right one from
 * the list of calls. Part of func.c.
 *
 * Whoever looks at the stack must find the right addresses there: before exceptions are thrown all of them are put back,
 * and again exchanged in the handler.
 */
#ifndef FKT_FUNC_HOOKED_H
#define FKT_FUNC_HOOKED_H

#include "calls.h"

void fkt_func_return(void);
__attribute__((visibility("hidden"))) void fkt_func_entered(uint64_t from, uint64_t *at);
__attribute__((visibility("hidden"))) uint64_t fkt_func_left(uint64_t *at);

/* The thread's stack has the functions' own return addresses: since the stack pointer was this one; 0: it has not. */
static __thread uint64_t put_back;

static inline uint64_t hook(void)
{
	return (uint64_t)(uintptr_t)&fkt_func_return;
}

static inline uint64_t *place_on_stack(const struct call *call)
{
	return (uint64_t *)(uintptr_t)call->sp;
}

/* Puts the functions' own return addresses back. here: the stack pointer. */
static __attribute__((noinline, cold)) void unhook_calls(uint64_t here)
{
	struct calls *c = thread_calls;
	uint32_t i;

	if (!c)
		return;
	c->unhooked = 1;
	/*
	 * After a tail call two calls have the same place on the stack. The inner one has saved the hook as its return
	 * address; the outer one, which has the real address, comes last here.
	 */
	for (i = c->depth; i > 0; i--) {
		const struct call *call = &c->all[i - 1];

		if (call->returns_to && *place_on_stack(call) == hook())
			*place_on_stack(call) = call->returns_to;
	}
	put_back = here;
}

static void hook_places(struct calls *c)
{
	uint32_t i;

	for (i = 0; i < c->depth; i++) {
		const struct call *call = &c->all[i];

		if (call->returns_to && *place_on_stack(call) == call->returns_to)
			*place_on_stack(call) = hook();
	}
}

/* The thread goes on in a function with this stack pointer: what is below it was left. */
static __attribute__((noinline, cold)) void hook_calls(uint64_t sp)
{
	const uint64_t from = put_back;
	struct calls *c = thread_calls;

	put_back = 0;
	if (!c)
		return;
	while (c->depth && c->all[c->depth - 1].sp >= from && c->all[c->depth - 1].sp < sp)
		end_call(c);
	forget_telling(c);
	hook_places(c);
}

static __attribute__((noinline)) void enter_hooked(uint64_t from, uint64_t *at)
{
	struct call *call;

	if (!is_recorded())
		return;
	if (FKT_USER_UNLIKELY(put_back))
		hook_calls((uint64_t)(uintptr_t)at);
	call = enter_call(from, (uint64_t)(uintptr_t)at, 1);
	if (!call)
		return;
	call->returns_to = *at;
	*at = hook();
}

/* A function is entered. from: where it goes on; at: where its return address is. */
void fkt_func_entered(uint64_t from, uint64_t *at)
{
	struct calls *c = thread_calls;
	struct call *call;

	/* Calls nothing in the common case, so that no register need be saved for what is called. */
	if (FKT_USER_UNLIKELY(!is_quick(c) || put_back || c->depth == MOST_CALLS))
		return enter_hooked(from, at);
	call = enter_quickly(c, from, (uint64_t)(uintptr_t)at, *at);
	if (FKT_USER_UNLIKELY(!call))
		return enter_hooked(from, at);
	*at = hook();
}

/* Returns the innermost call that returns at this place. */
static __attribute__((noinline, cold)) struct call *find_hooked(struct calls *c, uint64_t at)
{
	uint32_t depth = c->depth;

	while (depth > 0 && !(c->all[depth - 1].sp == at && c->all[depth - 1].returns_to))
		depth--;
	return depth ? &c->all[depth - 1] : NULL;
}

static __attribute__((noinline)) uint64_t leave_hooked(uint64_t *at)
{
	const uint64_t sp = (uint64_t)(uintptr_t)at;
	struct calls *c = thread_calls;
	struct call *call = &c->all[c->depth - 1];
	uint64_t to;

	if (FKT_USER_UNLIKELY(!c->depth || call->sp != sp || !call->returns_to))
		call = find_hooked(c, sp);
	if (FKT_USER_UNLIKELY(!call)) {
		static const char text[] = "libfkt-func.so: a function returns that was not entered\n";

		(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
		abort();
	}
	to = call->returns_to;
	if (FKT_USER_UNLIKELY(call != &c->all[c->depth - 1]))
		leave_out(c, call);
	else
		end_call(c);
	return to;
}

/* A function has returned. Returns where it returns to. */
uint64_t fkt_func_left(uint64_t *at)
{
	struct calls *c = thread_calls;
	const uint64_t to = is_quick(c) ? leave_quickly(c, (uint64_t)(uintptr_t)at) : 0;

	return to ? to : leave_hooked(at);
}

#endif /* FKT_FUNC_HOOKED_H */
