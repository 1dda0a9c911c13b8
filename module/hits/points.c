// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints of the kernel and of modules. All share one probe function per number of arguments, each with its own
 * data. The arguments are taken as 64-bit words; the program uses as many bits of each as its type has.
 */

#include <linux/idr.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include <fkt/events.h>
#include <fkt/point_hit.h>

#include "arch/arch.h"
#include "base/compat.h"
#include "instruments/instruments_now.h"
#include "instruments/point_table.h"
#include "instruments/programs.h"
#include "ring/write.h"
#include "actions.h"
#include "call_context.h"
#include "hits_quick.h"
#include "points.h"

/* A probe that is registered with a tracepoint. It stays when the next table has the tracepoint, too. */
struct hook {
	struct list_head list;
	struct tracepoint *tracepoint; /* NULL: its module has gone, and it is not registered any more */
	void *probe;
	u32 number; /* index in fkt_point_table.of_hook */
	bool is_claimed; /* the table that is being armed has a slot for it */
};

/* A table that is being armed has hooks besides those of the table in force. */
#define HOOKS_MOST (2 * FKT_POINTS_MOST)

/*
 * Protected by `lock`, and changed under the recording's lock too. A module's notifier takes `lock` with the list of
 * modules with tracepoints locked, so that list must never be locked while `lock` is held.
 */
static LIST_HEAD(hooks);
static DEFINE_IDA(numbers);
static struct fkt_point_table *arming; /* NULL: none is being armed */
static DEFINE_MUTEX(lock);

static bool is_watching; /* modules that go; protected by the recording's lock */

/* ---- a hit; called by a tracepoint: preemption is disabled ---- */

/* Stack pointer when the function that this is in was called: a tracepoint's probe. */
#define STACK ((unsigned long)__builtin_dwarf_cfa())

/*
 * Runs the program, and writes the event if that keeps the hit. arguments: on the stack of the tracepoint's probe;
 * stack: STACK there.
 */
static enum fkt_fate ask(const struct fkt_point_slot *slot, const u64 *arguments, unsigned long stack,
			 struct fkt_scratch *scratch)
{
	struct fkt_emitted emitted = { .words = scratch->words };
	enum fkt_run says = fkt_run_program(slot->program, arguments, stack, scratch, &emitted, fkt_read_memory);

	if (says != FKT_RUN_KEEP)
		return fkt_fate_by(says);
	if (!fkt_writes_hits(slot->instrument))
		return fkt_act(slot->instrument, scratch->words, emitted.used);
	if (!fkt_event_begin(slot->instrument))
		return FKT_FATE_MISSED + FKT_MISSED_NESTED;
	if (slot->program->words)
		fkt_emit(FKT_E_POINT_VALUES,
			 FKT_POINT_ARG(slot->number, emitted.used) | (emitted.cut ? FKT_VAR_CUT : 0),
			 scratch->words, emitted.used);
	else
		fkt_emit0(FKT_E_POINT, slot->number);
	/* The frame with the arguments is that of the probe. */
	fkt_event_end(slot->instrument, &(struct fkt_stack_place){ .frames = arguments + 1 }, scratch->words);
	return FKT_FATE_KEPT;
}

static noinline void hit_any(const struct fkt_point_slot *slot, const u64 *arguments, unsigned long stack)
{
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;
	struct fkt_scratch *scratch;

	if (!fkt_instrument_on(slot->instrument->layer))
		return;
	scratch = fkt_scratch_get();
	if (scratch)
		fate = ask(slot, arguments, stack, scratch);
	fkt_scratch_put();
	fkt_count_hit(slot->instrument, fate);
}

/* Records the hit without a program, if that takes no more than these instructions; else returns false. */
static __always_inline bool hit_quickly(const struct fkt_point_slot *slot, const u64 *arguments)
{
	const struct fkt_call_quick_values *values = slot->quick;
	struct fkt_page_header *h;
	u64 next, now, *at;
	s64 i;

	/* The two keys also say that the clock is the bare counter, and that no trigger waits for an event. */
	if (!values || static_branch_unlikely(&fkt_key_special) || static_branch_unlikely(&fkt_key_trigger_events) ||
	    !fkt_layer_number_on(slot->instrument->layer))
		return false;
	now = fkt_counter();
	if (unlikely(!fkt_ring_try_reserve(FKT_RING_OF_CPU, current->pid, READ_ONCE(values->bytes), 0, now, &h, &next)))
		return false;
	at = fkt_ring_tried(h, next, 0);
	i = values->first;
	at[i - 1] = values->head | (now & FKT_TIME_MASK);
	do {
		at[i] = fkt_quick_value(values, i, arguments);
		OPTIMIZER_HIDE_VAR(i);
	} while (++i);
	this_cpu_inc(slot->instrument->hits->of[FKT_FATE_KEPT]);
	if (fkt_ring_try_commit_by(h, values->commit))
		fkt_hit_wake(next >> 32);
	return true;
}

