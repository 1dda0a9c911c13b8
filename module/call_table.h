/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions whose calls are recorded, and the programs that decide about each call. */
#ifndef FKT_CALL_TABLE_H
#define FKT_CALL_TABLE_H

#include <linux/types.h>

#include <fkt/wire.h>

#include "../calls/frames.h"

struct file;
struct fkt_program;
struct fkt_start;

/* Of one CPU, which alone counts; each with one instruction, so interrupts cannot come between. */
struct fkt_call_sums {
	u64 kept;
	u64 dropped;
	u64 missed;
};

/* 16 bytes, so that a probe finds it by a shift. */
struct fkt_call_slot {
	/*
	 * Low half of what the call returns to from its nop (calls.h): all code of the kernel lies in the last 2 GB of
	 * the address space, so it says which address it is. 0: the slot is free.
	 */
	u32 body;
	/* The low FKT_ARG_BITS bits; above them the number of its layer's bit in the mask, and FKT_CALL_ASKS. */
	u32 number;
	struct fkt_call_sums __percpu *sums; /* of the function's instrument */
};

#define FKT_CALL_ASKS (1U << 31) /* `asks` of the table says which programs run; else every call is recorded */

/* The programs of a function (call_hit.h). */
struct fkt_call_programs {
	const struct fkt_program *entry, *exit;
};

struct fkt_call_table {
	/* hash table with open addressing: 1 << (32 - shift) slots, at most half of them in use */
	struct fkt_call_slot *slots;
	u32 shift;
	u32 last; /* number of the last slot */
	const struct fkt_call_programs **asks; /* by slot */
	unsigned long *functions; /* in the order of their kinds of frames */
	u32 of_frame[FKT_CALLS_FRAMES]; /* number of functions */
	u32 count;
	u32 instruments;
	u64 shortest; /* ticks */
	void *program_block; /* all programs */
	struct fkt_call_programs *programs;
	struct fkt_call_sums __percpu *sums; /* by instrument */
};

struct fkt_call_table *fkt_call_table_get(const struct file *owner, const struct fkt_start *start);
void fkt_call_table_clear(struct fkt_call_table *table);
void fkt_call_table_free(struct fkt_call_table *table);

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
	return (slot->number & ~FKT_CALL_ASKS) >> FKT_ARG_BITS;
}

#endif /* FKT_CALL_TABLE_H */
