/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds functions and variables of the kernel that are not exported. The functions are called by static calls of their
 * declared type: with IBT a call through a pointer must lead to an ENDBR, which the kernel removes from functions whose
 * address it never takes.
 */
#ifndef FKT_KERNEL_NAMES_H
#define FKT_KERNEL_NAMES_H

#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/static_call.h>

#include "arch/arch.h"

/* Returns the address of kallsyms_lookup_name(), which finds the others, or an ERR_PTR. */
static inline void *fkt_find_lookup_name(void)
{
	struct kprobe kprobe = { .symbol_name = "kallsyms_lookup_name" };
	int err = register_kprobe(&kprobe);
	void *begin;

	if (err)
		return ERR_PTR(err);
	unregister_kprobe(&kprobe);
	/* A kprobe at a function's begin may be placed behind the ENDBR there. */
	begin = (void *)kprobe.addr - FKT_ENDBR_BYTES;
	return fkt_is_endbr(*(u32 *)begin) ? begin : kprobe.addr;
}

/* Makes the static call lead to the address that was found for a name. Returns false: none was found. */
#define fkt_set_call(call, address)                      \
	({                                               \
		void *const found = (void *)(address);   \
		if (found)                               \
			static_call_update(call, found); \
		found != NULL;                           \
	})

#endif /* FKT_KERNEL_NAMES_H */
