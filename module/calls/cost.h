/* SPDX-License-Identifier: GPL-2.0-only */
/* What tracing a call takes on this machine. */
#ifndef FKT_CALLS_COST_H
#define FKT_CALLS_COST_H

struct fkt_calls_totals;

void fkt_cost_measure(void);
void fkt_cost_get(struct fkt_calls_totals *totals);

/* In nothing.S. */
void fkt_calls_nothing(void);
void fkt_calls_nothing_body(void);
void fkt_calls_untraced(void);

#endif /* FKT_CALLS_COST_H */
