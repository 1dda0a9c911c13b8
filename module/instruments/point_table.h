/* SPDX-License-Identifier: GPL-2.0-only */
/* The tracepoints that are recorded, and the programs that decide about each hit. */
#ifndef FKT_POINT_TABLE_H
#define FKT_POINT_TABLE_H

#include <linux/types.h>

#include <fkt/ioctl.h>

struct fkt_call_quick_values;
struct fkt_instrument_slot;
struct fkt_instrument_table;
struct fkt_program;
struct fkt_record_type;
struct tracepoint;

struct fkt_point_slot {
	const struct fkt_program *program;
	const struct fkt_instrument_slot *instrument;
	const struct fkt_point_table *table; /* that contains the slot */
	u32 number;
	u32 arguments;
	struct tracepoint *tracepoint; /* set by hits/points.c; NULL: not found, or its module has gone */
	const struct fkt_record_type *record; /* NULL: the program does not use it */
	char name[FKT_POINT_NAME_BYTES]; /* the tracepoint's; of a probe: its module's */
	const char *probe; /* description of a module's probe; NULL: a tracepoint */
	/* Each hit is recorded with unmodified arguments, which needs no program; NULL: the program must run. */
	const struct fkt_call_quick_values *quick;
};

struct fkt_point_table {
	struct fkt_point_slot *slots;
	u32 count;
	void *program_block; /* all programs */
	/* Set by hits/points.c: the slots by the number of their hook; NULL: a hook without a slot. */
	const struct fkt_point_slot **of_hook;
	/* The module fkt_records is held: cleared by fkt_point_table_drop_records(). */
	bool has_records;
};

struct fkt_point_table *fkt_point_table_get(u64 user, const struct fkt_instrument_table *instruments);
void fkt_point_table_drop_records(struct fkt_point_table *table);
void fkt_point_table_clear(struct fkt_point_table *table);
void fkt_point_table_free(struct fkt_point_table *table);

#endif /* FKT_POINT_TABLE_H */
