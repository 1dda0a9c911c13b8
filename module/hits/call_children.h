/* SPDX-License-Identifier: GPL-2.0-only */
/* Held calls that a recorded call contains (struct fkt_keep). */
#ifndef FKT_CALL_CHILDREN_H
#define FKT_CALL_CHILDREN_H

#include <linux/types.h>

#include "calls/call.h"

struct fkt_instrument_slot;

void fkt_call_children(const struct fkt_instrument_slot *instrument, const struct fkt_call *call, u64 ticks,
		       const struct fkt_call_task *task, fkt_calls_take_held_fn take_held);

#endif /* FKT_CALL_CHILDREN_H */
