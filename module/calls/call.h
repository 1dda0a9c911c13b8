/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A traced call as its user sees it: the words that its frame keeps, the functions of the user that are called, and the
 * plan that says which calls are traced. calls.h has the functions that trace them.
 */
#ifndef FKT_CALLS_CALL_H
#define FKT_CALLS_CALL_H

#include <linux/types.h>

#include "arch/arch.h"
#include "frames.h"

/*
 * While the machine sleeps the TSC may stand still or begin anew. So a period ends before each sleep and after it, and
 * its number is added to the time of an entry, and to that of a return, above these bits (asleep.c).
 */
#define FKT_CALLS_PERIOD_BITS 56
/*
 * No call lasts that many ticks (100 days at 4 GHz). If a duration is longer, the period changed during the call, or
 * the duration is negative because the clock stepped back.
 */
#define FKT_CALLS_TICK_BITS 55

#define FKT_CALLS_NO_BEGIN U64_MAX

/*
 * Where a frame has the address of its function's nop + FKT_CALLS_NOP_BYTES. Behind it is the address that the function
 * returns to: where the stack pointer was when the function was entered.
 */
static inline unsigned long fkt_call_stack(const unsigned long *body)
{
	return (unsigned long)(body + 1);
}

/* A call that returns now: the top of the stack in trampoline.S. */
struct fkt_call {
	u64 result_high; /* rdx: the upper half of a result of 16 bytes */
	u64 result; /* rax */
	u64 entry; /* TSC at the entry: the low FKT_CALLS_PERIOD_BITS bits are true */
};

/* Words of the calling task in a frame, if its thread number is below the plan's `threads`. */
struct fkt_call_task {
	u64 off; /* ticks of the call during which the task was not on a CPU: fkt_call_on_cpu() */
	u64 depth; /* fkt_call_depth() */
};

static_assert(sizeof(struct fkt_call_task) == FKT_CALLS_TASK_BYTES);

/*
 * Returns the number of traced calls that the task was in when this one began, itself included. For a call in an
 * interrupt, calls of the interrupted task count too.
 */
static inline u32 fkt_call_depth(const struct fkt_call_task *task)
{
	return (u32)task->depth + 1;
}

/* Times on the CPU are right up to 2^48 ticks (26 hours at 3 GHz). */
#define FKT_CALLS_ON_CPU_BITS 48

/* Returns the ticks of the call during which its task was on a CPU. ticks: its duration. */
static inline u64 fkt_call_on_cpu(const struct fkt_call_task *task, u64 ticks)
{
	const u64 on = (ticks - task->off) & ((1ULL << FKT_CALLS_ON_CPU_BITS) - 1);

	/* `on` would be negative, because the clocks of two CPUs differ. */
	return on > ticks ? 0 : on;
}

/* The task's words of a call in a frame that has them and keeps no others (trampoline.S). */
static inline const struct fkt_call_task *fkt_call_task_behind(const struct fkt_call *call)
{
	return (const struct fkt_call_task *)(call + 1);
}

/* A call in a frame that keeps nothing. */
struct fkt_plain_call {
	struct fkt_call call;
	unsigned long body; /* fkt_call_stack() */
};

/* A call in FKT_CALLS_ARGUMENTS. */
struct fkt_arguments_call {
	struct fkt_call call;
	u64 arguments[FKT_CALLS_ARGUMENT_WORDS]; /* the registers at the entry, in the arguments' order */
	unsigned long body; /* as above */
};

/*
 * Returns the TSC at the entry; FKT_CALLS_NO_BEGIN: it stepped back since, or the machine slept. ticks: as given to
 * fkt_call_fn.
 */
static inline u64 fkt_call_began(const struct fkt_call *call, u64 ticks)
{
	const u64 now = fkt_counter();
	const u64 age = (now - call->entry) & ((1ULL << FKT_CALLS_PERIOD_BITS) - 1);

	/* The second test: the clock stepped back since the return. */
	if (unlikely(ticks >> FKT_CALLS_TICK_BITS || age < ticks || age >> FKT_CALLS_TICK_BITS))
		return FKT_CALLS_NO_BEGIN;
	return now - age;
}

/*
 * The functions below are called in any context, NMI included; they must not sleep or be traced.
 *
 * A call returns. It is not passed, which would be an instruction more: FKT_CALL_ON_STACK() is a pointer to it, a
 * struct fkt_plain_call. ticks: its duration, which fkt_call_began() checks; now: TSC at the return.
 */
