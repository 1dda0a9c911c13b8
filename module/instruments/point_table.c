// SPDX-License-Identifier: GPL-2.0-only
/* Makes the table of tracepoints (struct fkt_points). */

#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <fkt/events.h>
#include <fkt/point_hit.h>
#include <fkt/probe.h>
#include <fkt/program_verify.h>
#include <fkt/ring.h>

#include "call_quick.h"
#include "instrument_slot.h"
#include "point_records.h"
#include "point_table.h"
#include "program_block.h"

static int take_description(struct fkt_point_slot *slot, const char __user *text)
{
	char *copy = strndup_user(text, FKT_PROBE_TEXT_BYTES);

	if (IS_ERR(copy))
		return PTR_ERR(copy);
	slot->probe = copy;
	return 0;
}

/* Sets the slot's record if its program uses the tracepoint's own. -ESTALE: it is not as FKT_POINT_RECORD said. */
static int take_record(struct fkt_point_table *table, struct fkt_point_slot *slot, const struct fkt_point *point)
{
	if (point->probe)
		return -EINVAL;
	if (!table->has_records) {
		if (fkt_point_records_get())
			return -ESTALE;
		table->has_records = true;
	}
	slot->record = fkt_point_record_find(point->name);
	if (!slot->record || slot->record->bytes != point->record_bytes || slot->record->arguments != point->arguments)
		return -ESTALE;
	return 0;
}

/* Sets slot->quick. Returns 0 or -ENOMEM. */
static int make_quick(struct fkt_point_slot *slot)
{
	struct fkt_call_quick_values *values;

	if (slot->instrument->action != FKT_ACTION_RECORD || slot->record)
		return 0;
	values = kzalloc(sizeof(*values), GFP_KERNEL_ACCOUNT);
	if (!values)
		return -ENOMEM;
	if (!fkt_call_quick_emits(values, slot->program)) {
		kfree(values);
		return 0;
	}
	values->head = fkt_word(0, FKT_E_POINT_VALUES, FKT_POINT_ARG(slot->number, values->count));
	values->bytes = 8 * (1 + values->count);
	values->commit = fkt_ring_to_commit(values->bytes);
	slot->quick = values;
	return 0;
}

/* The program is the one at `offset` of the block; its size is added to `offset`. */
static int add_point(struct fkt_point_table *table, const struct fkt_point *point, const struct fkt_points *points,
		     const struct fkt_instrument_table *instruments, size_t *offset, struct fkt_program_check *check)
{
	struct fkt_point_slot *slot = &table->slots[table->count];
	struct fkt_program_rules rules;
	int err;

	if (point->pad || point->number >= FKT_POINTS_MOST || point->instrument >= instruments->count ||
	    point->arguments > FKT_POINT_ARGUMENTS ||
	    strnlen(point->name, sizeof(point->name)) == sizeof(point->name))
		return -EINVAL;
	if (point->record_bytes) {
		err = take_record(table, slot, point);
		if (err)
			return err;
	}
	rules = fkt_point_rules(point->arguments, point->record_bytes);
	slot->program = fkt_program_take(table->program_block, points->program_bytes, offset, &rules, check);
	if (!slot->program)
		return -EINVAL;
	slot->instrument = &instruments->slots[point->instrument];
	slot->table = table;
	slot->number = point->number;
	slot->arguments = point->arguments;
	memcpy(slot->name, point->name, sizeof(slot->name));
	table->count++;
	err = make_quick(slot);
	if (err)
		return err;
	return point->probe ? take_description(slot, u64_to_user_ptr(point->probe)) : 0;
}

static int add_points(struct fkt_point_table *table, const struct fkt_points *points,
		      const struct fkt_instrument_table *instruments)
{
	struct fkt_program_check *check;
	struct fkt_point *copy;
	size_t offset = 0;
	int err = 0;
	u32 i;

	copy = vmemdup_user(u64_to_user_ptr(points->points), array_size(points->count, sizeof(*copy)));
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	check = kmalloc(sizeof(*check), GFP_KERNEL_ACCOUNT);
	table->slots = kvcalloc(points->count, sizeof(*table->slots), GFP_KERNEL_ACCOUNT);
	if (!check || !table->slots)
		err = -ENOMEM;
	for (i = 0; !err && i < points->count; i++)
		err = add_point(table, &copy[i], points, instruments, &offset, check);
	if (!err && offset != points->program_bytes)
		err = -EINVAL;
	kfree(check);
	kvfree(copy);
	return err;
}

static int fill(struct fkt_point_table *table, const struct fkt_points *points,
		const struct fkt_instrument_table *instruments)
{
	if (!points->count || points->count > FKT_POINTS_MOST || points->program_bytes > FKT_CALLS_PROGRAM_BYTES)
		return -EINVAL;
	table->program_block = vmemdup_user(u64_to_user_ptr(points->programs), points->program_bytes);
	if (IS_ERR(table->program_block)) {
		int err = PTR_ERR(table->program_block);

		table->program_block = NULL;
		return err;
	}
	return add_points(table, points, instruments);
}

/*
 * Returns the table that the struct fkt_points at a user address describes, or an ERR_PTR. The table refers to the
 * instruments, which must be freed later. Called without locks, because it reads user memory.
 */
struct fkt_point_table *fkt_point_table_get(u64 user, const struct fkt_instrument_table *instruments)
{
	struct fkt_point_table *table;
	struct fkt_points points;
	int err;

	if (copy_from_user(&points, u64_to_user_ptr(user), sizeof(points)))
		return ERR_PTR(-EFAULT);
	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return ERR_PTR(-ENOMEM);
	err = fill(table, &points, instruments);
	if (!err)
		return table;
	fkt_point_table_free(table);
	return ERR_PTR(err);
}

/* Drops the reference to the module fkt_records. Called when no probe uses the table any more. */
void fkt_point_table_drop_records(struct fkt_point_table *table)
{
	if (table->has_records)
		fkt_point_records_put();
	table->has_records = false;
}

/* Frees everything that the table refers to, and makes it empty. */
void fkt_point_table_clear(struct fkt_point_table *table)
{
	u32 i;

	fkt_point_table_drop_records(table);
	for (i = 0; i < table->count; i++) {
		kfree(table->slots[i].probe);
		kfree(table->slots[i].quick);
	}
	kvfree(table->slots);
	kvfree(table->of_hook);
	kvfree(table->program_block);
	memset(table, 0, sizeof(*table));
}

/* table: may be NULL. */
void fkt_point_table_free(struct fkt_point_table *table)
{
	if (!table)
		return;
	fkt_point_table_clear(table);
	kfree(table);
}