/*
 * A hit of a tracepoint or of a module's probe, with preemption disabled. stack: as the stack pointer of a program's
 * hit.
 */
void fkt_point_hit(const struct fkt_point_slot *slot, const u64 *arguments, unsigned long stack)
{
	if (!hit_quickly(slot, arguments))
		hit_any(slot, arguments, stack);
}

/* Returns the hook's slot in the table in force; NULL: it has none (yet, or any more). Preemption is disabled. */
static __always_inline const struct fkt_point_slot *slot_of(const struct hook *hook)
{
	const struct fkt_instrument_table *now = fkt_instruments();

	return likely(now && now->points) ? now->points->of_hook[hook->number] : NULL;
}

static __always_inline void hit(const struct hook *hook, const u64 *arguments, unsigned long stack)
{
	const struct fkt_point_slot *slot = slot_of(hook);

	if (likely(slot) && !hit_quickly(slot, arguments))
		hit_any(slot, arguments, stack);
}

/* The probe of tracepoints whose every hit is kept without an event. */
static void probe_silent(void *data)
{
	FKT_TRACEPOINT_PROBE();
	const struct fkt_point_slot *slot = slot_of(data);

	if (likely(slot) && fkt_instrument_on(slot->instrument->layer))
		fkt_act_on(slot->instrument);
}

/*
 * The probes. If one has more parameters than its tracepoint has arguments, the others have arbitrary values, read from
 * registers or from the stack above the caller's return address. No program uses them (fkt_point_rules()). If a probe
 * has fewer, it leaves the other arguments alone: the caller owns the registers and the stack that they are in.
 */
static void probe_short(void *hook, u64 a, u64 b, u64 c, u64 d, u64 e)
{
	FKT_TRACEPOINT_PROBE();
	const u64 arguments[] = { a, b, c, d, e };

	hit(hook, arguments, STACK);
}

static void probe_long(void *hook, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j, u64 k, u64 l)
{
	FKT_TRACEPOINT_PROBE();
	const u64 arguments[] = { a, b, c, d, e, f, g, h, i, j, k, l };

	BUILD_BUG_ON(ARRAY_SIZE(arguments) != FKT_POINT_ARGUMENTS);
	hit(hook, arguments, STACK);
}

/*
 * As above, for programs that use the tracepoint's own record. The function that makes the record has its room as the
 * first parameter, like a probe its data, so the arguments are passed on as they came; like the probes, it ignores
 * parameters without an argument.
 */
#define SHORT_ARGUMENTS u64, u64, u64, u64, u64
#define LONG_ARGUMENTS SHORT_ARGUMENTS, u64, u64, u64, u64, u64, u64, u64
typedef u32 (*fill_short_fn)(const struct fkt_record_room *, SHORT_ARGUMENTS);
typedef u32 (*fill_long_fn)(const struct fkt_record_room *, LONG_ARGUMENTS);

static void probe_record_short(void *hook, u64 a, u64 b, u64 c, u64 d, u64 e)
{
	FKT_TRACEPOINT_PROBE();
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;
	const struct fkt_point_slot *slot = slot_of(hook);
	struct fkt_scratch *scratch;

	if (unlikely(!slot) || !fkt_instrument_on(slot->instrument->layer))
		return;
	scratch = fkt_scratch_get();
	if (scratch) {
		u64 words[FKT_POINT_WORDS];

		words[0] = a;
		words[1] = b;
		words[2] = c;
		words[3] = d;
		words[4] = e;
		words[FKT_POINT_RECORD_WORD] = (unsigned long)scratch->room.record;
		if (((fill_short_fn)slot->record->fill)(&scratch->room, a, b, c, d, e))
			fate = ask(slot, words, STACK, scratch);
		else
			fate = FKT_FATE_MISSED + FKT_MISSED_ROOM;
	}
	fkt_scratch_put();
	fkt_count_hit(slot->instrument, fate);
}

