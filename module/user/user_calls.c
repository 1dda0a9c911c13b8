// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of functions of user programs that have begun and not returned.
 *
 * Each thread that has some owns a stack of them: only the thread itself uses it, in its own context, in which the
 * handlers of uprobes do not nest, and gives it back when it exits. So nothing here needs a lock. The stacks are in
 * a table of fixed size, and are found by the thread's task_struct; taking a free one is the only atomic operation,
 * once in a thread's life. Its memory is allocated then, without waiting, and stays with the place in the table. A call
 * that does not fit is not recorded: its return is counted as one whose entry was not seen.
 *
 * A return belongs to the innermost call of its probe whose return address was in the same place. That is right if no
 * call is on the stack that has ended unseen (by longjmp, an exception, exec), so those are removed first, by the
 * rules that the kernel itself has for its return probes:
 *   - at an entry and at a return, calls below the stack pointer have ended;
 *   - at an entry, so have calls in the place of the last return, or below. Until then such a call may be of a function
 *     that has left with a jump to the one that returned (tail call): both return to the same address, one after the
 *     other;
 *   - at an entry that is not put on the stack, an earlier call of the same probe in the same place has ended.
 * The handler of an entry always runs before that of its return, unless the return probe is older than this
 * recording's; then no call of the recording can have been in that place. If a program switches between stacks itself,
 * these rules lose calls, as the kernel's return probes do. (A program that moves a stack to another thread during a
 * call makes the kernel confuse calls, or is ended by the kernel's return probe.)
 */

#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uprobes.h>
#include <trace/events/sched.h>

#include <fkt/user_hit.h>

#include "base/compat.h"
#include "base/hook.h"
#include "hits/actions.h"
#include "user_calls.h"
#include "user_probe.h"

#define THREADS_BITS 13
#define THREADS (1U << THREADS_BITS) /* most threads that can have open calls at the same time */
#define WINDOW 16 /* entries of the table, from its hash on, that are tried for a thread */

#define STACK_BYTES 4096

/* Its size is STACK_BYTES. The kernel has no more return probes in a thread than this has calls. */
struct fkt_user_stack {
	u64 exec_id; /* the program's number in the thread: with another one, all calls have ended */
	u64 returned; /* place of the last return, if no function was entered since; else 0 */
	u32 count; /* of `calls` */
	u32 used; /* of `kept` */
	struct fkt_user_call calls[MAX_URETPROBE_DEPTH]; /* the outermost one first; probe 0: it has ended */
	u64 kept[(STACK_BYTES - 24 - MAX_URETPROBE_DEPTH * sizeof(struct fkt_user_call)) / sizeof(u64)];
};

static_assert(sizeof(struct fkt_user_stack) == STACK_BYTES);
static_assert(sizeof_field(struct fkt_user_stack, kept) >= FKT_CALL_KEPT * sizeof(u64));

struct thread {
	struct task_struct *task; /* the thread that uses this entry; no reference is held: probe_exit() clears it */
	struct fkt_user_stack *stack; /* NULL: not allocated yet; it stays for the next thread */
	bool hides; /* the thread is in a system call for a uprobe, whose entry was not recorded */
};

/* NULL: no instrument needs it. Changed under the recording's lock: set before a table that needs it is in force. */
static struct thread *threads;

DEFINE_STATIC_KEY_FALSE(fkt_key_user_calls);

/* Makes room for what these places need of each thread. users: may be NULL. Caller must hold the recording's lock. */
int fkt_user_calls_make(const struct fkt_user_table *users)
{
	struct thread *made;

	if (!users || !(users->has_returns || FKT_UPROBES_ARE_CALLS) || threads)
		return 0;
	made = kvcalloc(THREADS, sizeof(*made), GFP_KERNEL_ACCOUNT);
	if (!made)
		return -ENOMEM;
	/* A probe that finds the table finds it empty. */
	smp_store_release(&threads, made);
	static_branch_enable(&fkt_key_user_calls);
	return 0;
}

