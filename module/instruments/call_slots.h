/* SPDX-License-Identifier: GPL-2.0-only */
/* A table of functions or instructions as probes see it: a slot for each, with its programs (call_table.h makes it). */
#ifndef FKT_CALL_SLOTS_H
#define FKT_CALL_SLOTS_H

#include <linux/types.h>

#include <fkt/ioctl.h>
#include <fkt/wire.h>

#include "calls/frames.h"

struct fkt_call_quick;
struct fkt_instrument_slot;
struct fkt_program;

/* Which hits of the functions are seen. */
enum fkt_call_form {
	FKT_FORM_CALL,
	FKT_FORM_ENTRY,
	FKT_FORM_INSTRUCTION, /* the "functions" are instructions */
};

/* 16 bytes, so that a probe finds it by a shift. */
struct fkt_call_slot {
	/*
	 * Low half of the address after the function's nop (call.h). It identifies the function, because all code of
	 * the kernel lies in the last 2 GB of the address space. 0: the slot is free.
	 */
	u32 body;
	/* Low FKT_ARG_BITS bits: number in the events; above them the bit number of its layer, and FKT_CALL_*. */
	u32 number;
	const struct fkt_instrument_slot *instrument;
};

#define FKT_CALL_ASKS (1U << 31) /* `asks` of the table says which programs run; else every call is kept */
#define FKT_CALL_ACTS (1U << 30) /* the instrument has another action than FKT_ACTION_RECORD */

/* The programs of a function (call_hit.h). */
struct fkt_call_programs {
	const struct fkt_program *entry, *exit;
	/* Equal programs have equal marks, in every table; different programs differ. The lowest bit is 0. */
	u64 mark;
	bool may_wait; /* fkt_call_quick_may_wait() */
	u32 of_task; /* bits of FKT_CALL_CPUTIME and FKT_CALL_DEPTH that the second program asks for */
	/* 1 + number of a flag: the second program drops each call of a thread without it; 0: there is none. */
	u32 task_flag;
};

/* Programs and further instruments of a function whose slot has FKT_CALL_ASKS. */
struct fkt_call_ask {
	const struct fkt_call_programs *programs; /* NULL: only an earlier table of the recording has the function */
	bool exits; /* its event is that of the exit */
	struct fkt_call_more *more; /* a further instrument on the function; NULL: there is none */
};

/* A further instrument on a function: its hits come after those of the previous one. */
struct fkt_call_more {
	struct fkt_call_slot slot;
	struct fkt_call_ask ask;
};

struct fkt_call_table {
	/* hash table with open addressing: 1 << (32 - shift) slots, at most half of them in use */
	struct fkt_call_slot *slots;
	u32 shift;
	u32 last; /* number of the last slot */
	struct fkt_call_ask *asks; /* by slot */
	struct fkt_call_quick *quick; /* for the fast path; NULL: it has none of these */
	/* Calls: by kind of frame, then those with a return probe. Other forms: in the order given. */
	unsigned long *functions;
	u32 of_frame[FKT_CALLS_FRAMES]; /* number of functions that are called through */
	u64 shortest[FKT_CALLS_FRAMES]; /* smallest by kind of frame (ticks); U64_MAX: no functions */
	u32 by_probe; /* number of functions that have a return probe */
	u64 shortest_probed; /* smallest of the functions with a return probe (ticks); U64_MAX: none */
	u32 count;
	struct fkt_call_more *more;
	u32 more_count;
	u64 since; /* TSC when this table came into force: later calls of functions that are gone are no hits */
	void *program_block; /* all programs */
	struct fkt_call_programs *programs;
	u32 program_count;
	/* A program asks for FKT_CALL_DEPTH: all functions that are called through have frames that count it. */
	bool counts_depth;
	/* as in struct fkt_calls */
	u32 threads;
	struct fkt_keep keep; /* of a table without functions: as in the tables before it */
};

/* Where the search for a function's slot begins; the next ones follow, and after the last the first. */
static __always_inline u32 fkt_call_hash(const struct fkt_call_table *table, unsigned long body)
{
	return (u32)body * 0x9e3779b1U >> table->shift;
}

const struct fkt_call_slot *fkt_call_search(const struct fkt_call_table *table, unsigned long body);

/* Returns the slot of the function with this body; NULL: the table does not have it. Any context. */
static __always_inline const struct fkt_call_slot *fkt_call_find(const struct fkt_call_table *table, unsigned long body)
{
	const struct fkt_call_slot *slot = &table->slots[fkt_call_hash(table, body)];

	return likely(slot->body == (u32)body) ? slot : fkt_call_search(table, body);
}

static __always_inline u32 fkt_call_layer(const struct fkt_call_slot *slot)
{
	return (slot->number & ~(FKT_CALL_ASKS | FKT_CALL_ACTS)) >> FKT_ARG_BITS;
}

#endif /* FKT_CALL_SLOTS_H */
