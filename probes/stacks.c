// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stacks of hits: the kernel's by its own unwinder, that of a user program by its frame pointers. If the program
 * has none, there is one frame, or frames that are wrong. Each stack is an event after that of the hit.
 *
 * The unwinder's functions may have instruments with stacks themselves: a hit in one of them, in the same context,
 * gets no stack, and counts as missed.
 */

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <asm/unwind.h>

#include <fkt/events.h>
#include <fkt/point_hit.h>

#include "level.h"
#include "stacks.h"
#include "write.h"

/* A bit per enum fkt_level whose stack is being taken; an interrupt restores it before it returns. */
static DEFINE_PER_CPU(u8, taking);

/* Returns false if a stack of this context is being taken: the hit is missed. */
bool fkt_stack_begin(void)
{
	const u8 bit = 1 << fkt_level();

	if (this_cpu_read(taking) & bit)
		return false;
	this_cpu_or(taking, bit);
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
	if (place->regs && !unwind_done(&state) && unwind_get_return_address(&state) == place->regs->ip)
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

/* A frame of a program whose functions begin with push and mov of the frame pointer. */
struct user_frame {
	u64 next, caller;
};

static int read_frame(struct user_frame *frame, u64 address, bool is_32)
{
	u32 words[2];

	if (!is_32)
		return copy_from_user_nofault(frame, (const void __user *)address, sizeof(*frame));
	if (copy_from_user_nofault(words, (const void __user *)address, sizeof(words)))
		return -EFAULT;
	frame->next = words[0];
	frame->caller = words[1];
	return 0;
}

/* As take_kernel(); 0: the hit is not on behalf of a user program, in its task. */
static u32 take_user(u64 *frames)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct user_frame frame;
	u64 at = regs->bp;
	u32 n = 0;

	if (fkt_level() != FKT_LEVEL_TASK || current->flags & PF_KTHREAD || !current->mm || !user_mode(regs))
		return 0;
	frames[n++] = regs->ip;
	/* Each frame is above the one before it, so the walk ends. */
	while (!read_frame(&frame, at, regs->cs == __USER32_CS) && frame.caller) {
		if (n == FKT_STACK_FRAMES)
			return n + 1;
		frames[n++] = frame.caller;
		if (frame.next <= at)
			break;
		at = frame.next;
	}
	return n;
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
	write(FKT_E_STACK, instrument, words, take_kernel(place, words));
	write(FKT_E_USER_STACK, instrument, words, take_user(words));
	this_cpu_and(taking, ~(1 << fkt_level()));
}