/* Called under the recording's lock, when no probe and no handler of a uprobe runs any more. */
void fkt_user_calls_free(void)
{
	struct thread *all = threads;
	u32 i;

	if (!all)
		return;
	static_branch_disable(&fkt_key_user_calls);
	WRITE_ONCE(threads, NULL);
	for (i = 0; i < THREADS; i++)
		kfree(all[i].stack);
	kvfree(all);
}

/* ---- the current thread's place in the table ---- */

static struct thread *place(struct thread *all, u32 i)
{
	return &all[(hash_ptr(current, THREADS_BITS) + i) % THREADS];
}

/* Returns NULL if it has none. */
static struct thread *find_thread(void)
{
	/* Pairs with the release in fkt_user_calls_make(): what is read depends on the address. */
	struct thread *all = READ_ONCE(threads);
	u32 i;

	for (i = 0; all && i < WINDOW; i++)
		/* Other threads change the field to and from other values; only this thread stores `current`. */
		if (READ_ONCE(place(all, i)->task) == current)
			return place(all, i);
	return NULL;
}

/* Returns NULL if there is no free place. */
static struct thread *take_thread(void)
{
	struct thread *all = READ_ONCE(threads), *thread = find_thread();
	u32 i;

	for (i = 0; all && !thread && i < WINDOW; i++)
		/* Pairs with the release in give_back(): the owner before does not use it any more. */
		if (!READ_ONCE(place(all, i)->task) && !cmpxchg(&place(all, i)->task, NULL, current))
			thread = place(all, i);
	return thread;
}

/* A call of this probe will not return. It began with another table if the place is not there any more. */
static void count_gone(u64 probe)
{
	const struct fkt_user_slot *slot = fkt_user_slot_of(probe);

	if (slot && fkt_instrument_on(slot->instrument->layer))
		fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_RETURN);
}

static void drop_last(struct fkt_user_stack *stack)
{
	const struct fkt_user_call *call = &stack->calls[--stack->count];

	stack->used = call->kept;
	if (call->probe && !(call->flags & FKT_OPEN_DROPPED))
		count_gone(call->probe);
}

static void drop_all(struct fkt_user_stack *stack)
{
	while (stack->count)
		drop_last(stack);
	stack->returned = 0;
}

static void give_back(struct thread *thread)
{
	if (thread->stack)
		drop_all(thread->stack);
	thread->hides = false;
	/* Pairs with cmpxchg() in take_thread(). */
	smp_store_release(&thread->task, NULL);
}

/*
 * Makes sure that the thread can have open calls. Returns false if there is no room. Called in the thread's context,
 * with preemption enabled: it allocates memory, without waiting.
 */
bool fkt_user_calls_room(void)
{
	struct thread *thread = take_thread();

	if (thread && !thread->stack)
		thread->stack = kzalloc(sizeof(*thread->stack), GFP_NOWAIT | __GFP_NOWARN);
	return thread && thread->stack;
}

/* Returns the thread's stack; NULL: it has none. */
static struct fkt_user_stack *find_stack(void)
{
	struct thread *thread = find_thread();
	struct fkt_user_stack *stack = thread ? thread->stack : NULL;

	if (stack && unlikely(stack->exec_id != current->self_exec_id)) {
		drop_all(stack);
		stack->exec_id = current->self_exec_id;
	}
	return stack;
}

/* ---- calls; the functions below are called in the thread's context, with preemption disabled ---- */

/*
 * A function is entered, whose return address is at `sp`. Returns the thread's stack, without the calls that have ended
 * unseen; NULL: it has none.
 */
struct fkt_user_stack *fkt_user_calls_enter(unsigned long sp)
{
	struct fkt_user_stack *stack = find_stack();

	if (!stack)
		return NULL;
	while (stack->count && (stack->calls[stack->count - 1].sp < sp ||
				stack->calls[stack->count - 1].sp <= stack->returned))
		drop_last(stack);
	stack->returned = 0;
	return stack;
}

