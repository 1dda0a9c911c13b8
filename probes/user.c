// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places in user programs, by uprobes: the kernel puts a breakpoint into the pages of all processes that have the file
 * mapped, and calls what is here in the process that hits it, where sleeping is allowed. A hit is handled with
 * preemption disabled, as those of all places; only memory of the process that is not present makes it sleep, before it
 * begins again.
 */

#include <linux/bitmap.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#include <fkt/events.h>
#include <fkt/user_hit.h>

#include "actions.h"
#include "compat.h"
#include "instruments.h"
#include "programs.h"
#include "registers.h"
#include "user.h"
#include "user_table.h"
#include "write.h"

/* A uprobe that is registered. It stays when the next table has the place, too. */
struct probe {
	struct uprobe_consumer consumer;
	struct uprobe *uprobe; /* of fkt_uprobe_register() */
	struct list_head list;
	struct file *file; /* held */
	struct inode *inode; /* that is mapped: of the file, or that below it */
	u64 offset, counter;
	u32 instrument; /* its number */
	u32 how;
	u32 at; /* its place in fkt_user_table.of_probe */
};

/* While tables are exchanged, there are the probes of both. */
#define PROBES (2 * FKT_USERS_MOST)

/* Both are protected by the recording's lock. */
static LIST_HEAD(probes);
static DECLARE_BITMAP(used, PROBES); /* values of probe.at */

/* ---- memory of the process; preemption is disabled ---- */

/* The last address of the process's memory that could not be read: set and read by one hit, which nothing nests in. */
static DEFINE_PER_CPU(unsigned long, unread);

/*
 * fkt_read_fn. The name of the thread is the kernel's memory; what else a program finds in a register or in memory is
 * an address of the process's own, or none.
 */
static int read_memory(void *to, u64 address, u32 bytes)
{
	const u64 in_name = address - (unsigned long)current->comm;

	if (unlikely(in_name < TASK_COMM_LEN && in_name + bytes <= TASK_COMM_LEN)) {
		memcpy(to, current->comm + in_name, bytes);
		return 0;
	}
	if (likely(!copy_from_user_nofault(to, (const void __user *)address, bytes)))
		return 0;
	this_cpu_write(unread, address);
	return -EFAULT;
}

/* ---- a place is reached ---- */

/* Memory of one hit that is made present: strings and pointers on as many pages. */
#define FETCHES 8

/* What a hit is of, and what it has. */
struct hit {
	const struct fkt_user_slot *slot;
	const struct pt_regs *regs;
};

/* Returns the place in force that the probe has the hits of; NULL: none, or it is not recorded here and now. */
static const struct fkt_user_slot *slot_of(const struct probe *probe)
{
	const struct fkt_instrument_table *now = fkt_instruments();
	/* A probe that is not in the table (yet, or any more): while it is exchanged. */
	const struct fkt_user_slot *slot = likely(now && now->users) ? now->users->of_probe[probe->at] : NULL;

	return slot && fkt_instrument_on(slot->instrument->layer) ? slot : NULL;
}

static enum fkt_fate write_point(const struct hit *hit, const struct fkt_emitted *emitted, u64 *words)
{
	const struct fkt_stack_place place = { .first = hit->regs->ip };
	const struct fkt_instrument_slot *instrument = hit->slot->instrument;
	const u32 number = hit->slot->number;

	if (!fkt_event_begin(instrument))
		return FKT_FATE_MISSED + FKT_MISSED_NESTED;
	if (emitted->used)
		fkt_emit(FKT_E_USER_ENTRY_VALUES,
			 FKT_USER_ARG(number, emitted->used) | (emitted->cut ? FKT_VAR_CUT : 0), emitted->words,
			 emitted->used);
	else
		fkt_emit0(FKT_E_USER_ENTRY, number);
	fkt_event_end(instrument, &place, words);
	return FKT_FATE_KEPT;
}

static enum fkt_fate run_point(const struct hit *hit, struct fkt_scratch *scratch)
{
	struct fkt_emitted emitted = { .words = scratch->words };
	enum fkt_run says;

	fkt_get_registers(hit->regs, hit->regs->ip, scratch->hit);
	says = fkt_program_run(hit->slot->entry, scratch->hit, &emitted, read_memory, fkt_call_context);
	if (says != FKT_RUN_KEEP)
		return fkt_fate_by(says);
	if (!fkt_writes_hits(hit->slot->instrument))
		return fkt_act(hit->slot->instrument, emitted.words, emitted.used);
	return write_point(hit, &emitted, scratch->words);
}

