/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions whose calls are recorded, and the programs that decide about each call. */
#ifndef FKT_CALL_TABLE_H
#define FKT_CALL_TABLE_H

#include <linux/types.h>

struct file;
struct fkt_program;
struct fkt_start;

struct fkt_call_slot {
	unsigned long body; /* what the call returns to from its nop (calls.h); 0: the slot is free */
	u32 number;
	u16 program;
	u16 instrument;
};

/* Of one CPU, which alone counts; each with one instruction, so interrupts cannot come between. */
struct fkt_call_sums {
	u64 kept;
	u64 dropped;
	u64 missed;
};

struct fkt_call_table {
	unsigned long *functions;
	u32 count;
	u32 instruments;
	u64 shortest; /* ticks */
	/* hash table with open addressing: 1 << (64 - shift) slots, at most half of them in use */
	struct fkt_call_slot *slots;
	u32 shift;
	void *program_block; /* all programs */
	const struct fkt_program **programs;
	struct fkt_call_sums __percpu *sums; /* by instrument */
};

struct fkt_call_table *fkt_call_table_get(const struct file *owner, const struct fkt_start *start);
void fkt_call_table_free(struct fkt_call_table *table);

/* Where the search for a function's slot begins; the next ones follow, and after the last the first. */
static __always_inline u64 fkt_call_hash(const struct fkt_call_table *table, unsigned long body)
{
	return body * 0x9e3779b97f4a7c15ULL >> table->shift;
}

/* Returns the slot of the function with this body; NULL: the table does not have it. Any context. */
static __always_inline const struct fkt_call_slot *fkt_call_find(const struct fkt_call_table *table, unsigned long body)
{
	const u64 last = (1ULL << (64 - table->shift)) - 1;
	u64 at = fkt_call_hash(table, body);

	while (table->slots[at].body != body) {
		if (!table->slots[at].body)
			return NULL;
		at = (at + 1) & last;
	}
	return &table->slots[at];
}

#endif /* FKT_CALL_TABLE_H */
