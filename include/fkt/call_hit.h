/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Words of a hit (program.h) of an instrument on whole calls. Such an instrument has two programs. The first runs when
 * the function is entered, and has its arguments: what they point to may be gone at the return. It drops the call, or
 * emits up to FKT_CALL_KEPT words, which are kept on the task's stack until the return. The second one runs then, has
 * the kept words, the result and the duration, and emits the words of the event. A first program without instructions
 * keeps every call and emits nothing. A first program that only emits unmodified arguments may run at the return
 * instead, with the arguments of the call.
 */
#ifndef FKT_CALL_HIT_H
#define FKT_CALL_HIT_H

#include <fkt/program.h>

/* Words of the first program: the six registers for arguments, in their order. */
#define FKT_CALL_ARGUMENTS 6 /* words 0 to 5 */

/* Words of the second program. */
enum fkt_call_word {
	FKT_CALL_RESULT = 0, /* rax */
	FKT_CALL_RESULT_HIGH = 1, /* rdx: the upper half of a result of 16 bytes */
	FKT_CALL_DURATION = 2, /* ticks */
	/* A return probe does not have the next two. They need fkt_calls.threads. */
	FKT_CALL_CPUTIME = 3, /* ticks of the duration during which the task was on a CPU */
	/*
	 * Number of traced calls that the task is in, this one included: of all functions that are called through, and
	 * in an interrupt also those of the interrupted task.
	 */
	FKT_CALL_DEPTH = 4,
	FKT_CALL_FIRST_KEPT = 5, /* words that the first program emitted: from here on */
};

#define FKT_CALL_KEPT 24 /* words */

#define FKT_CALL_CONTEXTS ((1 << FKT_CONTEXTS) - 1)

FKT_LAYOUT(FKT_CALL_FIRST_KEPT + FKT_CALL_KEPT <= FKT_HIT_WORDS);

static __always_inline struct fkt_program_rules fkt_call_entry_rules(void)
{
	struct fkt_program_rules rules = FKT_RULES_NONE;

	rules.words = (1ULL << FKT_CALL_ARGUMENTS) - 1;
	rules.emits = FKT_CALL_KEPT;
	rules.contexts = FKT_CALL_CONTEXTS;
	rules.memory = 1;
	return rules;
}

/* Rules for a program on a function's entry alone: nothing is kept, the emitted words are recorded. */
static __always_inline struct fkt_program_rules fkt_entry_rules(void)
{
	struct fkt_program_rules rules = fkt_call_entry_rules();

	rules.emits = FKT_PROGRAM_WORDS;
	return rules;
}

/* The words of a hit of an instruction: the registers when it is reached. */
enum fkt_register {
	FKT_REGISTER_AX,
	FKT_REGISTER_BX,
	FKT_REGISTER_CX,
	FKT_REGISTER_DX,
	FKT_REGISTER_SI,
	FKT_REGISTER_DI,
	FKT_REGISTER_BP,
	FKT_REGISTER_SP,
	FKT_REGISTER_R8,
	FKT_REGISTER_R9,
	FKT_REGISTER_R10,
	FKT_REGISTER_R11,
	FKT_REGISTER_R12,
	FKT_REGISTER_R13,
	FKT_REGISTER_R14,
	FKT_REGISTER_R15,
	FKT_REGISTER_IP,
	FKT_REGISTER_FLAGS,
	FKT_REGISTERS,
};

static __always_inline struct fkt_program_rules fkt_instruction_rules(void)
{
	struct fkt_program_rules rules = fkt_entry_rules();

	rules.words = (1ULL << FKT_REGISTERS) - 1;
	return rules;
}

/* Argument of an instruction's event with values: the instruction's number, above the number of words. */
#define FKT_INSTRUCTION_ARG(number, words) ((__u32)(number) << FKT_VAR_BITS | (words))

/* kept: the first program's fkt_program.words. */
static __always_inline struct fkt_program_rules fkt_call_exit_rules(__u32 kept)
{
	struct fkt_program_rules rules = FKT_RULES_NONE;

	rules.words = (1ULL << (FKT_CALL_FIRST_KEPT + kept)) - 1;
	rules.emits = FKT_PROGRAM_WORDS;
	rules.contexts = FKT_CALL_CONTEXTS;
	rules.memory = 1;
	return rules;
}

#endif /* FKT_CALL_HIT_H */
