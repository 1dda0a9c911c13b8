/* SPDX-License-Identifier: GPL-2.0-only */
/* How much of the stack is left, for frames that are put on it (frames.h). */
#ifndef FKT_CALLS_ROOM_H
#define FKT_CALLS_ROOM_H

#include <linux/percpu.h>
#include <linux/types.h>

DECLARE_PER_CPU(unsigned long, fkt_room_from);

void fkt_room_init(void);
bool fkt_room_on_stack(unsigned int words);

#endif /* FKT_CALLS_ROOM_H */
