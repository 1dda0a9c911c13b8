/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fast path: functions and instructions whose hits need no program: an event without values, a call whose values are
 * unmodified arguments and results, or a counter. Tests that do not depend on the hit are made when the table, the mask
 * or a key changes. Probes look here first, and then in the table of all places (call_table.h).
 */
#ifndef FKT_CALL_QUICK_H
#define FKT_CALL_QUICK_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "call_slots.h"

struct fkt_hits;

#define FKT_CALL_QUICK_VALUES 8

/*
 * Values of programs that only emit arguments and results (call_hit.h), or arguments of a tracepoint: for each value
 * its word's place, and the bits taken from it, with or without their sign. The first FKT_CALL_QUICK_VALUES - count
 * elements are unused, so that a probe counts up to 0.
 */
struct fkt_call_quick_values {
	u64 head; /* the event's first word, without the time */
	u64 bytes; /* of the event */
	u64 commit; /* fkt_ring_to_commit() */
	s64 first; /* - count */
	u32 count; /* of values */
	bool of_arguments; /* some are arguments: the call's frame must keep these */
	u64 from[FKT_CALL_QUICK_VALUES]; /* bytes, in struct fkt_arguments_call; or among a tracepoint's arguments */
	u64 mask[FKT_CALL_QUICK_VALUES];
	u64 sign[FKT_CALL_QUICK_VALUES]; /* the highest bit of the mask, or 0 */
};

/* 32 bytes: half a cache line. */
struct fkt_call_quick_slot {
	/*
	 * Low half: the low half of the address of the function's body (call.h) or of the instruction. High half: what
	 * is done with a hit; that of the full address means an event without values. 0: free slot.
	 */
	u64 body;
	u64 head; /* the event's first word, without the time; or the number of a function with values, or of a flag */
	struct fkt_hits __percpu *hits; /* the instrument's: fkt_call_quick_take_hits() */
	const struct fkt_call_quick_values *values; /* of calls; FKT_CALL_QUICK_NO_ROOM of a function without values */
};

/* Bytes of an event for which no page of a ring has room, whatever its state is: so it is never written. */
#define FKT_CALL_QUICK_NO_ROOM 0x6000U

#define FKT_CALL_QUICK_COUNT(body) ((u64)(u32)(body))
#define FKT_CALL_QUICK_HAS_VALUES(body) ((u64)(u32)(body) | 1ULL << 32)
/* Calls of threads without a flag are dropped, all others are left to the table of all functions. */
#define FKT_CALL_QUICK_NEEDS_FLAG(body) ((u64)(u32)(body) | 2ULL << 32)

struct fkt_call_quick {
	/* hash table with open addressing, at most half full */
	u32 slot_mask; /* of a slot's offset (bytes): their number is a power of two */
	u32 count; /* of its slots */
	u64 layers; /* of its places: a mask */
	const struct fkt_instrument_slot **instruments; /* by slot */
	struct fkt_call_quick_values *values; /* by program */
	struct fkt_call_quick_slot slots[];
};

bool fkt_call_quick_may_wait(const struct fkt_program *entry);
u32 fkt_call_quick_task_flag(const struct fkt_program *program);
bool fkt_call_quick_emits(struct fkt_call_quick_values *values, const struct fkt_program *program);
int fkt_call_quick_make(struct fkt_call_table *table, enum fkt_call_form form);
void fkt_call_quick_take_hits(struct fkt_call_quick *quick);
void fkt_call_quick_free(struct fkt_call_quick *quick);

/* Where the search for a function begins (bytes in `slots`); the next slots follow, and after the last the first. */
static __always_inline u64 fkt_call_quick_place(const struct fkt_call_quick *quick, unsigned long body)
{
	/*
	 * Slots are 32 bytes, functions at least 16 apart: the low bits of the product differ for functions that are
	 * near to each other. The register is one that the compiler does not prefer to those of the probes' arguments,
	 * which it would copy to others.
	 */
	register u64 place asm("r11") = (u32)body * 0x9e3779b1U;

	asm("andl %[mask], %k[place]" : [place] "+r"(place) : [mask] "m"(quick->slot_mask) : "cc");
	return place;
}

static __always_inline const struct fkt_call_quick_slot *fkt_call_quick_at(const struct fkt_call_quick *quick,
									  u64 place)
{
	/* In this order, so that the compiler adds both in the address of the load, not before. */
	return ((const struct fkt_call_quick *)((const void *)quick + place))->slots;
}

static __always_inline const struct fkt_call_quick_slot *fkt_call_quick_first(const struct fkt_call_quick *quick,
									     unsigned long body)
{
	return fkt_call_quick_at(quick, fkt_call_quick_place(quick, body));
}

/* Returns the slot of the function, whatever is done with its calls; NULL: there is none. first: where it begins. */
static __always_inline const struct fkt_call_quick_slot *
fkt_call_quick_search(const struct fkt_call_quick *quick, const struct fkt_call_quick_slot *first, unsigned long body)
{
	u32 at = (const void *)first - (const void *)quick->slots;

	while ((u32)first->body != (u32)body) {
		if (!first->body)
			return NULL;
		at = (at + sizeof(*first)) & quick->slot_mask;
		first = (const void *)quick->slots + at;
	}
	return first;
}

#endif /* FKT_CALL_QUICK_H */
