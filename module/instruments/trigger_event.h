/* SPDX-License-Identifier: GPL-2.0-only */
/* Called after an event was written, to run the trigger's program (trigger.h). */
#ifndef FKT_TRIGGER_EVENT_H
#define FKT_TRIGGER_EVENT_H

#include <linux/jump_label.h>
#include <linux/types.h>

/* A trigger watches events that are not system calls. */
DECLARE_STATIC_KEY_FALSE(fkt_key_trigger_events);

void fkt_trigger_event(u32 id);

#endif /* FKT_TRIGGER_EVENT_H */
