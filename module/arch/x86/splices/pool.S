/* SPDX-License-Identifier: GPL-2.0-only */
/* The pool of detours: text of this module, so that jumps reach it, and the unwinder finds what is said of it. */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/unwind_hints.h>

#include "splices/detour.h"

	.text
	.balign	FKT_DETOUR_BYTES
	.globl	fkt_detour_pool
fkt_detour_pool:
	ANNOTATE_NOENDBR
	.fill	FKT_DETOURS * FKT_DETOUR_BYTES, 1, 0xcc
