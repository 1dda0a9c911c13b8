/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A condition on events that the module evaluates while it records. lib/record/condition_compiler.cc compiles the
 * user's text into it, FKT_START passes it to the kernel, and module/trigger.c evaluates it for system calls at
 * their exit and for other events after they were written.
 *
 * The condition is in postfix order: a test pushes its result; FKT_CONDITION_AND and FKT_CONDITION_OR pop two
 * results and push one. Names are sets of ids: event ids are below FKT_PAIR_ID; a system call is
 * identified by the id of its pair, which contains its number.
 */
#ifndef FKT_CONDITION_H
#define FKT_CONDITION_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

#include <fkt/events.h>
#include <fkt/text_fits.h>
#include <fkt/wire.h>

#define FKT_CONDITION_OPS 64
#define FKT_CONDITION_SETS 8
#define FKT_CONDITION_TEXTS 8 /* also the limit for the number of text tests, the slowest ones, which may run in NMIs */
#define FKT_CONDITION_TEXT_BYTES 32 /* including the terminating zero */
/* Number of ids in a set: event ids, then the pair ids of 64-bit and 32-bit system calls. */
#define FKT_CONDITION_IDS ((__u32)FKT_P_SYSCALL32 + (__u32)FKT_PN_SYSCALL32)

enum fkt_condition_what {
	FKT_CONDITION_AND = 0,
	FKT_CONDITION_OR = 1,
	FKT_CONDITION_NOT = 2,
	FKT_CONDITION_NAME = 3, /* is the id in set[index]? */
	FKT_CONDITION_TASK = 4, /* does the thread's name match text[index] (with `*` and `?`)? */
	FKT_CONDITION_CPU = 5, /* this one and the following: compared with `value` */
	FKT_CONDITION_PID = 6,
	FKT_CONDITION_DURATION = 7, /* ticks; false if the duration is not known */
	FKT_CONDITION_RET = 8, /* return value of a system call; false for other events */
};

enum fkt_condition_compare {
	FKT_CONDITION_EQ = 0,
	FKT_CONDITION_NE = 1,
	FKT_CONDITION_LT = 2,
	FKT_CONDITION_LE = 3,
	FKT_CONDITION_GT = 4,
	FKT_CONDITION_GE = 5,
};

struct fkt_condition_op {
	__u8 what; /* enum fkt_condition_what */
	__u8 compare; /* enum fkt_condition_compare */
	__u16 index;
	__u32 pad; /* 0 */
	__s64 value;
};

struct fkt_condition_set {
	__u64 bits[FKT_CONDITION_IDS / 64];
};

struct fkt_condition {
	__u32 ops;
	/* Larger than any thread id (/proc/sys/kernel/pid_max); used if durations are tested: 8 bytes per id. */
	__u32 tids;
	struct fkt_condition_op op[FKT_CONDITION_OPS];
	struct fkt_condition_set watched; /* the ids for which the condition is evaluated */
	struct fkt_condition_set set[FKT_CONDITION_SETS];
	char text[FKT_CONDITION_TEXTS][FKT_CONDITION_TEXT_BYTES];
};

/* The values of one event that the condition is evaluated on. */
struct fkt_condition_facts {
	__u32 id;
	__u32 cpu;
	__u32 pid;
	__u32 is_call; /* 1: a system call, and ret is valid */
	__u64 duration; /* ticks; FKT_CONDITION_UNKNOWN if it is not known */
	__s64 ret;
	const char *task;
};

#define FKT_CONDITION_UNKNOWN (~0ULL)

FKT_LAYOUT(FKT_CONDITION_IDS % 64 == 0);
FKT_LAYOUT(sizeof(struct fkt_condition_op) == 16);

static inline int fkt_condition_has(const struct fkt_condition_set *set, __u32 id)
{
	return id < FKT_CONDITION_IDS && (set->bits[id / 64] >> id % 64 & 1);
}

/* Returns whether any of the `count` ids from `first` on is in the set. */
static inline int fkt_condition_has_any(const struct fkt_condition_set *set, __u32 first, __u32 count)
{
	__u32 id;

	for (id = first; id < first + count; id++)
		if (fkt_condition_has(set, id))
			return 1;
	return 0;
}

