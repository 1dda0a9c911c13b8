// SPDX-License-Identifier: GPL-2.0-only
/* How much of the stack is left (room.h): on a task's stack, and on those of interrupts and exceptions. */

#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/static_call.h>
#include <asm/stacktrace.h>

#include "frames.h"
#include "functions.h"
#include "room.h"

static bool no_stack(unsigned long *place, struct task_struct *task, struct stack_info *info)
{
	return false;
}

/* The kernel's: finds the stack that the place is on. */
DEFINE_STATIC_CALL(fkt_room_stack_of, no_stack);

void __init fkt_room_init(void)
{
	void *found = (void *)fkt_calls_symbol("get_stack_info_noinstr");

	if (found)
		static_call_update(fkt_room_stack_of, found);
}

/* Returns how much of a stack of so many bytes must be left. */
static unsigned long least_of(unsigned long bytes, unsigned int words)
{
	return bytes / FKT_CALLS_STACK_SHARE + 8 * words * FKT_CALLS_STACK_FRAMES;
}

/* A stack that the kernel does not know, or that it cannot be asked for, counts as used up. */
static noinline bool is_room_on_other(unsigned long at, unsigned int words)
{
	struct stack_info stack;

	if (!static_call(fkt_room_stack_of)((unsigned long *)at, current, &stack))
		return false;
	return at - (unsigned long)stack.begin >
	       least_of((unsigned long)stack.end - (unsigned long)stack.begin, words);
}

/* Returns whether a frame that keeps so many words may be put on the stack. Any context. */
bool fkt_room_on_stack(unsigned int words)
{
	const unsigned long at = current_stack_pointer, left = at - (unsigned long)task_stack_page(current);

	return likely(left < THREAD_SIZE) ? left > least_of(THREAD_SIZE, words) : is_room_on_other(at, words);
}
