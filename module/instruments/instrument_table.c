// SPDX-License-Identifier: GPL-2.0-only
/* Makes the table of instruments and those of their places from a struct fkt_instruments. */

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/program.h>

#include "call_quick.h"
#include "call_table.h"
#include "given.h"
#include "handlers.h"
#include "histogram.h"
#include "instrument_table.h"
#include "mask.h"
#include "point_table.h"
#include "user_table.h"

static bool is_flag(u32 flag, u32 action)
{
	if (flag == FKT_FLAG_NOT_SELF)
		return action == FKT_ACTION_RECORD || action == FKT_ACTION_STACK;
	return flag & FKT_FLAG_OF_TASK ? (flag & ~FKT_FLAG_OF_TASK) < FKT_TASK_FLAGS : flag < FKT_PROGRAM_FLAGS;
}

static bool is_sound(const struct fkt_instrument *instrument)
{
	struct fkt_instrument others = {
		.action = instrument->action, .layer = instrument->layer, .flag = instrument->flag,
	};

	if (instrument->action >= FKT_ACTIONS || !fkt_is_layer(instrument->layer) ||
	    !is_flag(instrument->flag, instrument->action))
		return false;
	if (instrument->action == FKT_ACTION_HANDLER &&
	    strscpy_pad(others.handler, instrument->handler, sizeof(others.handler)) < 0)
		return false;
	return instrument->action == FKT_ACTION_HISTOGRAM || !memcmp(instrument, &others, sizeof(others));
}

/* Returns the number of the bit in the mask by which the instrument's hits are seen. */
static u32 layer_of(const struct fkt_instrument *instrument)
{
	switch (instrument->action) {
	case FKT_ACTION_START:
		return FKT_LAYER_WAITS;
	case FKT_ACTION_PRIME:
		return FKT_LAYER_PRIMES;
	default:
		return instrument->layer;
	}
}

/* bytes: of the previous histograms on each CPU; those of this one are added. */
static int add_instrument(struct fkt_instrument_table *table, const struct fkt_instrument *instrument, size_t *bytes)
{
	struct fkt_instrument_slot *slot = &table->slots[table->count];

	if (!is_sound(instrument))
		return -EINVAL;
	if (instrument->action == FKT_ACTION_HISTOGRAM) {
		struct fkt_histogram *histogram;

		*bytes += fkt_histogram_bytes(instrument);
		if (*bytes > FKT_HISTOGRAM_BYTES)
			return -EINVAL;
		histogram = fkt_histogram_make(instrument);
		if (IS_ERR(histogram))
			return PTR_ERR(histogram);
		slot->histogram = histogram;
	}
	/* From here on fkt_instrument_table_free() frees what the slot has. */
	slot->number = table->count++;
	slot->action = instrument->action;
	slot->layer = layer_of(instrument);
	slot->flag = instrument->flag;
	slot->given = *instrument;
	if (instrument->action == FKT_ACTION_HANDLER) {
		struct fkt_handler *handler = fkt_handler_get(instrument->handler);

		if (IS_ERR(handler))
			return PTR_ERR(handler);
		slot->handler = handler;
		slot->handle = fkt_handler_function(handler);
	}
	slot->hits = alloc_percpu_gfp(struct fkt_hits, GFP_KERNEL_ACCOUNT);
	return slot->hits ? 0 : -ENOMEM;
}

static int add_instruments(struct fkt_instrument_table *table, const struct fkt_instruments *instruments,
			   enum fkt_given by)
{
	struct fkt_instrument *copy;
	size_t bytes = 0;
	int err;
	u32 i;

	if (!instruments->count || instruments->count > FKT_INSTRUMENTS_MOST)
		return -EINVAL;
	copy = fkt_given_dup(instruments->instruments, array_size(instruments->count, sizeof(*copy)), by);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	table->slots = kvcalloc(instruments->count, sizeof(*table->slots), GFP_KERNEL_ACCOUNT);
	err = table->slots ? 0 : -ENOMEM;
	for (i = 0; !err && i < instruments->count; i++)
		err = add_instrument(table, &copy[i], &bytes);
	kvfree(copy);
	return err;
}