static void probe_record_long(void *hook, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j, u64 k,
			      u64 l)
{
	FKT_TRACEPOINT_PROBE();
	u64 words[FKT_POINT_WORDS] = { a, b, c, d, e, f, g, h, i, j, k, l };
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;
	const struct fkt_point_slot *slot = slot_of(hook);
	struct fkt_scratch *scratch;

	if (unlikely(!slot) || !fkt_instrument_on(slot->instrument->layer))
		return;
	scratch = fkt_scratch_get();
	if (scratch) {
		words[FKT_POINT_RECORD_WORD] = (unsigned long)scratch->room.record;
		if (((fill_long_fn)slot->record->fill)(&scratch->room, a, b, c, d, e, f, g, h, i, j, k, l))
			fate = ask(slot, words, STACK, scratch);
		else
			fate = FKT_FATE_MISSED + FKT_MISSED_ROOM;
	}
	fkt_scratch_put();
	fkt_count_hit(slot->instrument, fate);
}

/* Parameters that x86-64 passes in registers, behind the first one. */
#define SHORT 5

static void *probe_of(const struct fkt_point_slot *slot)
{
	if (!slot->program->insns && !fkt_writes_hits(slot->instrument))
		return probe_silent;
	if (slot->record)
		return slot->arguments <= SHORT ? (void *)probe_record_short : (void *)probe_record_long;
	return slot->arguments <= SHORT ? (void *)probe_short : (void *)probe_long;
}

/* ---- finding the tracepoints of the table that is being armed ---- */

/* A module may be broken: the pointer to its tracepoint's name may be wrong. */
static bool is_called(const struct tracepoint *tracepoint, const char *name)
{
	char own[FKT_POINT_NAME_BYTES];
	size_t bytes = strlen(name) + 1;

	return !copy_from_kernel_nofault(own, tracepoint->name, bytes) && !memcmp(own, name, bytes);
}

/*
 * Returns whether tracepoints of the module may have records: the kernel's headers make them, so those of out-of-tree
 * modules have none. module: NULL: the kernel.
 */
static bool has_record(const struct module *module)
{
	return !module || !test_bit(TAINT_OOT_MODULE, &module->taints);
}

static void match_in(struct tracepoint *tracepoint, const struct module *module)
{
	u32 i;

	for (i = 0; i < arming->count; i++) {
		struct fkt_point_slot *slot = &arming->slots[i];

		if (!slot->tracepoint && !slot->probe && (!slot->record || has_record(module)) &&
		    is_called(tracepoint, slot->name))
			slot->tracepoint = tracepoint;
	}
}

static void match(struct tracepoint *tracepoint, void *unused)
{
	match_in(tracepoint, NULL);
}

static void unregister(struct hook *hook)
{
	if (hook->tracepoint)
		tracepoint_probe_unregister(hook->tracepoint, hook->probe, hook);
	hook->tracepoint = NULL;
}

/* Forgets the tracepoints of a module that is being unloaded; its code does not run any more. */
static void forget(const struct tracepoint *tracepoint)
{
	struct hook *hook;
	u32 i;

	list_for_each_entry(hook, &hooks, list)
		if (hook->tracepoint == tracepoint)
			unregister(hook);
	for (i = 0; arming && i < arming->count; i++)
		if (arming->slots[i].tracepoint == tracepoint)
			arming->slots[i].tracepoint = NULL;
}

static void look_at_module(const struct module *module, bool is_going)
{
	int i;

	mutex_lock(&lock);
	for (i = 0; i < module->num_tracepoints; i++) {
		struct tracepoint *tracepoint = tracepoint_ptr_deref(&module->tracepoints_ptrs[i]);

		if (is_going)
			forget(tracepoint);
		else
			match_in(tracepoint, module);
	}
	mutex_unlock(&lock);
}

/* Called when a module with tracepoints is unloaded; for each of them when the notifier is unregistered, too. */
static int on_module(struct notifier_block *unused, unsigned long state, void *data)
{
	if (state == MODULE_STATE_GOING)
		look_at_module(((struct tp_module *)data)->mod, true);
	return NOTIFY_OK;
}

/*
 * Called for each module with tracepoints when the notifier is registered. Modules that are loaded later are ignored:
 * the programs were compiled for the types of those before.
 */
static int on_search(struct notifier_block *unused, unsigned long state, void *data)
{
	if (state == MODULE_STATE_COMING)
		look_at_module(((struct tp_module *)data)->mod, false);
	return NOTIFY_OK;
}

static struct notifier_block watch = { .notifier_call = on_module };
static struct notifier_block search = { .notifier_call = on_search };

