/* SPDX-License-Identifier: GPL-2.0-only */
/* The same event for LTTng-UST, whose headers read this file several times. */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER user_cost
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "user_ust.h"

#if !defined(USER_UST_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define USER_UST_H

#include <lttng/tracepoint.h>

TRACEPOINT_EVENT(user_cost, two, TP_ARGS(int, a, int, b), TP_FIELDS(ctf_integer(int, a, a) ctf_integer(int, b, b)))

#endif

#include <lttng/tracepoint-event.h>
