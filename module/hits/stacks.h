/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks of hits (FKT_ACTION_STACK). Called with preemption disabled, in any context, NMI included;
 * fkt_stack_begin() before the hit's event is written, fkt_stack_end() behind it.
 */
#ifndef FKT_STACKS_H
#define FKT_STACKS_H

#include <linux/types.h>

#define FKT_STACK_FRAMES 60 /* at most, of the kernel and of the user program */

struct pt_regs;

/* Where the stack of a hit begins. */
struct fkt_stack_place {
	unsigned long first; /* address in the function that is not on the stack (any more); 0: none */
	/* the frames from this address on are the hit's, those below belong to the probe; NULL with `regs` */
	const void *frames;
	struct pt_regs *regs; /* registers at the hit, whose address is `first`; NULL: there are none */
	/*
	 * Of a place in a user program: its registers. The kernel's frames there are those of the probe alone, and are
	 * not recorded.
	 */
	const struct pt_regs *user;
	/* `user` are those of a function's first instruction: its return address is the top of the stack */
	bool entered;
};

bool fkt_stack_begin(void);
void fkt_stack_end(u32 instrument, const struct fkt_stack_place *place, u64 *words);

#endif /* FKT_STACKS_H */