static int find_tracepoints(void)
{
	int err = 0;

	/* First, so that no module is unloaded unseen between the search and the registering. */
	if (!is_watching)
		err = register_tracepoint_module_notifier(&watch);
	if (err)
		return err;
	is_watching = true;
	mutex_lock(&lock);
	for_each_kernel_tracepoint(match, NULL);
	mutex_unlock(&lock);
	err = register_tracepoint_module_notifier(&search);
	if (!err)
		unregister_tracepoint_module_notifier(&search);
	return err;
}

/* ---- hooks; callers must hold `lock` ---- */

static struct hook *find_hook(const struct fkt_point_slot *slot)
{
	struct hook *hook;

	list_for_each_entry(hook, &hooks, list)
		if (hook->tracepoint == slot->tracepoint && hook->probe == probe_of(slot) && !hook->is_claimed)
			return hook;
	return NULL;
}

static int make_hook(const struct fkt_point_slot *slot)
{
	struct hook *hook = kzalloc(sizeof(*hook), GFP_KERNEL_ACCOUNT);
	int number, err;

	if (!hook)
		return -ENOMEM;
	number = ida_alloc_max(&numbers, HOOKS_MOST - 1, GFP_KERNEL_ACCOUNT);
	if (number < 0) {
		kfree(hook);
		return number;
	}
	hook->number = number;
	hook->probe = probe_of(slot);
	hook->is_claimed = true;
	arming->of_hook[number] = slot;
	err = tracepoint_probe_register(slot->tracepoint, hook->probe, hook);
	if (!err)
		hook->tracepoint = slot->tracepoint;
	/* Also if it is not registered, so that fkt_record_points_disarm() frees it. */
	list_add(&hook->list, &hooks);
	return err;
}

static int hook_all(void)
{
	struct hook *hook;
	int err = 0;
	u32 i;

	arming->of_hook = kvcalloc(HOOKS_MOST, sizeof(*arming->of_hook), GFP_KERNEL_ACCOUNT);
	if (!arming->of_hook)
		return -ENOMEM;
	list_for_each_entry(hook, &hooks, list)
		hook->is_claimed = false;
	for (i = 0; !err && i < arming->count; i++) {
		const struct fkt_point_slot *slot = &arming->slots[i];

		if (slot->probe)
			continue;
		if (!slot->tracepoint)
			return -ENXIO;
		hook = find_hook(slot);
		if (!hook) {
			err = make_hook(slot);
			continue;
		}
		hook->is_claimed = true;
		arming->of_hook[hook->number] = slot;
	}
	return err;
}

/* ---- arming and disarming; callers must hold the recording's lock ---- */

/*
 * Registers probes with the table's tracepoints, besides those of the table in force. table: may be NULL. -ENXIO: there
 * is no such tracepoint. After an error the caller must go back with fkt_record_points_disarm(), or end.
 */
int fkt_record_points_arm(struct fkt_point_table *table)
{
	int err;

	if (!table)
		return 0;
	if (table->has_records) {
		err = fkt_scratch_records_get();
		if (err)
			return err;
	}
	mutex_lock(&lock);
	arming = table;
	mutex_unlock(&lock);
	err = find_tracepoints();
	mutex_lock(&lock);
	if (!err)
		err = hook_all();
	arming = NULL;
	mutex_unlock(&lock);
	return err;
}

/*
 * Leaves probes only on the tracepoints of this table, which was armed. table: may be NULL. When this returns, no probe
 * of other tracepoints runs any more.
 */
void fkt_record_points_disarm(const struct fkt_point_table *table)
{
	struct hook *hook, *next;
	LIST_HEAD(gone);

	mutex_lock(&lock);
	list_for_each_entry_safe(hook, next, &hooks, list) {
		if (table && table->of_hook && table->of_hook[hook->number])
			continue;
		unregister(hook);
		list_move(&hook->list, &gone);
	}
	mutex_unlock(&lock);
	if (list_empty(&gone))
		return;
	tracepoint_synchronize_unregister();
	list_for_each_entry_safe(hook, next, &gone, list) {
		ida_free(&numbers, hook->number);
		kfree(hook);
	}
}

/* When this returns, no hit is being recorded. */
void fkt_record_points_end(void)
{
	fkt_record_points_disarm(NULL);
	fkt_scratch_records_put();
	if (is_watching)
		unregister_tracepoint_module_notifier(&watch);
	is_watching = false;
}
