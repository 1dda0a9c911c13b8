/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables of instruments that exchange_rules.c gives the kernel. */
#ifndef FKT_EXCHANGE_TABLE_H
#define FKT_EXCHANGE_TABLE_H

#include <fkt/call_hit.h>

#include "functions.h"
#include "rules.h"

/* Functions of the running kernel, in the order of `names`. */
enum symbol { GETPPID, GETPID, UMASK, SLEEP, SYMBOLS };
static const char *const names[SYMBOLS] = {
	"__do_sys_getppid", "__do_sys_getpid", "__x64_sys_umask", "hrtimer_nanosleep",
};
static __u64 at[SYMBOLS];

/*
 * Pairs of programs: none; one that emits an argument (a frame with the arguments); one that emits twelve (the largest
 * frame); two whose events have values: the first two arguments, or the low half of the second, the first and the result.
 */
enum pair { PLAIN, FEW, MANY, VALUES, OTHERS, PAIRS };

/* Instruments behind those of the functions' calls. Entries and instructions are the begins of these functions. */
enum { POINT = SYMBOLS, ENTRY, INSTRUCTION, INSTRUMENTS };
#define ENTERED UMASK
#define REACHED GETPID

/* Which of them a table has places for: a bit each. */
#define WITH(instrument) (1U << ((instrument) - POINT))

/* A table: which function with which pair, each in an instrument of its own; and the other places. */
struct table {
	struct fkt_instrument instruments[INSTRUMENTS];
	struct fkt_called called[SYMBOLS];
	char programs[4096];
	struct fkt_calls calls;
	struct fkt_called entered, reached;
	char empty[2 * FKT_PROGRAM_BYTES(0, 0)]; /* a pair of programs */
	struct fkt_calls entries, instructions;
	struct fkt_point point;
	struct fkt_program point_program;
	struct fkt_points points;
	struct fkt_instruments all;
	struct fkt_exchange exchange;
};

/* Adds a pair whose first program emits `words` arguments. */
static void add_pair(struct table *t, unsigned int words)
{
	const size_t bytes = FKT_PROGRAM_BYTES(words, 0), second = FKT_PROGRAM_BYTES(0, 0);
	struct fkt_program *program = (struct fkt_program *)(t->programs + t->calls.program_bytes);
	unsigned int i;

	memset(program, 0, bytes + second);
	program->insns = words;
	program->words = words;
	for (i = 0; i < words; i++)
		program->insn[i] = (struct fkt_insn){ .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = i % 6 };
	t->calls.program_bytes += bytes + second;
	t->calls.program_count++;
}

static void append(struct table *t, const struct fkt_insn *insn, unsigned int n, unsigned int words)
{
	struct fkt_program *program = (struct fkt_program *)(t->programs + t->calls.program_bytes);

	memset(program, 0, FKT_PROGRAM_BYTES(n, 0));
	program->insns = n;
	program->words = words;
	memcpy(program->insn, insn, n * sizeof(*insn));
	t->calls.program_bytes += FKT_PROGRAM_BYTES(n, 0);
}

/* Adds VALUES and OTHERS. */
static void add_values(struct table *t)
{
	static const struct fkt_insn arguments[] = {
		{ .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = 0 },
		{ .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = 1 },
	}, emits[] = {
		{ .op = FKT_OP_EMIT_WORDS, .index = FKT_CALL_FIRST_KEPT, .size = 16 },
	}, others[] = {
		{ .op = FKT_OP_EMIT, .how = FKT_FROM_WORD | FKT_HOW_FETCH, .index = 1, .left = 32, .right = 32 },
		{ .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = 0 },
	}, emits_others[] = {
		{ .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = FKT_CALL_FIRST_KEPT },
		{ .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = FKT_CALL_FIRST_KEPT + 1 },
		{ .op = FKT_OP_EMIT, .how = FKT_FROM_WORD, .index = FKT_CALL_RESULT },
	};

	append(t, arguments, 2, 2);
	append(t, emits, 1, 2);
	append(t, others, 2, 2);
	append(t, emits_others, 3, 3);
	t->calls.program_count += 2;
}

static struct fkt_calls place_of(struct table *t, const struct fkt_called *called)
{
	return (struct fkt_calls){
		.functions = (unsigned long)called, .count = 1, .programs = (unsigned long)t->empty,
		.program_bytes = 2 * FKT_PROGRAM_BYTES(0, 0), .program_count = 1,
	};
}

/* pairs: of each function; -1: it is not in the table. */
static void make_table(struct table *t, const int pairs[SYMBOLS], unsigned int with)
{
	int i;

	memset(t, 0, sizeof(*t));
	add_pair(t, 0);
	add_pair(t, 1);
	add_pair(t, 12);
	add_values(t);
	for (i = 0; i < INSTRUMENTS; i++)
		t->instruments[i] = (struct fkt_instrument){ .action = FKT_ACTION_RECORD, .layer = FKT_L_INSTRUMENTS };
	for (i = 0; i < SYMBOLS; i++)
		if (pairs[i] >= 0)
			t->called[t->calls.count++] = (struct fkt_called){
				.function = at[i], .number = i, .program = pairs[i], .instrument = i };
	qsort(t->called, t->calls.count, sizeof(t->called[0]), ascending);
	t->calls.functions = (unsigned long)t->called;
	t->calls.programs = (unsigned long)t->programs;
	t->all = (struct fkt_instruments){ .instruments = (unsigned long)t->instruments, .count = INSTRUMENTS };
	if (t->calls.count)
		t->all.calls = (unsigned long)&t->calls;
	if (with & WITH(POINT)) {
		strcpy(t->point.name, "signal_generate");
		t->point.instrument = POINT;
		t->point.arguments = 5;
		t->points = (struct fkt_points){ .points = (unsigned long)&t->point, .count = 1,
						 .programs = (unsigned long)&t->point_program,
						 .program_bytes = sizeof(t->point_program) };
		t->all.points = (unsigned long)&t->points;
	}
	if (with & WITH(ENTRY)) {
		t->entered = (struct fkt_called){ .function = at[ENTERED], .number = 9, .instrument = ENTRY };
		t->entries = place_of(t, &t->entered);
		t->all.entries = (unsigned long)&t->entries;
	}
	if (with & WITH(INSTRUCTION)) {
		t->reached = (struct fkt_called){ .function = at[REACHED], .number = 1, .instrument = INSTRUCTION };
		t->instructions = place_of(t, &t->reached);
		t->all.instructions = (unsigned long)&t->instructions;
	}
	t->exchange.instruments = (unsigned long)&t->all;
}

#endif /* FKT_EXCHANGE_TABLE_H */