/*
 * Handles a hit, with preemption disabled. is_last: it is counted as missed if its memory cannot be read. Returns false
 * if that memory should be made present: nothing has been done then.
 */
static bool reach(const struct probe *probe, const struct pt_regs *regs, bool is_last)
{
	const struct hit hit = { .slot = slot_of(probe), .regs = regs };
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;
	struct fkt_scratch *scratch;

	if (!hit.slot)
		return true;
	scratch = fkt_scratch_get();
	if (likely(scratch))
		fate = run_point(&hit, scratch);
	fkt_scratch_put();
	if (fate == FKT_FATE_MISSED + FKT_MISSED_MEMORY && !is_last)
		return false;
	fkt_count_hit(hit.slot->instrument, fate);
	return true;
}

static int reached(struct uprobe_consumer *consumer, struct pt_regs *regs)
{
	const struct probe *probe = container_of(consumer, struct probe, consumer);
	unsigned int fetches = 0;
	bool is_last = false;

	for (;;) {
		unsigned long missing = 0;
		bool is_done;

		preempt_disable_notrace();
		is_done = reach(probe, regs, is_last);
		if (unlikely(!is_done))
			missing = this_cpu_read(unread);
		preempt_enable_notrace();
		if (likely(is_done))
			return 0;
		is_last = ++fetches == FETCHES || !fkt_fault_in(missing);
	}
}

/* ---- arming and disarming; callers hold the recording's lock ---- */

static bool has_hits_of(const struct probe *probe, const struct fkt_user_slot *slot)
{
	return probe->inode == d_real_inode(slot->file->f_path.dentry) && probe->offset == slot->offset &&
	       probe->counter == slot->counter && probe->how == slot->how &&
	       probe->instrument == slot->instrument->number;
}

static struct probe *find_probe(const struct fkt_user_table *table, const struct fkt_user_slot *slot)
{
	struct probe *probe;

	list_for_each_entry(probe, &probes, list)
		if (has_hits_of(probe, slot) && !table->of_probe[probe->at])
			return probe;
	return NULL;
}

static void free_probe(struct probe *probe)
{
	fput(probe->file);
	kfree(probe);
}

static struct probe *make_probe(const struct fkt_user_slot *slot)
{
	struct probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL);

	if (!probe)
		return NULL;
	probe->file = get_file(slot->file);
	probe->inode = d_real_inode(slot->file->f_path.dentry);
	probe->offset = slot->offset;
	probe->counter = slot->counter;
	probe->instrument = slot->instrument->number;
	probe->how = slot->how;
	probe->consumer.handler = reached;
	return probe;
}

/* Numbers that are not for user space. */
static int error_of(long err)
{
	return err == -ENOTSUPP ? -EINVAL : err;
}

static int register_one(struct fkt_user_table *table, const struct fkt_user_slot *slot)
{
	const u32 at = find_first_zero_bit(used, PROBES);
	struct probe *probe;

	if (at == PROBES)
		return -ENOSPC;
	probe = make_probe(slot);
	if (!probe)
		return -ENOMEM;
	probe->at = at;
	/* Hits come from here on: of the table, if it is in force by then. */
	table->of_probe[at] = slot;
	probe->uprobe = fkt_uprobe_register(probe->inode, probe->offset, probe->counter, &probe->consumer);
	if (IS_ERR(probe->uprobe)) {
		const long err = PTR_ERR(probe->uprobe);

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
	table->of_probe = kvcalloc(PROBES, sizeof(*table->of_probe), GFP_KERNEL);
	if (!table->of_probe)
		return -ENOMEM;
	for (i = 0; i < table->count; i++) {
		const struct fkt_user_slot *slot = &table->slots[i];
		const struct probe *probe = find_probe(table, slot);

		if (probe) {
			table->of_probe[probe->at] = slot;
			continue;
		}
		/* Every process that has the file mapped takes its time. */
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
	struct probe *probe, *next;

	if (list_empty(gone))
		return;
	list_for_each_entry(probe, gone, list)
		fkt_uprobe_unregister(probe->uprobe, probe->inode, probe->offset, &probe->consumer);
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
	struct probe *probe, *next;
	LIST_HEAD(gone);

	list_for_each_entry_safe(probe, next, &probes, list)
		if (!table || !table->of_probe[probe->at])
			list_move(&probe->list, &gone);
	unregister_all(&gone);
}

/* Removes all uprobes. When this returns, no hit is being recorded. */
void fkt_record_users_end(void)
{
	fkt_record_users_disarm(NULL);
}