/* Sets *places to the table at the address, unless that is 0. */
static int add_functions(struct fkt_call_table **places, u64 at, enum fkt_call_form form,
			 const struct fkt_instrument_table *table, enum fkt_given by)
{
	struct fkt_call_table *got;

	if (!at)
		return 0;
	got = fkt_call_table_get(at, form, table, by);
	if (IS_ERR(got))
		return PTR_ERR(got);
	*places = got;
	return 0;
}

static int add_places(struct fkt_instrument_table *table, const struct fkt_instruments *instruments, u32 clock,
		      enum fkt_given by)
{
	void *got;
	int err;

	/* Calls are timed by the TSC. */
	if (instruments->calls && clock != FKT_CLOCK_TSC)
		return -EOPNOTSUPP;
	err = add_functions(&table->calls, instruments->calls, FKT_FORM_CALL, table, by) ?:
	      add_functions(&table->entries, instruments->entries, FKT_FORM_ENTRY, table, by) ?:
	      add_functions(&table->instructions, instruments->instructions, FKT_FORM_INSTRUCTION, table, by);
	if (err)
		return err;
	/* The functions below read user memory only. */
	if (by == FKT_GIVEN_BY_KERNEL)
		return instruments->points || instruments->users ? -EINVAL : 0;
	if (instruments->points) {
		got = fkt_point_table_get(instruments->points, table);
		if (IS_ERR(got))
			return PTR_ERR(got);
		table->points = got;
	}
	if (instruments->users) {
		got = fkt_user_table_get(instruments->users, table);
		if (IS_ERR(got))
			return PTR_ERR(got);
		table->users = got;
	}
	return 0;
}

/*
 * Returns the table that the struct fkt_instruments at this address describes, or an ERR_PTR. -EPERM: the file was
 * opened without CAP_SYS_ADMIN. clock: of the recording. Called without locks, because it may read user memory.
 */
struct fkt_instrument_table *fkt_instrument_table_get(const struct file *file, u64 at, u32 clock, enum fkt_given by)
{
	struct fkt_instruments instruments;
	struct fkt_instrument_table *table;
	int err;

	if (!file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN))
		return ERR_PTR(-EPERM);
	err = fkt_given_copy(&instruments, at, sizeof(instruments), by);
	if (err)
		return ERR_PTR(err);
	if (instruments.threads > FKT_TASK_FLAGS_MOST)
		return ERR_PTR(-EINVAL);
	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return ERR_PTR(-ENOMEM);
	table->threads = instruments.threads;
	err = add_instruments(table, &instruments, by) ?: add_places(table, &instruments, clock, by);
	if (!err && fkt_instrument_table_has(table, FKT_ACTION_PRIME) &&
	    !fkt_instrument_table_has(table, FKT_ACTION_START))
		err = -EINVAL;
	if (!err)
		return table;
	fkt_instrument_table_free(table);
	return ERR_PTR(err);
}

/* table: may be NULL. */
void fkt_instrument_table_free(struct fkt_instrument_table *table)
{
	u32 i;

	if (!table)
		return;
	fkt_call_table_free(table->calls);
	fkt_call_table_free(table->entries);
	fkt_call_table_free(table->instructions);
	fkt_point_table_free(table->points);
	fkt_user_table_free(table->users);
	for (i = 0; i < table->count; i++)
		fkt_handler_put(table->slots[i].handler);
	for (i = table->handed_on; i < table->count; i++) {
		fkt_histogram_free(table->slots[i].histogram);
		free_percpu(table->slots[i].hits);
	}
	kvfree(table->slots);
	kfree(table);
}

/*
 * Prepares the exchange of `before` for `table`. -EINVAL: `table` does not have all instruments of `before` at their
 * places, where they go on with their counts. -EOPNOTSUPP: both have functions with return probes, and not the same; or
 * what is kept differs.
 */
