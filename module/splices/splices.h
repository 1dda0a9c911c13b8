/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module fkt_splices: instructions of the kernel that are counted by a jump in their place, to code that counts and
 * then does what they did (GILK's instruments, with the kernel's own way to patch its text).
 */
#ifndef FKT_SPLICES_H
#define FKT_SPLICES_H

#include <linux/percpu.h>
#include <linux/types.h>

struct fkt_splice {
	unsigned long address;
	u64 __percpu *count; /* valid until the splice is disarmed */
	u32 layer; /* number of the bit of the mask by which hits are counted */
	bool is_armed; /* out: false: it must be seen in another way */
};

int fkt_splices_arm(struct fkt_splice *splices, unsigned int count, const u64 *mask);
void fkt_splices_disarm(const unsigned long *keep, unsigned int count);

#endif /* FKT_SPLICES_H */
