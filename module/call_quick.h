/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions whose calls need least: each call is recorded, without values or with some that are arguments and
 * results as they are, or only counted. What a hit of them needs is prepared here, so that all tests that are the same
 * for each hit are made when the table, the mask or a key changes, and none of them at a hit. probes/calls.c looks here
 * first; what it does not find is in the table of all functions (call_table.h), by which every call can be recorded.
 */
#ifndef FKT_CALL_QUICK_H
#define FKT_CALL_QUICK_H

#include <linux/compiler.h>
#include <linux/types.h>

struct fkt_call_table;
struct fkt_hits;
struct fkt_instrument_slot;
struct fkt_instrument_table;

/* A value of a word: its low bits, with their sign or without. */
struct fkt_call_quick_value {
	u32 from; /* number of the word */
	u64 mask;
	u64 sign; /* the highest bit of the mask, or 0 */
};

#define FKT_CALL_QUICK_VALUES 8

/* Programs that only emit such values (call_hit.h). */
struct fkt_call_quick_values {
	u64 mark; /* of the programs */
	u64 head; /* the event's first word, without the time */
	u32 kept; /* number of words that are kept at the entry, from the arguments: in[] */
	u32 count; /* number of values of the event, from the words of the stack from struct fkt_call on: out[] */
	struct fkt_call_quick_value in[FKT_CALL_QUICK_VALUES], out[FKT_CALL_QUICK_VALUES];
};

/* 32 bytes: half a cache line. */
struct fkt_call_quick_slot {
	/*
	 * The low half of the address of the function's body (calls.h), and in the high half what is done with its
	 * calls. It is recorded without values if that makes it the address. 0: the slot is free.
	 */
	u64 body;
	u64 head; /* the event's first word, without the time; of a function with values its number */
	struct fkt_hits __percpu *hits; /* the instrument's: fkt_call_quick_take_hits() */
	const struct fkt_call_quick_values *values;
};

#define FKT_CALL_QUICK_COUNT(body) ((u64)(u32)(body))
#define FKT_CALL_QUICK_HAS_VALUES(body) ((u64)(u32)(body) | 1ULL << 32)

struct fkt_call_quick {
	/* hash table with open addressing, at most half full */
	u32 slot_mask; /* of a slot's offset (bytes): their number is a power of two */
	u32 count; /* of its slots */
	u64 layers; /* of its functions: a mask */
	const struct fkt_instrument_slot **instruments; /* by slot */
	struct fkt_call_quick_values *values; /* by program */
	struct fkt_call_quick_slot slots[];
};

/*
 * The one in force; never NULL. For probes, with preemption disabled, in any context. One without functions is in force
 * unless all layers of the functions are in the mask, and a hit needs nothing but to be recorded or counted.
 */
extern const struct fkt_call_quick *fkt_call_quick;

int fkt_call_quick_make(struct fkt_call_table *table);
void fkt_call_quick_take_hits(struct fkt_call_quick *quick);
void fkt_call_quick_free(struct fkt_call_quick *quick);
void fkt_call_quick_choose(const struct fkt_instrument_table *instruments);
void fkt_call_quick_none(void);
const struct fkt_call_quick_slot *fkt_call_quick_search(const struct fkt_call_quick *quick, unsigned long body);

/* Where the search for a function begins; the next slots follow, and after the last the first. */
static __always_inline const struct fkt_call_quick_slot *fkt_call_quick_first(const struct fkt_call_quick *quick,
									     unsigned long body)
{
	/*
	 * Slots are 32 bytes, functions at least 16 apart: the low bits of the product differ for functions that are
	 * near to each other.
	 */
	return (const void *)quick->slots + ((u32)body * 0x9e3779b1U & quick->slot_mask);
}

#endif /* FKT_CALL_QUICK_H */
