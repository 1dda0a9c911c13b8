// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints of the kernel and of modules. All share one probe function per number of arguments, each with its own
 * data. The arguments are taken as 64-bit words; the program uses as many bits of each as its type has.
 */

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include <fkt/events.h>
#include <fkt/point_hit.h>

#include "actions.h"
#include "module_probes.h"
#include "point_table.h"
#include "points.h"
#include "programs.h"
#include "write.h"

/*
 * Protected by `lock`, and changed under the recording's lock too. A module's notifier takes `lock` with the list of
 * modules with tracepoints locked, so that list must never be locked while `lock` is held.
 */
static struct fkt_point_table points;
static bool is_on;
static DEFINE_MUTEX(lock);

/* ---- a hit; called by a tracepoint: preemption is disabled ---- */

/* Runs the program, and writes the event that it wants. */
static enum fkt_fate ask(const struct fkt_point_slot *slot, const u64 *arguments, struct fkt_scratch *scratch)
{
	struct fkt_emitted emitted = { .words = scratch->words };
	enum fkt_run says = fkt_program_run(slot->program, arguments, &emitted, fkt_read_memory, fkt_call_context);

	if (says != FKT_RUN_KEEP)
		return fkt_fate_by(says);
	if (!fkt_writes_hits(slot->instrument))
		return fkt_act(slot->instrument, scratch->words, emitted.used);
	if (slot->program->words)
		fkt_emit(FKT_E_POINT_VALUES,
			 FKT_POINT_ARG(slot->number, emitted.used) | (emitted.cut ? FKT_VAR_CUT : 0),
			 scratch->words, emitted.used);
	else
		fkt_emit0(FKT_E_POINT, slot->number);
	return FKT_FATE_KEPT;
}

/* Of a tracepoint or a module's probe. Preemption is disabled. */
void fkt_point_hit(const struct fkt_point_slot *slot, const u64 *arguments)
{
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;
	struct fkt_scratch *scratch;

	if (!fkt_instrument_on(slot->instrument->layer))
		return;
	scratch = fkt_scratch_get();
	if (scratch)
		fate = ask(slot, arguments, scratch);
	fkt_scratch_put();
	fkt_count_hit(slot->instrument, fate);
}

/* The probe of tracepoints whose every hit is kept without an event. */
static void probe_silent(void *data)
{
	const struct fkt_point_slot *slot = data;

	if (fkt_instrument_on(slot->instrument->layer))
		fkt_act_on(slot->instrument);
}

/*
 * The probes. If one has more parameters than its tracepoint has arguments, the others have arbitrary values, read from
 * registers or from the stack above the caller's return address. No program uses them (fkt_point_rules()). One
 * that has fewer leaves the others alone: the caller owns the registers and the stack that they are in.
 */
static void probe_short(void *slot, u64 a, u64 b, u64 c, u64 d, u64 e)
{
	const u64 arguments[] = { a, b, c, d, e };

	fkt_point_hit(slot, arguments);
}

static void probe_long(void *slot, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j, u64 k, u64 l)
{
	const u64 arguments[] = { a, b, c, d, e, f, g, h, i, j, k, l };

	BUILD_BUG_ON(ARRAY_SIZE(arguments) != FKT_POINT_ARGUMENTS);
	fkt_point_hit(slot, arguments);
}

/* Parameters that x86-64 passes in registers, behind the first one. */
#define SHORT 5

static void *probe_of(const struct fkt_point_slot *slot)
{
	if (!slot->program->insns && !fkt_writes_hits(slot->instrument))
		return probe_silent;
	return slot->arguments <= SHORT ? (void *)probe_short : (void *)probe_long;
}

/* ---- finding the tracepoints ---- */

/* A module may be broken: its tracepoint's name may lead anywhere. */
static bool is_called(const struct tracepoint *tracepoint, const char *name)
{
	char own[FKT_POINT_NAME_BYTES];
	size_t bytes = strlen(name) + 1;

	return !copy_from_kernel_nofault(own, tracepoint->name, bytes) && !memcmp(own, name, bytes);
}

