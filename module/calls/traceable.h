/* SPDX-License-Identifier: GPL-2.0-only */
/* Which functions may be traced, and functions of the kernel that are not exported. */
#ifndef FKT_CALLS_TRACEABLE_H
#define FKT_CALLS_TRACEABLE_H

#include <linux/types.h>

int fkt_functions_init(void);
unsigned long fkt_calls_symbol(const char *name);
bool fkt_calls_stays(unsigned long function);
bool fkt_calls_may_trace(unsigned long function);
bool fkt_functions_direct(unsigned long nop);
int fkt_functions_allow(unsigned long *functions, unsigned int count, bool must_return);
unsigned int fkt_functions_known(unsigned long *functions, unsigned int count);

#endif /* FKT_CALLS_TRACEABLE_H */
