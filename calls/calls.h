/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces calls of kernel functions: the time of their entry, the time of their return, and the result. For one user at
 * a time.
 *
 * Calls that are asleep when tracing ends return through the code of this module, perhaps days later. So it is a
 * module of its own, which cannot be unloaded before the last of them has returned; its user can be.
 */
#ifndef FKT_CALLS_H
#define FKT_CALLS_H

#include <linux/types.h>

/* Bytes of a function's nop, after which its body begins. */
#define FKT_CALLS_NOP_BYTES 5

/* A call that returns now; it lies on the stack, as trampoline.S pushes it. */
struct fkt_call {
	u64 result_high; /* rdx: the upper half of a result of 16 bytes */
	u64 result; /* rax */
	u64 begin; /* TSC at the entry */
	unsigned long body; /* address of the function's nop + FKT_CALLS_NOP_BYTES */
	unsigned long caller; /* the address that it returns to */
};

/* end: TSC at the return. Called in any context, NMI included; must not sleep or be traced. */
typedef void (*fkt_call_fn)(const struct fkt_call *call, u64 end);

struct fkt_calls_plan {
	/* Addresses of functions as kallsyms has them. Changed: their order. */
	unsigned long *functions;
	unsigned int count;
	u64 shortest; /* ticks: shorter calls are dropped before `record` is called */
	fkt_call_fn record;
};

int fkt_calls_begin(const struct fkt_calls_plan *plan);
void fkt_calls_end(void);
void fkt_calls_set_shortest(u64 ticks);
unsigned long fkt_calls_in_flight(void);

#endif /* FKT_CALLS_H */
