/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of tracepoints as their users know them: what the kernel's own TP_fast_assign makes of the arguments.
 * The module fkt_records has a function for each class of events that fills a record in memory of the caller; it has
 * no probes and writes nowhere else.
 */
#ifndef FKT_RECORDS_H
#define FKT_RECORDS_H

#include <linux/types.h>

struct trace_event_fields;

/* Changes when a structure below changes: the modules fkt and fkt_records may be of different builds. */
#define FKT_RECORDS_VERSION 1

/* Memory for one record. */
struct fkt_record_room {
	void *record; /* aligned to 8 */
	u32 bytes;
};

struct fkt_record_type {
	const char *name; /* of the tracepoint */
	const struct trace_event_fields *fields; /* the last one has no name */
	/*
	 * u32 fill(const struct fkt_record_room *room, the tracepoint's arguments): returns the record's size, or 0 if
	 * the room is too small. May be called wherever a probe of the tracepoint may.
	 */
	void *fill;
	u32 bytes; /* of the part that each record has */
	u32 arguments; /* that the tracepoint passes, a word each */
};

/* The structure that the module fkt_records exports. */
struct fkt_record_types {
	u32 version; /* FKT_RECORDS_VERSION */
	/* Returns how the records of this tracepoint are made; NULL: the module does not know its header. */
	const struct fkt_record_type *(*find)(const char *name);
};

extern const struct fkt_record_types fkt_record_types;

#endif /* FKT_RECORDS_H */
