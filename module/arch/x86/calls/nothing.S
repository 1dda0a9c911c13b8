/* SPDX-License-Identifier: GPL-2.0-only */
/* Two functions that do nothing, for cost.c: the first one is called through, as a traced function is. */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/ibt.h>
#include <asm/nospec-branch.h>

SYM_FUNC_START(fkt_calls_nothing)
	call	fkt_calls_enter
SYM_INNER_LABEL(fkt_calls_nothing_body, SYM_L_GLOBAL)
	ANNOTATE_NOENDBR
	RET
SYM_FUNC_END(fkt_calls_nothing)

SYM_FUNC_START(fkt_calls_untraced)
	RET
SYM_FUNC_END(fkt_calls_untraced)
