/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flags of a recording, which instruments set and clear, and which the conditions of other instruments test. A flag is
 * a byte of its own, so that CPUs change different flags with plain stores. Other CPUs see a change a moment later.
 */
#ifndef FKT_FLAGS_H
#define FKT_FLAGS_H

#include <linux/compiler.h>
#include <linux/types.h>

#include <fkt/program.h>

extern bool fkt_flags[FKT_PROGRAM_FLAGS];

/* flag: below FKT_PROGRAM_FLAGS. Any context. */
static __always_inline bool fkt_flag_is_set(u32 flag)
{
	return READ_ONCE(fkt_flags[flag]);
}

static __always_inline void fkt_flag_set(u32 flag, bool is_set)
{
	WRITE_ONCE(fkt_flags[flag], is_set);
}

#endif /* FKT_FLAGS_H */
