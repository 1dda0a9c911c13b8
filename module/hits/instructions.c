// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions: spliced where that is possible (splices/), if the module fkt_splices is loaded, else by kprobes, for
 * which the kernel uses jumps where it can optimise them, else breakpoints. The kernel itself ends the kprobes in a
 * module that is unloaded.
 */

#include <linux/bitmap.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <fkt/ioctl.h>

#include "arch/arch.h"
#include "instruments/call_table.h"
#include "instruments/instruments_now.h"
#include "ring/write.h"
#include "splices/splices.h"
#include "actions.h"
#include "calls_arm.h"
#include "hits_quick.h"
#include "instruction_hits.h"
#include "instructions.h"

/* A kprobe that is registered. It stays when the next table has the instruction, too. */
struct probe {
	struct kprobe kprobe;
	struct list_head list;
	unsigned long address; /* as in the table: the kernel may move the kprobe behind an ENDBR */
	u32 instrument; /* number of the instrument for which missed hits count */
	unsigned long counted; /* of kprobe.nmissed */
};

/* Protected by the recording's lock. */
static LIST_HEAD(probes);

/* Of the module fkt_splices, which is in use between the first arming and the end; else NULL. As above. */
static struct {
	int (*arm)(struct fkt_splice *splices, unsigned int count, const struct fkt_splice_hits *hits);
	void (*disarm)(const unsigned long *keep, unsigned int count);
} splices;

/* An instruction is reached; preemption is disabled. */
static int reached(struct kprobe *kprobe, struct pt_regs *regs)
{
	const unsigned long address = container_of(kprobe, struct probe, kprobe)->address;

	if (unlikely(!fkt_hit_quickly(READ_ONCE(fkt_instruction_quick), address)))
		fkt_instruction_reached(address, (unsigned long)kprobe->addr, regs);
	return 0;
}

static const struct fkt_splice_hits splice_hits = {
	.mask = &fkt_mask,
	.plain = fkt_spliced_plainly,
	.with_registers = fkt_spliced_with_registers,
};

/* ---- arming and disarming; callers must hold the recording's lock ---- */

/* Ignores kprobes in a module that was unloaded, even if another module is loaded there now. */
static struct probe *find_probe(unsigned long address)
{
	struct probe *probe;

	list_for_each_entry(probe, &probes, list)
		if (probe->address == address && !kprobe_gone(&probe->kprobe))
			return probe;
	return NULL;
}

static void put_splices(void)
{
	if (splices.arm)
		symbol_put(fkt_splices_arm);
	if (splices.disarm)
		symbol_put(fkt_splices_disarm);
	splices.arm = NULL;
	splices.disarm = NULL;
}

static bool get_splices(void)
{
	if (splices.disarm)
		return true;
	splices.arm = symbol_get(fkt_splices_arm);
	if (splices.arm)
		splices.disarm = symbol_get(fkt_splices_disarm);
	if (!splices.disarm)
		put_splices();
	return splices.disarm;
}

/* Returns whether hits are only counted, without a look at them. */
static bool is_counted(const struct fkt_call_slot *slot)
{
	return slot->instrument->action == FKT_ACTION_COUNT && (s32)slot->number >= 0;
}

/* Returns the counts that the instrument has from the exchange on: those of the table in force, if it is there. */
static u64 __percpu *count_of(const struct fkt_instrument_slot *instrument)
{
	const struct fkt_instrument_table *now = rcu_dereference_raw(fkt_instruments_now);

	if (now && instrument->number < now->count)
		instrument = &now->slots[instrument->number];
	return &instrument->hits->of[FKT_FATE_KEPT];
}

/* Sets spliced: those of the table that may be spliced, in the order of their addresses. Returns their number. */
static u32 collect_splices(const struct fkt_call_table *table, struct fkt_splice *spliced)
{
	/* A count by the splice itself is of all processes. */
	const bool counts = !static_key_enabled(&fkt_key_filter);
	u32 i, n = 0;

	for (i = 0; i < table->count; i++) {
		const struct fkt_call_slot *slot = fkt_call_find(table, table->functions[i]);

		/* A kprobe of the table in force stays, and keeps a splice from its place. */
		if (!slot || find_probe(table->functions[i]))
			continue;
		spliced[n++] = (struct fkt_splice){
			.address = table->functions[i],
			.count = counts && is_counted(slot) ? count_of(slot->instrument) : NULL,
			.layer = fkt_call_layer(slot),
			.takes_registers = (s32)slot->number < 0,
		};
	}
	return n;
}

/* Arms the splices of the table. is_armed: set by its number for each instruction that is spliced now. */
static int arm_splices(const struct fkt_call_table *table, unsigned long *is_armed)
{
	struct fkt_splice *spliced;
	u32 count, i, n = 0;
	int err;

	if (!get_splices())
		return 0;
	spliced = kvcalloc(table->count, sizeof(*spliced), GFP_KERNEL_ACCOUNT);
	if (!spliced)
		return -ENOMEM;
	count = collect_splices(table, spliced);
	err = count ? splices.arm(spliced, count, &splice_hits) : 0;
	for (i = 0; !err && i < table->count && n < count; i++)
		if (table->functions[i] == spliced[n].address && spliced[n++].is_armed)
			__set_bit(i, is_armed);
	kvfree(spliced);
	return err;
}