int fkt_instrument_table_follows(struct fkt_instrument_table *table, const struct fkt_instrument_table *before)
{
	u32 i;

	if (table->count < before->count)
		return -EINVAL;
	for (i = 0; i < before->count; i++)
		if (memcmp(&table->slots[i].given, &before->slots[i].given, sizeof(before->slots[i].given)))
			return -EINVAL;
	if (!before->calls)
		return 0;
	if (table->calls && !fkt_call_table_same_keep(table->calls, before->calls))
		return -EOPNOTSUPP;
	if (before->calls->by_probe && table->calls && table->calls->by_probe &&
	    !fkt_call_table_same_probes(table->calls, before->calls))
		return -EOPNOTSUPP;
	if (!table->calls)
		table->calls = fkt_call_table_make(before->calls);
	if (!table->calls)
		return -ENOMEM;
	return fkt_call_table_add_gone(table->calls, before->calls, table->slots, before->slots);
}

static void take_hits(struct fkt_call_table *table)
{
	if (table)
		fkt_call_quick_take_hits(table->quick);
}

/*
 * `table` shares the counts and histograms of the instruments of `before` from now on; `before` stays in use until
 * it is freed. Called before a probe can find `table`.
 */
void fkt_instrument_table_take_results(struct fkt_instrument_table *table, struct fkt_instrument_table *before)
{
	u32 i;

	for (i = 0; i < before->count; i++) {
		free_percpu(table->slots[i].hits);
		fkt_histogram_free(table->slots[i].histogram);
		table->slots[i].hits = before->slots[i].hits;
		table->slots[i].histogram = before->slots[i].histogram;
	}
	before->handed_on = before->count;
	take_hits(table->calls);
	take_hits(table->entries);
	take_hits(table->instructions);
}

/* Returns the instrument's histogram; NULL: it has none, or there is no such instrument. table: may be NULL. */
const struct fkt_histogram *fkt_instrument_table_histogram(const struct fkt_instrument_table *table, u32 number)
{
	if (!table || number >= table->count)
		return NULL;
	/* The number comes from user space and is used as an index. */
	return table->slots[array_index_nospec(number, table->count)].histogram;
}

static void add_hits(const struct fkt_hits *hits, struct fkt_hit_counts *counts)
{
	u32 i;

	counts->kept += READ_ONCE(hits->of[FKT_FATE_KEPT]);
	counts->dropped += READ_ONCE(hits->of[FKT_FATE_DROPPED]);
	for (i = 0; i < FKT_MISSED_REASONS; i++)
		counts->missed[i] += READ_ONCE(hits->of[FKT_FATE_MISSED + i]);
}

/* Sets the counts of one instrument. -ENXIO: there is no such instrument, or no such CPU. table: may be NULL. */
int fkt_instrument_table_counts(const struct fkt_instrument_table *table, struct fkt_hit_counts *counts)
{
	const struct fkt_instrument_slot *slot;
	bool is_found = counts->cpu == FKT_ALL_CPUS;
	int cpu;

	if (!table || counts->instrument >= table->count)
		return -ENXIO;
	/* The number comes from user space and is used as an index. */
	slot = &table->slots[array_index_nospec(counts->instrument, table->count)];
	/* The CPU's number is only compared, not used as an index. */
	for_each_possible_cpu(cpu) {
		if (counts->cpu != FKT_ALL_CPUS && counts->cpu != cpu)
			continue;
		is_found = true;
		add_hits(per_cpu_ptr(slot->hits, cpu), counts);
	}
	return is_found ? 0 : -ENXIO;
}

/* Returns the layers of its instruments. table: may be NULL. */
u64 fkt_instrument_table_layers(const struct fkt_instrument_table *table)
{
	u64 layers = 0;
	u32 i;

	for (i = 0; table && i < table->count; i++)
		layers |= 1ULL << table->slots[i].given.layer;
	return layers;
}

/* Returns whether one of the instruments has FKT_FLAG_NOT_SELF. table: may be NULL. */
bool fkt_instrument_table_leaves_out(const struct fkt_instrument_table *table)
{
	u32 i;

	for (i = 0; table && i < table->count; i++)
		if (table->slots[i].flag == FKT_FLAG_NOT_SELF)
			return true;
	return false;
}

/* Returns whether one of the instruments has this action. table: may be NULL. */
bool fkt_instrument_table_has(const struct fkt_instrument_table *table, enum fkt_action action)
{
	u32 i;

	for (i = 0; table && i < table->count; i++)
		if (table->slots[i].action == action)
			return true;
	return false;
}
