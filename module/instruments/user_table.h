/* SPDX-License-Identifier: GPL-2.0-only */
/* The places in user programs that are recorded, and the programs that decide about each hit. */
#ifndef FKT_USER_TABLE_H
#define FKT_USER_TABLE_H

#include <linux/types.h>

#include <fkt/ioctl.h>

struct file;
struct fkt_instrument_slot;
struct fkt_instrument_table;
struct fkt_program;

struct fkt_user_slot {
	const struct fkt_instrument_slot *instrument;
	/* The second one runs when a function returns. */
	const struct fkt_program *entry, *exit;
	u64 mark; /* fkt_program_mark() of both */
	struct file *file; /* held */
	u64 offset, counter; /* in the file, as in struct fkt_user */
	u32 number;
	u32 how; /* enum fkt_user_how */
	bool needs_entry; /* a hit at a return needs what was seen at the entry */
	u64 probe; /* set by user/user_arm.c: id of the place's probe; 0: none yet */
};

struct fkt_user_table {
	struct fkt_user_slot *slots;
	u32 count;
	bool has_returns; /* places that see functions return */
	void *program_block; /* all programs */
	/* Set by user/user_arm.c: the slots by the number of their probe; NULL: a probe without a slot. */
	const struct fkt_user_slot **of_probe;
};

struct fkt_user_table *fkt_user_table_get(u64 user, const struct fkt_instrument_table *instruments);
void fkt_user_table_free(struct fkt_user_table *table);

#endif /* FKT_USER_TABLE_H */