/* Returns a new call with room for so many words, whose begin is to be set; NULL: there is no room. */
struct fkt_user_call *fkt_user_calls_push(struct fkt_user_stack *stack, u64 probe, unsigned long sp, u32 words)
{
	struct fkt_user_call *call = &stack->calls[stack->count];

	if (stack->count == ARRAY_SIZE(stack->calls) || words > ARRAY_SIZE(stack->kept) - stack->used)
		return NULL;
	*call = (struct fkt_user_call){ .probe = probe, .sp = sp, .kept = stack->used };
	/* The program may emit fewer words, and the others would be those of an earlier call. */
	memset(&stack->kept[stack->used], 0, words * sizeof(u64));
	stack->count++;
	stack->used += words;
	return call;
}

/*
 * A function is entered and not put on the stack (no room, or not recorded). An earlier call of the same probe with its
 * return address at `sp` has ended without its return having been seen, because that place is used again: removes it.
 */
void fkt_user_calls_unseen(struct fkt_user_stack *stack, u64 probe, unsigned long sp)
{
	struct fkt_user_call *call = fkt_user_calls_find(stack, probe, sp);

	if (!call)
		return;
	if (!(call->flags & FKT_OPEN_DROPPED))
		count_gone(probe);
	fkt_user_calls_remove(stack, call);
}

/* A function returns, whose return address was at `sp`. Returns as fkt_user_calls_enter(). */
struct fkt_user_stack *fkt_user_calls_return(unsigned long sp)
{
	struct fkt_user_stack *stack = find_stack();

	if (!stack)
		return NULL;
	while (stack->count && stack->calls[stack->count - 1].sp < sp)
		drop_last(stack);
	stack->returned = sp;
	return stack;
}

/* Returns the innermost call of the probe whose return address is at `sp`; NULL: there is none. */
struct fkt_user_call *fkt_user_calls_find(struct fkt_user_stack *stack, u64 probe, unsigned long sp)
{
	u32 i;

	for (i = stack->count; i && stack->calls[i - 1].sp == sp; i--)
		if (stack->calls[i - 1].probe == probe)
			return &stack->calls[i - 1];
	return NULL;
}

/*
 * Removes the call. It need not be the last one: several probes may be on one function, and the kernel calls their
 * handlers in the same order at the entry and at the return.
 */
void fkt_user_calls_remove(struct fkt_user_stack *stack, struct fkt_user_call *call)
{
	call->probe = 0;
	while (stack->count && !stack->calls[stack->count - 1].probe)
		drop_last(stack);
}

u64 *fkt_user_calls_kept(struct fkt_user_stack *stack, const struct fkt_user_call *call)
{
	return &stack->kept[call->kept];
}

/* ---- the system calls of the kernel's own; called with preemption disabled ---- */

/*
 * The thread has entered a system call uretprobe or uprobe. Returns true if it is to be hidden, because the kernel made
 * the program do it; then fkt_user_calls_hid() returns true at its exit.
 */
bool fkt_user_calls_hide(long nr)
{
	struct thread *thread;

	if (fkt_is_uprobe(nr) ? !fkt_has_uprobes() : !current->utask || !current->utask->return_instances)
		return false;
	thread = take_thread();
	if (thread)
		thread->hides = true;
	return thread;
}

/* A system call that may have been one of these ends. Returns whether it was hidden. */
bool fkt_user_calls_hid(void)
{
	struct thread *thread = find_thread();

	if (!thread || !thread->hides)
		return false;
	thread->hides = false;
	return true;
}

/* ---- threads that exit ---- */

static void probe_exit(void *data, FKT_EXIT_ARGUMENTS)
{
	FKT_TRACEPOINT_PROBE();
	struct thread *thread = find_thread();

	if (thread)
		give_back(thread);
}

static bool are_used(void)
{
	return threads;
}

/* Fails to compile if a probe's type does not match this kernel's tracepoint. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sched_process_exit(probe_exit);
}

static struct fkt_hook hooks[] = {
	{ .name = "sched_process_exit", .probe = probe_exit, .also = are_used },
};

FKT_HOOK_TABLE(fkt_user_hooks, hooks);
