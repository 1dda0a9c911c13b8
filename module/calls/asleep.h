/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls during which the machine sleeps: their clock cannot be trusted, and some of them never return. */
#ifndef FKT_CALLS_ASLEEP_H
#define FKT_CALLS_ASLEEP_H

int fkt_calls_power_init(void);
void fkt_calls_power_exit(void);

#endif /* FKT_CALLS_ASLEEP_H */
