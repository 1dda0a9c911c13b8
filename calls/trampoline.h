/* SPDX-License-Identifier: GPL-2.0-only */
/* What trampoline.S and calls.c share. */
#ifndef FKT_CALLS_TRAMPOLINE_H
#define FKT_CALLS_TRAMPOLINE_H

#include "calls.h"

/* In trampoline.S: where a traced function goes first, and what it returns to. C code only uses their addresses. */
void fkt_calls_enter(void);
void fkt_calls_return(void);

/* Called by trampoline.S when a call returns that took long enough; end: TSC. In any context, NMI included. */
void fkt_calls_returned(const struct fkt_call *call, u64 end);

#endif /* FKT_CALLS_TRAMPOLINE_H */
