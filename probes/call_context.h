/* SPDX-License-Identifier: GPL-2.0-only */
/* The context of a hit that programs ask for (enum fkt_context). */
#ifndef FKT_CALL_CONTEXT_H
#define FKT_CALL_CONTEXT_H

#include <linux/types.h>

#include <fkt/program.h>

void fkt_lowest_stack_reset(void);
u32 fkt_lowest_stack(void);
void fkt_lowest_stack_take(unsigned long stack);
u64 fkt_call_context(const u64 *hit, u32 which, u32 parameter);

#endif /* FKT_CALL_CONTEXT_H */
