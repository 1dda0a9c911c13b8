/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Ids and layer bits, expanded from the catalogue. */
#ifndef FKT_EVENTS_H
#define FKT_EVENTS_H

#define FKT_VARIABLE 0xffff /* words: as many as the argument says */

/* FKT_E_SYS_ENTRY = 0x010, ... */
enum fkt_event_id {
#define FKT_EVENT(id, NAME, LAYER, name, role, words, fields) FKT_E_##NAME = id,
#include <fkt/events.def>
};

/* FKT_L_SYSTEM = 0, ...: bit numbers. */
enum fkt_layer {
#define FKT_LAYER(bit, NAME, name, text) FKT_L_##NAME = bit,
#include <fkt/events.def>
};

/* FKT_N_SYS_ENTRY = 0, ...: words after the event word. */
enum fkt_event_words {
#define FKT_EVENT(id, NAME, LAYER, name, role, words, fields) FKT_N_##NAME = words,
#include <fkt/events.def>
};

/* Mask of every layer that exists. */
static inline unsigned long long fkt_all_layers(void)
{
#define FKT_LAYER(bit, NAME, name, text) | 1ULL << (bit)
	return 0ULL
#include <fkt/events.def>
		;
}

#endif /* FKT_EVENTS_H */
