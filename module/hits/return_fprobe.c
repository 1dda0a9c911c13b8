// SPDX-License-Identifier: GPL-2.0-only
/* Return probes by fprobes: one for the functions of each instrument, for which its missed calls count. */

#include <linux/fprobe.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "base/compat.h"
#include "calls/calls.h"
#include "instruments/call_table.h"
#include "instruments/programs.h"
#include "actions.h"
#include "call_hits.h"
#include "calls_arm.h"
#include "return_probes.h"

#if FKT_HAS_FPROBE

struct probe {
	struct fprobe fprobe;
	u32 instrument; /* its number */
	u32 count; /* functions that it has */
	bool is_registered;
};

/* `lock` protects all of these; it is taken with the semaphore of the modules' notifiers held. */
static DEFINE_MUTEX(lock);
/* Fresh for each recording: an fprobe that was registered must not be used again. */
static struct probe *probes;
static u32 probe_count;
/* Functions with the number of their probe. */
static struct probed {
	unsigned long function;
	u32 probe;
	bool is_on;
} *probed;
static u32 probed_count;
/* ftrace goes on using the probes of this recording: they must not be freed. */
static bool stay;

static int entered(struct fprobe *fprobe, unsigned long nop, unsigned long caller, struct pt_regs *regs, void *data)
{
	return fkt_record_calls_entered(nop + FKT_CALLS_NOP_BYTES, regs, data) ? 0 : 1;
}

static void returned(struct fprobe *fprobe, unsigned long nop, unsigned long caller, struct pt_regs *regs, void *data)
{
	fkt_record_calls_returned(nop + FKT_CALLS_NOP_BYTES, regs, data);
}

/* ---- begin ---- */

/* Returns the number of the instrument's probe, which is made if there is none. */
static u32 probe_for(u32 instrument)
{
	u32 i;

	for (i = 0; i < probe_count && probes[i].instrument != instrument; i++)
		;
	if (i == probe_count) {
		probes[i].instrument = instrument;
		probe_count++;
	}
	return i;
}

static int register_probe(u32 number, unsigned long *functions, u64 *refused)
{
	struct probe *probe = &probes[number];
	u32 i;
	int err;

	for (i = 0; i < probed_count; i++)
		if (probed[i].probe == number)
			functions[probe->count++] = probed[i].function;
	probe->fprobe.entry_handler = entered;
	probe->fprobe.exit_handler = returned;
	probe->fprobe.entry_data_size = sizeof(struct fkt_probed_call);
	probe->fprobe.nr_maxactive = min_t(u32, probe->count, 64) * FKT_RETURN_PROBE_CALLS;
	err = register_fprobe_ips(&probe->fprobe, functions, probe->count);
	probe->is_registered = !err;
	if (err && probe->count == 1)
		*refused = functions[0];
	for (i = 0; i < probed_count; i++)
		if (probed[i].probe == number)
			probed[i].is_on = !err;
	return err;
}

static int register_all(const struct fkt_call_table *table, u64 *refused)
{
	const unsigned long *from = table->functions + table->count - table->by_probe;
	unsigned long *functions = kvmalloc_array(table->by_probe, sizeof(*functions), GFP_KERNEL_ACCOUNT);
	int err = 0;
	u32 i;

	/* There are not more instruments than functions. */
	probes = kvcalloc(table->by_probe, sizeof(*probes), GFP_KERNEL_ACCOUNT);
	probed = kvcalloc(table->by_probe, sizeof(*probed), GFP_KERNEL_ACCOUNT);
	if (!functions || !probes || !probed)
		err = -ENOMEM;
	for (i = 0; !err && i < table->by_probe; i++) {
		const struct fkt_call_slot *slot = fkt_call_find(table, fkt_call_body(from[i]));

		/* The function's module has been unloaded meanwhile. */
		if (!slot)
			err = -EINVAL;
		else
			probed[i] = (struct probed){
				.function = from[i], .probe = probe_for(slot->instrument->number),
			};
		probed_count = i + 1;
	}
	for (i = 0; !err && i < probe_count; i++)
		err = register_probe(i, functions, refused);
	kvfree(functions);
	return err;
}

/* If ftrace has switched itself off after an error, it goes on using the probe until the next boot. */
static void unregister_probe(struct probe *probe)
{
	if (!probe->is_registered)
		return;
	probe->is_registered = false;
	if (!unregister_fprobe(&probe->fprobe))
		return;
	__module_get(THIS_MODULE);
	stay = true;
}

/* ---- modules that come and go ---- */

/* Removes the function from its fprobe. Without functions, an fprobe would probe all of them. */
static void drop(struct probed *one)
{
	struct probe *probe = &probes[one->probe];

	one->is_on = false;
	if (--probe->count && !ftrace_set_filter_ip(&probe->fprobe.ops, one->function, 1, 0))
		return;
	unregister_probe(probe);
}

/* ftrace keeps the addresses of functions that are gone, and would probe what is loaded there next. */
static int on_module(struct notifier_block *unused, unsigned long state, void *module)
{
	u32 i;

	if (state != MODULE_STATE_GOING && state != MODULE_STATE_COMING)
		return NOTIFY_DONE;
	mutex_lock(&lock);
	for (i = 0; i < probed_count; i++)
		if (probed[i].is_on && within_module(probed[i].function, module))
			drop(&probed[i]);
	mutex_unlock(&lock);
	return NOTIFY_OK;
}

static struct notifier_block notifier = { .notifier_call = on_module };

/*
 * Probes the functions of the table that are to have return probes. Returns 0 or a negative errno; *refused is then the
 * function, if the error is about a single one. The caller must call fkt_return_probes_end() in any case.
 */
int fkt_return_probes_begin(const struct fkt_call_table *table, u64 *refused)
{
	int err;

	if (!table->by_probe)
		return 0;
	err = register_module_notifier(&notifier);
	if (err)
		return err;
	mutex_lock(&lock);
	err = register_all(table, refused);
	mutex_unlock(&lock);
	/* Tells fkt_return_probes_end() that there is a notifier. */
	if (!probed)
		unregister_module_notifier(&notifier);
	return err;
}

/* ---- end ---- */

/*
 * Returns true when no call of a probed function is being recorded any more; false: ftrace has switched itself off, and
 * goes on calling the probes, so the module stays loaded. Their missed calls are counted in `instruments`.
 */
bool fkt_return_probes_end(const struct fkt_instrument_table *instruments)
{
	bool ended;
	u32 i;

	if (probed)
		unregister_module_notifier(&notifier);
	mutex_lock(&lock);
	for (i = 0; i < probe_count; i++) {
		unregister_probe(&probes[i]);
		/* A table that was never in force lacks the instrument. */
		if (instruments && probes[i].instrument < instruments->count)
			fkt_count_hits(&instruments->slots[probes[i].instrument], FKT_FATE_MISSED + FKT_MISSED_PROBE,
				       probes[i].fprobe.nmissed);
	}
	ended = !stay;
	if (ended)
		kvfree(probes);
	stay = false;
	kvfree(probed);
	probes = NULL;
	probed = NULL;
	probe_count = 0;
	probed_count = 0;
	mutex_unlock(&lock);
	return ended;
}

#endif
