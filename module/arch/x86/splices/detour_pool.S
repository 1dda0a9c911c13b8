/* SPDX-License-Identifier: GPL-2.0-only */
/* The pools of detours (splices/pool.h). Long nops between the breakpoints, because objtool decodes all of it. */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/unwind_hints.h>

#include "splices/detour.h"

	.text
	.balign	FKT_COUNTER_BYTES
	.globl	fkt_counter_pool
fkt_counter_pool:
	ANNOTATE_NOENDBR
	.rept	FKT_COUNTERS * FKT_COUNTER_BYTES / FKT_MARKER_BYTES
	.byte	0xcc
	.nops	FKT_MARKER_BYTES - 2
	.byte	0xcc
	.endr

	.globl	fkt_marker_pool
fkt_marker_pool:
	ANNOTATE_NOENDBR
	.rept	FKT_MARKERS
	.byte	0xcc
	.nops	FKT_MARKER_BYTES - 2
	.byte	0xcc
	.endr
