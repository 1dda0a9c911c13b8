/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The trigger of a recording (--snapshot-when): a program (program.h) that the module runs when an event that is
 * watched was written, and at the exit of system calls that are. When it comes to its end, the recording's owner is
 * told (FKT_FIRED). lib/instrument/trigger_compiler.cc makes it of the user's text.
 */
#ifndef FKT_TRIGGER_HIT_H
#define FKT_TRIGGER_HIT_H

#include <fkt/events.h>
#include <fkt/program.h>

/* Ids of what is watched: event ids, below FKT_PAIR_ID, then the pair ids of 64-bit and 32-bit system calls. */
#define FKT_TRIGGER_IDS ((__u32)FKT_P_SYSCALL32 + (__u32)FKT_PN_SYSCALL32)

/* The words of the hit. */
enum fkt_trigger_word {
	FKT_TRIGGER_ID = 0,
	FKT_TRIGGER_CPU = 1,
	FKT_TRIGGER_TID = 2,
	FKT_TRIGGER_TASK = 3, /* address of the thread's name */
	FKT_TRIGGER_DURATION = 4, /* of a system call (ticks); FKT_TRIGGER_UNKNOWN: not measured */
	FKT_TRIGGER_RET = 5, /* of a system call, else 0 */
	FKT_TRIGGER_WORDS = 6,
};

#define FKT_TRIGGER_UNKNOWN (~0ULL)

struct fkt_trigger {
	__u64 program; /* user pointer */
	__u32 bytes; /* of the program */
	/* Larger than any thread id (kernel.pid_max) if durations are tested: 8 bytes per id. 0: they are not */
	__u32 tids;
	__u64 watched[FKT_TRIGGER_IDS / 64]; /* a bit per id */
};

FKT_LAYOUT(FKT_TRIGGER_IDS % 64 == 0);

static inline int fkt_trigger_watches(const struct fkt_trigger *trigger, __u32 id)
{
	return id < FKT_TRIGGER_IDS && (trigger->watched[id / 64] >> id % 64 & 1);
}

/*
 * Openers that may see their own processes alone have triggers, too: a program that read memory, or compared the
 * address of the name, would tell them by FKT_FIRED what is there.
 */
static __always_inline struct fkt_program_rules fkt_trigger_rules(void)
{
	struct fkt_program_rules rules = FKT_RULES_NONE;

	rules.words = (1ULL << FKT_TRIGGER_WORDS) - 1;
	rules.texts = 1ULL << FKT_TRIGGER_TASK;
	return rules;
}

#endif /* FKT_TRIGGER_HIT_H */
