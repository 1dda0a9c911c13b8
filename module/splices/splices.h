/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module fkt_splices: instructions of the kernel that have a jump in their place, to code that counts or calls and
 * then does what they did (GILK's instruments, with the kernel's own way to patch its text).
 */
#ifndef FKT_SPLICES_H
#define FKT_SPLICES_H

#include <linux/percpu.h>
#include <linux/types.h>

struct fkt_splice {
	unsigned long address;
	u64 __percpu *count; /* valid until the splice is disarmed; NULL: a function is called instead */
	u32 layer; /* number of the bit of the mask by which hits are counted */
	bool takes_registers; /* the function called is with_registers() */
	bool is_armed; /* out: false: it must be seen in another way */
};

/* What hits do: the same for all. Either function may count as well. */
struct fkt_splice_hits {
	const u64 *mask;
	/*
	 * Called in any context. Both save all registers, and must not sleep. address: of the instruction, in the
	 * register of the first argument. with_registers(): on the stack, above where it returns to, are that register
	 * and the flags as they were.
	 */
	void (*plain)(unsigned long address);
	void (*with_registers)(unsigned long address);
};

int fkt_splices_arm(struct fkt_splice *splices, unsigned int count, const struct fkt_splice_hits *hits);
void fkt_splices_disarm(const unsigned long *keep, unsigned int count);

#endif /* FKT_SPLICES_H */
