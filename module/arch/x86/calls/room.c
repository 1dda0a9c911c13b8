// SPDX-License-Identifier: GPL-2.0-only
/* How much of the stack is left (room.h): on a task's stack, and on those of interrupts and exceptions. */

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <asm/stacktrace.h>

#include "arch/kernel_names.h"
#include "base/compat.h"
#include "calls/frames.h"
#include "calls/room.h"
#include "calls/traceable.h"

static_assert(IRQ_STACK_SIZE == THREAD_SIZE);

/*
 * The least address with room for a frame without words on the stack about which has_room() of trampoline.S asked last
 * on this CPU, so that it need not ask again. It stays true on another CPU and after a switch: tasks' stacks are
 * aligned to their size, and those of interrupts stay where they are.
 */
DEFINE_PER_CPU(unsigned long, fkt_room_from);

/* The kernel's: finds the stack that the place is on. */
DEFINE_STATIC_CALL_RET0(fkt_room_stack_of, get_stack_info_noinstr);

void __init fkt_room_init(void)
{
	fkt_set_call(fkt_room_stack_of, fkt_calls_symbol("get_stack_info_noinstr"));
}

/* Returns how much of a stack of so many bytes must be left. */
static unsigned long least_of(unsigned long bytes, unsigned int words)
{
	return bytes / FKT_CALLS_STACK_SHARE + 8 * words * FKT_CALLS_STACK_FRAMES;
}

/* Returns false if the kernel does not know the stack, or cannot be asked. */
static noinline bool find_other(unsigned long at, unsigned long *begin, unsigned long *bytes)
{
	struct stack_info stack;

	if (!static_call(fkt_room_stack_of)((unsigned long *)at, current, &stack))
		return false;
	*begin = (unsigned long)stack.begin;
	*bytes = (unsigned long)stack.end - *begin;
	return true;
}

/* Returns whether a frame that keeps so many words may be put on the stack: not on an unknown one. Any context. */
bool fkt_room_on_stack(unsigned int words)
{
	const unsigned long at = current_stack_pointer;
	unsigned long begin = (unsigned long)task_stack_page(current), bytes = THREAD_SIZE;

	if (unlikely(at - begin >= THREAD_SIZE) && !find_other(at, &begin, &bytes))
		return false;
	if (!words && bytes == THREAD_SIZE)
		this_cpu_write(fkt_room_from, begin + least_of(bytes, 0));
	return at - begin > least_of(bytes, words);
}