static int register_one(const struct fkt_call_table *table, unsigned long address)
{
	const struct fkt_call_slot *slot = fkt_call_find(table, address);
	struct probe *probe;
	int err;

	if (!slot || !fkt_record_calls_stays(address))
		return -EINVAL;
	probe = kzalloc(sizeof(*probe), GFP_KERNEL_ACCOUNT);
	if (!probe)
		return -ENOMEM;
	probe->address = address;
	probe->instrument = slot->instrument->number;
	probe->kprobe.addr = (void *)address;
	probe->kprobe.pre_handler = reached;
	err = register_kprobe(&probe->kprobe);
	if (err)
		kfree(probe);
	else
		list_add(&probe->list, &probes);
	/* No symbol covers the address. */
	return err == -ENOENT ? -EINVAL : err;
}

/* Registers kprobes on those that are not spliced. */
static int register_all(const struct fkt_call_table *table, const unsigned long *is_armed, u64 *refused)
{
	u32 i, n = 0;
	int err;

	for (i = 0; i < table->count; i++) {
		if (test_bit(i, is_armed))
			continue;
		if (++n > FKT_KPROBES_MOST)
			return -E2BIG;
		if (find_probe(table->functions[i]))
			continue;
		/* Each takes some milliseconds. */
		if (fatal_signal_pending(current))
			return -EINTR;
		err = register_one(table, table->functions[i]);
		if (err) {
			*refused = table->functions[i];
			return err;
		}
	}
	return 0;
}

/*
 * Has the table's instructions seen, besides those of the table in force. table: may be NULL. Returns 0, -EINTR if the
 * task is being killed, -E2BIG if too many cannot be spliced, or another negative errno; *refused is then the
 * instruction that the kernel refuses to probe (-EILSEQ: none begins there). After an error the caller must go back
 * with fkt_record_instructions_disarm(), or end.
 */
int fkt_record_instructions_arm(const struct fkt_call_table *table, u64 *refused)
{
	unsigned long *is_armed;
	int err;

	if (!table)
		return 0;
	is_armed = kvcalloc(BITS_TO_LONGS(table->count), sizeof(long), GFP_KERNEL_ACCOUNT);
	if (!is_armed)
		return -ENOMEM;
	err = arm_splices(table, is_armed) ?: register_all(table, is_armed, refused);
	kvfree(is_armed);
	return err;
}

static void unregister_all(struct list_head *gone)
{
	struct kprobe **registered;
	struct probe *probe;
	u32 n = 0;

	list_for_each_entry(probe, gone, list)
		n++;
	registered = kvmalloc_array(n, sizeof(*registered), GFP_KERNEL_ACCOUNT);
	n = 0;
	/* One wait for all kprobes. */
	list_for_each_entry(probe, gone, list) {
		if (registered)
			registered[n++] = &probe->kprobe;
		else
			unregister_kprobe(&probe->kprobe);
	}
	if (n)
		unregister_kprobes(registered, n);
	kvfree(registered);
}

/* Counts what the kprobe has missed since the last call. table: one that was never in force lacks the instrument. */
static void add_missed(struct probe *probe, const struct fkt_instrument_table *table)
{
	const unsigned long missed = READ_ONCE(probe->kprobe.nmissed);

	if (!table || probe->instrument >= table->count)
		return;
	fkt_count_hits(&table->slots[probe->instrument], FKT_FATE_MISSED + FKT_MISSED_PROBE, missed - probe->counted);
	probe->counted = missed;
}

static void free_all(struct list_head *gone, const struct fkt_instrument_table *table)
{
	struct probe *probe, *next;

	list_for_each_entry_safe(probe, next, gone, list) {
		add_missed(probe, table);
		/* The kernel keeps a kprobe that it could not remove for lack of memory. */
		if (probe->kprobe.addr)
			kfree(probe);
		else
			__module_get(THIS_MODULE);
	}
}

/*
 * Leaves kprobes only on the instructions of the table, which was armed and is in force. table: may be NULL. When this
 * returns, no other instruction is being recorded.
 */
void fkt_record_instructions_disarm(const struct fkt_instrument_table *table)
{
	const struct fkt_call_table *stay = table ? table->instructions : NULL;
	struct probe *probe, *next;
	LIST_HEAD(gone);

	if (splices.disarm)
		splices.disarm(stay ? stay->functions : NULL, stay ? stay->count : 0);
	list_for_each_entry_safe(probe, next, &probes, list) {
		const struct fkt_call_slot *slot = stay ? fkt_call_find(stay, probe->address) : NULL;

		if (!slot) {
			list_move(&probe->list, &gone);
		} else if (slot->instrument->number != probe->instrument) {
			add_missed(probe, table);
			probe->instrument = slot->instrument->number;
		}
	}
	if (list_empty(&gone))
		return;
	unregister_all(&gone);
	free_all(&gone, table);
}

/* Removes all kprobes, and counts their missed hits in `table`. When this returns, no hit is being recorded. */
void fkt_record_instructions_end(const struct fkt_instrument_table *table)
{
	LIST_HEAD(gone);

	if (splices.disarm)
		splices.disarm(NULL, 0);
	put_splices();
	if (list_empty(&probes))
		return;
	list_splice_init(&probes, &gone);
	unregister_all(&gone);
	free_all(&gone, table);
}
