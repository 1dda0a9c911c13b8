/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a table of instruments: structures in user memory, given with an ioctl, or in the kernel's, which the
 * module makes itself (kft/). All of them have addresses as 64-bit numbers.
 */
#ifndef FKT_GIVEN_H
#define FKT_GIVEN_H

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>

enum fkt_given {
	FKT_GIVEN_BY_USER,
	FKT_GIVEN_BY_KERNEL,
};

/* Returns 0 or -EFAULT. */
static inline int fkt_given_copy(void *to, u64 at, size_t bytes, enum fkt_given by)
{
	if (by == FKT_GIVEN_BY_USER)
		return copy_from_user(to, u64_to_user_ptr(at), bytes) ? -EFAULT : 0;
	memcpy(to, (const void *)(unsigned long)at, bytes);
	return 0;
}

/* Returns a copy, which the caller must free with kvfree(), or an ERR_PTR. */
static inline void *fkt_given_dup(u64 at, size_t bytes, enum fkt_given by)
{
	void *copy;

	if (by == FKT_GIVEN_BY_USER)
		return vmemdup_user(u64_to_user_ptr(at), bytes);
	copy = kvmalloc(bytes, GFP_KERNEL_ACCOUNT);
	if (!copy)
		return ERR_PTR(-ENOMEM);
	memcpy(copy, (const void *)(unsigned long)at, bytes);
	return copy;
}

#endif /* FKT_GIVEN_H */
