// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stacks of hits: the kernel's by its own unwinder, that of a user program by its frame pointers: its functions
 * begin with push and mov of the frame pointer. If they do not, there are one or two frames, or callers are left out.
 * Each stack is an event after that of the hit.
 *
 * The unwinder's functions may have instruments with stacks themselves: a hit in one of them, in the same context,
 * gets no stack, and counts as missed.
 */

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <asm/ptrace.h>
#include <asm/unwind.h>

#include <fkt/events.h>
#include <fkt/point_hit.h>

#include "arch/arch.h"
#include "base/compat.h"
#include "instruments/level.h"
#include "instruments/programs.h"
#include "ring/write.h"
#include "stacks.h"

/* Returns false if a stack of this context is being taken: the hit is missed. */
bool fkt_stack_begin(void)
{
	const u8 bit = 1 << fkt_level();

	if (this_cpu_read(fkt_hit_calls) & bit)
		return false;
	this_cpu_or(fkt_hit_calls, bit);
	return true;
}

/* Returns how many frames there are, FKT_STACK_FRAMES + 1 if there are more. */
static u32 take_kernel(const struct fkt_stack_place *place, u64 *frames)
{
	struct unwind_state state;
	u32 n = 0;

	if (place->first)
		frames[n++] = place->first;
	unwind_start(&state, current, place->regs, (unsigned long *)place->frames);
	/* The first frame may be the place itself, with the address that its probe left in the registers. */
	if (place->regs && !unwind_done(&state) && unwind_get_return_address(&state) == fkt_ip(place->regs))
		unwind_next_frame(&state);
	for (; !unwind_done(&state); unwind_next_frame(&state)) {
		const unsigned long address = unwind_get_return_address(&state);

		if (!address)
			break;
		if (n == FKT_STACK_FRAMES)
			return n + 1;
		frames[n++] = address;
	}
	return n;
}

/* ---- the stack of a program ---- */

struct user_walk {
	u64 *frames;
	u32 n;
	bool is_32;
	bool knows_returns; /* no other code of the kernel is changing the list of return probes */
};

static bool read_word(const struct user_walk *walk, u64 address, u64 *word)
{
	*word = 0;
	return !copy_from_user_nofault(word, (const void __user *)address, walk->is_32 ? sizeof(u32) : sizeof(u64));
}

/*
 * The return address that the program has put at `slot`, where `found` is now: the kernel's return probes exchange it
 * for their own.
 */
static u64 real_return_address(u64 slot, u64 found)
{
	const struct uprobe_task *utask = current->utask;
	const struct return_instance *call;

	for (call = utask ? utask->return_instances : NULL; call; call = call->next) {
		if (call->stack == slot)
			return call->orig_ret_vaddr;
	}
	return found;
}

/* Adds the caller whose address is at `slot`. Returns false if there is none, or no room for it. */
static bool add_caller(struct user_walk *walk, u64 slot, u64 found)
{
	const u64 caller = walk->knows_returns ? real_return_address(slot, found) : found;

	if (!fkt_is_return_address(caller))
		return false;
	if (walk->n < FKT_STACK_FRAMES)
		walk->frames[walk->n] = caller;
	return walk->n++ < FKT_STACK_FRAMES;
}

/* As take_kernel(); 0: the hit is not on behalf of a user program, in its task. */
static u32 take_user(const struct fkt_stack_place *place, u64 *frames)
{
	const struct pt_regs *regs = place->user ? place->user : task_pt_regs(current);
	struct user_walk walk = { .frames = frames, .is_32 = fkt_is_32_bit(regs) };
	const unsigned int word = walk.is_32 ? sizeof(u32) : sizeof(u64);
	/* A function that has returned: these are its caller's registers. */
	const bool has_returned = place->user && place->first != fkt_ip(regs);
	u64 at = fkt_fp(regs), next, caller;

	if (fkt_level() != FKT_LEVEL_TASK || current->flags & PF_KTHREAD || !current->mm ||
	    !user_mode((struct pt_regs *)regs))
		return 0;
	frames[walk.n++] = place->user ? place->first : fkt_ip(regs);
	walk.knows_returns = place->user && (!has_returned || FKT_RETURNS_ARE_LISTED);
	if (has_returned)
		frames[walk.n++] = fkt_ip(regs);
	else if (place->entered && read_word(&walk, fkt_sp(regs), &caller))
		add_caller(&walk, fkt_sp(regs), caller);
	/* Frames are above the stack pointer, each one above that before it, so the walk ends. */
	while (at >= fkt_sp(regs) && !(at & (word - 1)) && read_word(&walk, at, &next) &&
	       read_word(&walk, at + word, &caller) && add_caller(&walk, at + word, caller) && next > at)
		at = next;
	return walk.n;
}

static void write(u32 id, u32 instrument, const u64 *frames, u32 n)
{
	const u32 cut = n > FKT_STACK_FRAMES ? FKT_VAR_CUT : 0;

	n = min_t(u32, n, FKT_STACK_FRAMES);
	if (n)
		fkt_emit(id, FKT_POINT_ARG(instrument, n) | cut, frames, n);
}

/* Writes the stacks. instrument: its number. words: memory for FKT_STACK_FRAMES. After fkt_stack_begin(). */
void fkt_stack_end(u32 instrument, const struct fkt_stack_place *place, u64 *words)
{
	if (!place->user)
		write(FKT_E_STACK, instrument, words, take_kernel(place, words));
	write(FKT_E_USER_STACK, instrument, words, take_user(place, words));
	this_cpu_and(fkt_hit_calls, ~(1 << fkt_level()));
}
