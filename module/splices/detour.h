/* SPDX-License-Identifier: GPL-2.0-only */
/* The code that an instruction is replaced by, and which instructions can be. */
#ifndef FKT_DETOUR_H
#define FKT_DETOUR_H

#include <linux/types.h>

#define FKT_COUNTERS 8192 /* detours that count or call */
#define FKT_COUNTER_BYTES 64 /* of each */
#define FKT_COUNTER_STACKS 6
#define FKT_MARKERS 131072 /* detours that mark a byte */
#define FKT_MARKER_BYTES 32
#define FKT_MARKER_STACKS 2
#define FKT_JUMP_BYTES 5
#define FKT_LONGEST_INSTRUCTION 15
#define FKT_SKIP_ALWAYS 0xeb

#ifndef __ASSEMBLER__

#include <fkt/code_rules.h>

/* What the stack pointer is short of in a detour, from an offset in it on: for the unwinder. */
struct fkt_detour_stack {
	u8 offset; /* in the detour */
	u8 pushed; /* bytes */
	bool is_behind; /* the instruction was executed already */
};

struct fkt_detour {
	u8 code[FKT_COUNTER_BYTES];
	u8 original[FKT_LONGEST_INSTRUCTION + 1]; /* the instruction */
	u8 length; /* of the instruction (bytes) */
	u8 code_bytes;
	u8 skips; /* offset of the jump over the counter, which is taken if it becomes FKT_SKIP_ALWAYS; 0: none */
	u8 calls; /* offset of the call of FKT_JUMP_BYTES; 0: none */
	u8 stacks; /* number of elements, ascending by offset */
	struct fkt_detour_stack stack[FKT_COUNTER_STACKS];
};

int fkt_detour_make(struct fkt_detour *detour, const struct fkt_code *code, const u8 *original, unsigned long address,
		    unsigned long place, u64 count, const u64 *mask, u32 layer);
/* How a function is called. */
#define FKT_CALL_WITH_FLAGS 0x1 /* it looks at them */
/*
 * With access to user memory closed, since it may let another task run. Only functions that open it themselves have it
 * open: none is called so that can be traced.
 */
#define FKT_CALL_CLOSES_ACCESS 0x2

int fkt_detour_make_call(struct fkt_detour *detour, const struct fkt_code *code, const u8 *original,
			 unsigned long address, unsigned long place, const void *function, u32 how);
int fkt_detour_make_marker(struct fkt_detour *detour, const struct fkt_code *code, const u8 *original,
			   unsigned long address, unsigned long place, const u8 *mark);
void fkt_detour_jump(u8 *code, unsigned long address, unsigned long place);

#endif /* !__ASSEMBLER__ */

#endif /* FKT_DETOUR_H */
