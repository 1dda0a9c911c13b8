// SPDX-License-Identifier: GPL-2.0-only
/*
 * Return probes by kretprobes, on kernels without usable fprobes. The kernel itself ends those in a module that is
 * unloaded.
 */

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/compat.h"
#include "calls/calls.h"
#include "instruments/call_table.h"
#include "instruments/programs.h"
#include "actions.h"
#include "call_hits.h"
#include "calls_arm.h"
#include "return_probes.h"

#if !FKT_HAS_FPROBE

struct probe {
	struct kretprobe kretprobe;
	unsigned long body; /* as in struct fkt_call */
	u32 instrument; /* its number */
	bool is_registered;
};

/*
 * Protected by the recording's lock. Fresh for each recording: a kretprobe that was registered must not be used
 * again.
 */
static struct probe *probes;
static u32 probe_count;

static const struct probe *probe_of(struct kretprobe_instance *instance)
{
	const struct kretprobe *kretprobe = get_kretprobe(instance);

	return kretprobe ? container_of(kretprobe, struct probe, kretprobe) : NULL;
}

static int entered(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct probe *probe = probe_of(instance);

	return probe && fkt_record_calls_entered(probe->body, regs, (void *)instance->data) ? 0 : 1;
}

static int returned(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct probe *probe = probe_of(instance);

	if (probe)
		fkt_record_calls_returned(probe->body, regs, (void *)instance->data);
	return 0;
}

static int register_one(struct probe *probe, const struct fkt_call_table *table, unsigned long function)
{
	const struct fkt_call_slot *slot;
	int err;

	probe->body = fkt_call_body(function);
	slot = fkt_call_find(table, probe->body);
	/* The function's module has been unloaded meanwhile. */
	if (!slot)
		return -EINVAL;
	probe->instrument = slot->instrument->number;
	probe->kretprobe.kp.addr = (void *)function;
	probe->kretprobe.entry_handler = entered;
	probe->kretprobe.handler = returned;
	probe->kretprobe.data_size = sizeof(struct fkt_probed_call);
	probe->kretprobe.maxactive = FKT_RETURN_PROBE_CALLS;
	err = register_kretprobe(&probe->kretprobe);
	probe->is_registered = !err;
	/* No symbol covers the address. */
	return err == -ENOENT ? -EINVAL : err;
}

/*
 * Probes the functions of the table that are to have return probes. Returns 0, -EINTR if the task is being killed, or
 * another negative errno; *refused is then the function, if the error is about one. The caller must call
 * fkt_return_probes_end() in any case.
 */
int fkt_return_probes_begin(const struct fkt_call_table *table, u64 *refused)
{
	const unsigned long *functions = table->functions + table->count - table->by_probe;
	u32 i;
	int err;

	if (!table->by_probe)
		return 0;
	probes = kvcalloc(table->by_probe, sizeof(*probes), GFP_KERNEL_ACCOUNT);
	if (!probes)
		return -ENOMEM;
	probe_count = table->by_probe;
	for (i = 0; i < probe_count; i++) {
		/* Each takes some milliseconds. */
		if (fatal_signal_pending(current))
			return -EINTR;
		err = register_one(&probes[i], table, functions[i]);
		if (err) {
			*refused = functions[i];
			return err;
		}
	}
	return 0;
}

static void end_registered(void)
{
	struct kretprobe **registered = kvmalloc_array(probe_count, sizeof(*registered), GFP_KERNEL_ACCOUNT);
	u32 i, n = 0;

	/* One wait for all kretprobes. */
	for (i = 0; i < probe_count; i++) {
		if (!probes[i].is_registered)
			continue;
		if (registered)
			registered[n++] = &probes[i].kretprobe;
		else
			unregister_kretprobe(&probes[i].kretprobe);
	}
	if (n)
		unregister_kretprobes(registered, n);
	kvfree(registered);
}

/* Counts what the kretprobes have missed. Returns whether the kernel has removed all of them. */
static bool add_missed(const struct fkt_instrument_table *instruments)
{
	bool let_go = true;
	u32 i;

	for (i = 0; i < probe_count; i++) {
		const struct kretprobe *kretprobe = &probes[i].kretprobe;

		if (!probes[i].is_registered)
			continue;
		let_go &= !!kretprobe->kp.addr;
		/* A table that was never in force lacks the instrument. */
		if (instruments && probes[i].instrument < instruments->count)
			fkt_count_hits(&instruments->slots[probes[i].instrument], FKT_FATE_MISSED + FKT_MISSED_PROBE,
				       kretprobe->nmissed + kretprobe->kp.nmissed);
	}
	return let_go;
}

/*
 * Returns true when no call of a probed function is being recorded any more; false: the kernel keeps a kprobe that it
 * could not remove for lack of memory, so the module stays loaded. Missed calls are counted in `instruments`.
 */
bool fkt_return_probes_end(const struct fkt_instrument_table *instruments)
{
	bool ended;

	if (!probes)
		return true;
	end_registered();
	ended = add_missed(instruments);
	if (ended)
		kvfree(probes);
	else
		__module_get(THIS_MODULE);
	probes = NULL;
	probe_count = 0;
	return ended;
}

#endif
