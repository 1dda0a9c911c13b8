/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions whose calls are traced. Callers serialise all calls. */
#ifndef FKT_CALLS_CALL_PLAN_H
#define FKT_CALLS_CALL_PLAN_H

#include <linux/percpu.h>
#include <linux/types.h>

struct fkt_calls_plan;
struct module;

DECLARE_PER_CPU(u64, fkt_plan_taken);
DECLARE_PER_CPU(u64, fkt_plan_shared);

bool fkt_plan_returns(unsigned long address);
int fkt_plan_make(const struct fkt_calls_plan *plan);
int fkt_plan_register(void);
void fkt_plan_unregister(void);
void fkt_plan_free(void);
int fkt_plan_arm(const struct fkt_calls_plan *plan);
void fkt_plan_disarm(const struct fkt_calls_plan *plan);
void fkt_plan_drop(const struct module *module);

#endif /* FKT_CALLS_CALL_PLAN_H */
