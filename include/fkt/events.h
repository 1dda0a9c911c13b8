/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Ids and layer bits, expanded from the catalogue. */
#ifndef FKT_EVENTS_H
#define FKT_EVENTS_H

#define FKT_VARIABLE 0xffff /* words: the argument holds their number */

/* FKT_E_SYS_ENTRY = 0x010, ... */
enum fkt_event_id {
#define FKT_EVENT(id, NAME, LAYER, name, role, words, fields) FKT_E_##NAME = id,
#include <fkt/events.def>
};

/* FKT_P_SYSCALL = 0x800, ...: the first id of each kind of pair. */
enum fkt_pair_id {
#define FKT_PAIR(id, NAME, count, BEGIN, END, end_arg) FKT_P_##NAME = id,
#include <fkt/events.def>
};

/* FKT_PK_SYSCALL = 0, ...: numbers the kinds of pairs. */
enum fkt_pair_kind {
#define FKT_PAIR(id, NAME, count, BEGIN, END, end_arg) FKT_PK_##NAME,
#include <fkt/events.def>
	FKT_PAIR_KINDS,
};

/* FKT_PN_SYSCALL = 512, ...: how many ids it has. */
enum fkt_pair_count {
#define FKT_PAIR(id, NAME, count, BEGIN, END, end_arg) FKT_PN_##NAME = count,
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

/* Returns whether there is a layer with this bit. */
static inline int fkt_is_layer(unsigned int bit)
{
	return bit < 64 && (fkt_all_layers() >> bit & 1);
}

#endif /* FKT_EVENTS_H */
