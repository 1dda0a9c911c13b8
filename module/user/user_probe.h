/* SPDX-License-Identifier: GPL-2.0-only */
/* The uprobes of places in user programs, for what arms them (user_arm.c) and what handles their hits (user_hits.c). */
#ifndef FKT_USER_PROBE_H
#define FKT_USER_PROBE_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/uprobes.h>

#include "base/compat.h"

#include <fkt/ioctl.h>

#include "instruments/instruments_now.h"
#include "instruments/user_table.h"

struct file;
struct inode;
struct pt_regs;

/* While tables are exchanged, there are the probes of both. */
#define FKT_USER_PROBES (2 * FKT_USERS_MOST)

/* A uprobe that is registered. It stays when the next table has the place, too. */
struct fkt_user_probe {
	struct uprobe_consumer consumer; /* of the event that is recorded */
	/*
	 * Sees the entries, if needs_entry. Newer kernels call no return's handler of a consumer that has a handler of
	 * entries and did not see this one; such returns are counted, so the two are consumers of their own.
	 */
	struct uprobe_consumer entries;
	struct uprobe *uprobe; /* as the kernel returned it when the consumers were registered: one of the place */
	u64 id; /* no other probe has or had it; modulo FKT_USER_PROBES it is `at` */
	struct list_head list;
	struct file *file; /* held */
	struct inode *inode; /* that is mapped: of the file, or that below it */
	u64 offset, counter;
	u32 instrument; /* its number */
	u32 how;
	u32 at; /* its place in fkt_user_table.of_probe */
	bool needs_entry; /* as in struct fkt_user_slot */
};

/* Returns the place in force whose probe has this id; NULL: there is none. */
static inline const struct fkt_user_slot *fkt_user_slot_of(u64 probe)
{
	const struct fkt_instrument_table *now = fkt_instruments();
	const struct fkt_user_slot *slot = NULL;

	if (likely(now && now->users))
		slot = now->users->of_probe[probe % FKT_USER_PROBES];

	/* There is none during an exchange (yet, or any more), or for a call that began before. */
	return likely(slot && slot->probe == probe) ? slot : NULL;
}

/* Handlers of the consumers. */
int fkt_user_reached(struct uprobe_consumer *consumer, FKT_UPROBE_REGS);
int fkt_user_entered(struct uprobe_consumer *consumer, FKT_UPROBE_REGS);
int fkt_user_returned(struct uprobe_consumer *consumer, unsigned long function, FKT_UPROBE_REGS);

#endif /* FKT_USER_PROBE_H */