typedef void (*fkt_call_fn)(u64 unused, u64 ticks, u64 now);
/* As above, a struct fkt_arguments_call. The arguments are those of the call, whatever the plan was when it began. */
typedef void (*fkt_call_arguments_fn)(u64 unused, u64 ticks, u64 now);
#define FKT_CALL_ON_STACK() __builtin_dwarf_cfa()
/*
 * A function is entered. arguments: the six registers for arguments, in their order; kept: `room` words to keep until
 * the return, as many as the frame has, which is another kind than the plan's while the plan changes; body: as in
 * struct fkt_plain_call, behind the words. Returns whether the call is traced.
 */
typedef bool (*fkt_call_ask_fn)(const u64 *arguments, u64 *kept, unsigned long body, unsigned int room);
/*
 * The call returns. It may have been entered while an earlier user traced it, so a user must be able to tell whether
 * the kept words are its own. body: fkt_call_stack(); kept: NULL: FKT_CALLS_TASK; task: NULL: the frame has none, or it
 * is not known.
 */
typedef void (*fkt_call_kept_fn)(const struct fkt_call *call, u64 ticks, const unsigned long *body, const u64 *kept,
				 const struct fkt_call_task *task);
/* The fate of a call in a frame whose calls may be held. */
enum fkt_call_held {
	FKT_CALL_DONE, /* it was recorded, or is not of interest */
	FKT_CALL_HOLD, /* it was dropped, and is held */
};
/*
 * A call in FKT_CALLS_HELD or FKT_CALLS_HELD_BRIEF returns. task: as above. Before it is recorded, the held calls that
 * it contains must be taken with fkt_calls_take_held().
 */
typedef enum fkt_call_held (*fkt_call_held_fn)(const struct fkt_call *call, u64 ticks, const unsigned long *body,
					       const struct fkt_call_task *task);
/* Something about a function: body: as in struct fkt_plain_call. */
typedef void (*fkt_call_of_fn)(unsigned long body);

/* A held call that a recorded call contains. */
struct fkt_held_call {
	u64 entry; /* as in struct fkt_call */
	u64 ticks; /* its duration */
	u32 body; /* low half of the address of its function's body */
	u16 depth; /* fkt_call_depth() */
	u16 context; /* fkt_interrupts_of() when it returned, not in an NMI */
};

typedef void (*fkt_take_held_fn)(const struct fkt_held_call *held, void *context);

/* fkt_calls_take_held() (held.h) */
typedef u64 (*fkt_calls_take_held_fn)(const struct fkt_call *call, u64 ticks, const struct fkt_call_task *task,
				      fkt_take_held_fn take, void *context);

/* Which calls are held, and which of them are recorded with a call that contains them. */
struct fkt_calls_keep {
	u64 shortest; /* ticks: shorter calls are not held */
	u32 levels; /* at most so many below the recorded call; 0: all */
	u32 percent; /* at least this share of the recorded call's duration; 0: all */
	u32 deepest; /* largest fkt_call_depth() of a held call; 0: all */
	bool in_task, in_interrupt; /* contexts in which calls are held; neither: nothing is held */
};

struct fkt_calls_plan {
	struct {
		/* Addresses of functions as in kallsyms. The array is reordered. */
		unsigned long *functions;
		unsigned int count;
		u64 shortest; /* ticks: shorter calls are dropped before the functions below are called */
	} frames[FKT_CALLS_FRAMES];
	fkt_call_fn record; /* for functions in frames[FKT_CALLS_PLAIN] and frames[FKT_CALLS_BRIEF] */
	fkt_call_arguments_fn record_arguments; /* for functions in frames[FKT_CALLS_ARGUMENTS] */
	/* for functions in the other frames, NULL if there are none; FKT_CALLS_TASK uses only the second */
	fkt_call_ask_fn ask;
	fkt_call_kept_fn record_kept;
	fkt_call_held_fn record_held; /* for functions in frames[FKT_CALLS_HELD] and frames[FKT_CALLS_HELD_BRIEF] */
	fkt_call_of_fn no_room; /* a call is not traced, because its stack is nearly used up; NULL: nothing is called */
	/*
	 * For frames with a struct fkt_call_task: words are known for threads with lower numbers. Once a plan with such
	 * functions is armed, plans that are armed later use its values of these two.
	 */
	u32 threads;
	struct fkt_calls_keep keep;
};

/* Of the calls of all functions together: those that were traced and not recorded, and the cost of one. */
struct fkt_calls_totals {
	u64 too_short;
	/* Calls of functions with another direct call at their entry (a BPF program's): there can be only one. */
	u64 taken;
	/*
	 * Calls of functions that have other users of ftrace. What their callbacks call is not among them: while ftrace
	 * calls several users, it calls none for another such function, and nothing counts that.
	 */
	u64 shared;
	/* What tracing a call without values takes at least (cost.c): in its own duration, and altogether. */
	u32 inside_ns, total_ns;
};

#endif /* FKT_CALLS_CALL_H */
