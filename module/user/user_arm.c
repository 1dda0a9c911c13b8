// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arming and disarming of places in user programs, by uprobes: the kernel puts a breakpoint into the pages of all
 * processes that have the file mapped.
 *
 * Returns are seen by the kernel's return probes: it replaces the return address when the function is entered, and
 * keeps what it needs by thread, with a reference to the uprobe, not to its consumers. So a call in flight at the end
 * costs its process a breakpoint (or a system call), which finds no consumer: after fkt_uprobe_unregister_sync() none
 * of a probe's handlers runs or will run, because all kernels look the consumers up at the hit, under the uprobe's
 * lock (6.1), its SRCU (6.12) or RCU of tasks (newer ones), which the end waits for.
 */

#include <linux/bitmap.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uprobes.h>

#include "base/compat.h"
#include "instruments/instrument_table.h"
#include "instruments/user_table.h"
#include "user_arm.h"
#include "user_probe.h"

/* All three are protected by fkt_recording.arming: only the one who has set it uses them. */
static LIST_HEAD(probes);
static DECLARE_BITMAP(used, FKT_USER_PROBES); /* values of probe.at */
static u64 probes_made; /* since the module was loaded */

/*
 * Callers of the functions below must have set fkt_recording.arming, and hold no lock: they may have to wait for
 * ever.
 */

static bool has_hits_of(const struct fkt_user_probe *probe, const struct fkt_user_slot *slot)
{
	return probe->inode == d_real_inode(slot->file->f_path.dentry) && probe->offset == slot->offset &&
	       probe->counter == slot->counter && probe->how == slot->how && probe->needs_entry == slot->needs_entry &&
	       probe->instrument == slot->instrument->number;
}

static struct fkt_user_probe *find_probe(const struct fkt_user_table *table, const struct fkt_user_slot *slot)
{
	struct fkt_user_probe *probe;

	list_for_each_entry(probe, &probes, list)
		if (has_hits_of(probe, slot) && !table->of_probe[probe->at])
			return probe;
	return NULL;
}

static void free_probe(struct fkt_user_probe *probe)
{
	fput(probe->file);
	kfree(probe);
}

static struct fkt_user_probe *make_probe(const struct fkt_user_slot *slot, u32 at)
{
	struct fkt_user_probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL_ACCOUNT);

	if (!probe)
		return NULL;
	probe->file = get_file(slot->file);
	probe->inode = d_real_inode(slot->file->f_path.dentry);
	probe->offset = slot->offset;
	probe->counter = slot->counter;
	probe->instrument = slot->instrument->number;
	probe->how = slot->how;
	probe->needs_entry = slot->needs_entry;
	probe->at = at;
	/* Never 0: the first number is 1. */
	probe->id = ++probes_made * FKT_USER_PROBES + at;
	if (slot->how == FKT_USER_CALL || slot->how == FKT_USER_EXIT)
		probe->consumer.ret_handler = fkt_user_returned;
	else
		probe->consumer.handler = fkt_user_reached;
	probe->entries.handler = fkt_user_entered;
	return probe;
}

/* Replaces error numbers that user space does not know. */
static int error_of(long err)
{
	return err == -ENOTSUPP ? -EINVAL : err;
}

static void unregister_one(const struct fkt_user_probe *probe, struct uprobe_consumer *consumer)
{
	fkt_uprobe_unregister(probe->uprobe, probe->inode, probe->offset, consumer);
}

/* Returns 0 or a negative errno; then neither consumer is called any more. */
static long register_consumers(struct fkt_user_probe *probe)
{
	struct uprobe *again = NULL;

	probe->uprobe = fkt_uprobe_register(probe->inode, probe->offset, probe->counter, &probe->consumer);
	if (IS_ERR(probe->uprobe))
		return PTR_ERR(probe->uprobe);
	/* After that of the returns, so that each call whose entry is seen has its return seen. */
	if (probe->needs_entry)
		again = fkt_uprobe_register(probe->inode, probe->offset, probe->counter, &probe->entries);
	if (!IS_ERR(again))
		return 0;
	unregister_one(probe, &probe->consumer);
	fkt_uprobe_unregister_sync();
	return PTR_ERR(again);
}

/* From here on the hits of the probe are the place's, if the table is in force. */
static void give_hits(struct fkt_user_table *table, struct fkt_user_slot *slot, const struct fkt_user_probe *probe)
{
	slot->probe = probe->id;
	table->of_probe[probe->at] = slot;
}

static int register_one(struct fkt_user_table *table, struct fkt_user_slot *slot)
{
	const u32 at = find_first_zero_bit(used, FKT_USER_PROBES);
	struct fkt_user_probe *probe;
	long err;

	if (at == FKT_USER_PROBES)
		return -ENOSPC;
	probe = make_probe(slot, at);
	if (!probe)
		return -ENOMEM;
	give_hits(table, slot, probe);
	err = register_consumers(probe);
	if (err) {
		table->of_probe[at] = NULL;
		free_probe(probe);
		return error_of(err);
	}
	__set_bit(at, used);
	list_add(&probe->list, &probes);
	return 0;
}

/*
 * Registers uprobes at the table's places, besides those of the table in force. table: may be NULL. Returns 0, -EINTR
 * if the task is being killed, or another negative errno; *refused is then the index of the place that the kernel
 * refuses, plus 1. After an error the caller must go back with fkt_record_users_disarm(), or end.
 */
int fkt_record_users_arm(struct fkt_user_table *table, u64 *refused)
{
	u32 i;
	int err;

	if (!table)
		return 0;
	table->of_probe = kvcalloc(FKT_USER_PROBES, sizeof(*table->of_probe), GFP_KERNEL_ACCOUNT);
	if (!table->of_probe)
		return -ENOMEM;
	for (i = 0; i < table->count; i++) {
		struct fkt_user_slot *slot = &table->slots[i];
		const struct fkt_user_probe *probe = find_probe(table, slot);

		if (probe) {
			give_hits(table, slot, probe);
			continue;
		}
		/* Each one takes time for every process that has the file mapped. */
		if (fatal_signal_pending(current))
			return -EINTR;
		err = register_one(table, slot);
		if (err) {
			*refused = i + 1;
			return err;
		}
	}
	return 0;
}

static void unregister_all(struct list_head *gone)
{
	struct fkt_user_probe *probe, *next;

	if (list_empty(gone))
		return;
	list_for_each_entry(probe, gone, list) {
		if (probe->needs_entry)
			unregister_one(probe, &probe->entries);
		unregister_one(probe, &probe->consumer);
	}
	fkt_uprobe_unregister_sync();
	list_for_each_entry_safe(probe, next, gone, list) {
		__clear_bit(probe->at, used);
		free_probe(probe);
	}
}

/*
 * Leaves uprobes only at the places of the table, which was armed and is in force. table: may be NULL. When this
 * returns, no other place is being recorded.
 */
void fkt_record_users_disarm(const struct fkt_user_table *table)
{
	struct fkt_user_probe *probe, *next;
	LIST_HEAD(gone);

	list_for_each_entry_safe(probe, next, &probes, list)
		if (!table || !table->of_probe[probe->at])
			list_move(&probe->list, &gone);
	unregister_all(&gone);
}

/* Removes all uprobes. When this returns, no handler of theirs runs. */
void fkt_record_users_end(void)
{
	fkt_record_users_disarm(NULL);
}

/* Returns whether there are uprobes. Caller must hold the recording's lock, and `arming` must be clear. */
bool fkt_record_users_armed(void)
{
	return !list_empty(&probes);
}