/* Returns whether the condition contains a test of `what`. */
static inline int fkt_condition_tests(const struct fkt_condition *condition, enum fkt_condition_what what)
{
	__u32 i;

	for (i = 0; i < condition->ops && i < FKT_CONDITION_OPS; i++)
		if (condition->op[i].what == what)
			return 1;
	return 0;
}

/* Number of operands that an operation pops; each operation pushes one result. */
static inline __u32 fkt_condition_takes(const struct fkt_condition_op *op)
{
	if (op->what == FKT_CONDITION_AND || op->what == FKT_CONDITION_OR)
		return 2;
	return op->what == FKT_CONDITION_NOT;
}

static inline int fkt_condition_op_valid(const struct fkt_condition *condition, const struct fkt_condition_op *op)
{
	if (op->what > FKT_CONDITION_RET || op->compare > FKT_CONDITION_GE || op->pad)
		return 0;
	if (op->what == FKT_CONDITION_NAME)
		return op->index < FKT_CONDITION_SETS;
	if (op->what == FKT_CONDITION_TASK)
		return op->index < FKT_CONDITION_TEXTS &&
		       !condition->text[op->index][FKT_CONDITION_TEXT_BYTES - 1];
	return 1;
}

/*
 * Returns whether the condition is well-formed, so that fkt_condition_true() is safe and its work is
 * bounded. Accepts arbitrary bytes.
 */
static inline int fkt_condition_valid(const struct fkt_condition *condition)
{
	__u32 i, depth = 0, texts = 0;

	if (!condition->ops || condition->ops > FKT_CONDITION_OPS)
		return 0;
	for (i = 0; i < condition->ops; i++) {
		const struct fkt_condition_op *op = &condition->op[i];

		if (!fkt_condition_op_valid(condition, op) || depth < fkt_condition_takes(op))
			return 0;
		depth = depth - fkt_condition_takes(op) + 1;
		texts += op->what == FKT_CONDITION_TASK;
	}
	return depth == 1 && texts <= FKT_CONDITION_TEXTS;
}

static inline int fkt_condition_compares(__s64 left, enum fkt_condition_compare compare, __s64 right)
{
	switch (compare) {
	case FKT_CONDITION_EQ:
		return left == right;
	case FKT_CONDITION_NE:
		return left != right;
	case FKT_CONDITION_LT:
		return left < right;
	case FKT_CONDITION_LE:
		return left <= right;
	case FKT_CONDITION_GT:
		return left > right;
	default:
		return left >= right;
	}
}

static inline int fkt_condition_test(const struct fkt_condition *condition, const struct fkt_condition_op *op,
				const struct fkt_condition_facts *facts)
{
	enum fkt_condition_compare compare = (enum fkt_condition_compare)op->compare;

	switch (op->what) {
	case FKT_CONDITION_NAME:
		return fkt_condition_has(&condition->set[op->index], facts->id);
	case FKT_CONDITION_TASK:
		return fkt_text_fits(facts->task, condition->text[op->index]);
	case FKT_CONDITION_CPU:
		return fkt_condition_compares(facts->cpu, compare, op->value);
	case FKT_CONDITION_PID:
		return fkt_condition_compares(facts->pid, compare, op->value);
	case FKT_CONDITION_DURATION:
		return facts->duration != FKT_CONDITION_UNKNOWN &&
		       fkt_condition_compares((__s64)facts->duration, compare, op->value);
	default:
		return facts->is_call && fkt_condition_compares(facts->ret, compare, op->value);
	}
}

/* Evaluates the condition. Precondition: fkt_condition_valid(). */
static inline int fkt_condition_true(const struct fkt_condition *condition, const struct fkt_condition_facts *facts)
{
	__u64 truths = 0; /* the top of the stack is bit 0; the depth is at most the number of tests */
	__u32 i;

	for (i = 0; i < condition->ops; i++) {
		const struct fkt_condition_op *op = &condition->op[i];

		if (op->what == FKT_CONDITION_AND)
			truths = truths >> 2 << 1 | (truths >> 1 & truths & 1);
		else if (op->what == FKT_CONDITION_OR)
			truths = truths >> 2 << 1 | ((truths >> 1 | truths) & 1);
		else if (op->what == FKT_CONDITION_NOT)
			truths ^= 1;
		else
			truths = truths << 1 | (__u64)fkt_condition_test(condition, op, facts);
	}
	return truths & 1;
}

#endif /* FKT_CONDITION_H */