static void match(struct tracepoint *tracepoint, void *unused)
{
	u32 i;

	for (i = 0; i < points.count; i++)
		if (!points.slots[i].tracepoint && !points.slots[i].probe &&
		    is_called(tracepoint, points.slots[i].name))
			points.slots[i].tracepoint = tracepoint;
}

static void unregister(struct fkt_point_slot *slot)
{
	if (slot->is_registered)
		tracepoint_probe_unregister(slot->tracepoint, probe_of(slot), slot);
	slot->is_registered = false;
}

/* Forgets the tracepoints of a module that is being unloaded; its code does not run any more. */
static void forget(const struct tracepoint *tracepoint)
{
	u32 i;

	for (i = 0; i < points.count; i++) {
		if (points.slots[i].tracepoint != tracepoint)
			continue;
		unregister(&points.slots[i]);
		points.slots[i].tracepoint = NULL;
	}
}

/*
 * Called for each module with tracepoints when the notifier is registered, and when one is loaded or unloaded later.
 * Modules that are loaded during a recording are ignored: the programs were compiled for the types of those before.
 */
static int on_module(struct notifier_block *unused, unsigned long state, void *data)
{
	const struct module *module = ((struct tp_module *)data)->mod;
	int i;

	mutex_lock(&lock);
	for (i = 0; i < module->num_tracepoints; i++) {
		struct tracepoint *tracepoint = tracepoint_ptr_deref(&module->tracepoints_ptrs[i]);

		if (state == MODULE_STATE_COMING && !is_on)
			match(tracepoint, NULL);
		else if (state == MODULE_STATE_GOING)
			forget(tracepoint);
	}
	mutex_unlock(&lock);
	return NOTIFY_OK;
}

static struct notifier_block notifier = { .notifier_call = on_module };

/* ---- begin and end; callers hold the recording's lock ---- */

static int register_all(void)
{
	u32 i;
	int err;

	for (i = 0; i < points.count; i++) {
		struct fkt_point_slot *slot = &points.slots[i];

		if (slot->probe)
			continue;
		if (!slot->tracepoint)
			return -ENXIO;
		err = tracepoint_probe_register(slot->tracepoint, probe_of(slot), slot);
		if (err)
			return err;
		slot->is_registered = true;
	}
	return 0;
}

static void unregister_all(void)
{
	u32 i;

	fkt_record_module_probes_end();
	mutex_lock(&lock);
	for (i = 0; i < points.count; i++)
		unregister(&points.slots[i]);
	is_on = false;
	mutex_unlock(&lock);
	unregister_tracepoint_module_notifier(&notifier);
	/* When this returns, no probe runs any more. */
	tracepoint_synchronize_unregister();
}

/*
 * Records the hits of the table's tracepoints while their layers are on, until fkt_record_points_end(). Takes over
 * `table`, which may be NULL. -ENXIO: there is no such tracepoint.
 */
int fkt_record_points_begin(struct fkt_point_table *table)
{
	int err;

	fkt_record_points_free();
	if (!table)
		return 0;
	mutex_lock(&lock);
	points = *table;
	mutex_unlock(&lock);
	kfree(table);
	for_each_kernel_tracepoint(match, NULL);
	err = register_tracepoint_module_notifier(&notifier);
	if (err)
		return err;
	mutex_lock(&lock);
	is_on = true;
	err = register_all();
	mutex_unlock(&lock);
	if (!err)
		err = fkt_record_module_probes_begin(&points);
	if (err)
		unregister_all();
	return err;
}

/* When this returns, no hit is being recorded. */
void fkt_record_points_end(void)
{
	if (is_on)
		unregister_all();
}

/* Frees the table of the last recording. */
void fkt_record_points_free(void)
{
	mutex_lock(&lock);
	fkt_point_table_clear(&points);
	mutex_unlock(&lock);
}
