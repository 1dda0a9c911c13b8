// SPDX-License-Identifier: GPL-2.0-only
/* Makes the table of tracepoints from what FKT_START was given (struct fkt_points). */

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/user_namespace.h>

#include <fkt/events.h>
#include <fkt/point_hit.h>
#include <fkt/program_verify.h>

#include "point_table.h"
#include "program_block.h"

/* The program is the one at `offset` of the block; its size is added to `offset`. */
static int add_point(struct fkt_point_table *table, const struct fkt_point *point, const struct fkt_points *points,
		     size_t *offset, struct fkt_program_check *check)
{
	struct fkt_point_slot *slot = &table->slots[table->count];
	struct fkt_program_rules rules;

	if (point->number >= FKT_POINTS_MOST || point->instrument >= points->instruments ||
	    !fkt_is_layer(point->layer) || point->pad || point->arguments > FKT_POINT_ARGUMENTS || strnlen(point->name, sizeof(point->name)) == sizeof(point->name))
		return -EINVAL;
	rules = fkt_point_rules(point->arguments);
	slot->program = fkt_program_take(table->program_block, points->program_bytes, offset, &rules, check);
	if (!slot->program)
		return -EINVAL;
	slot->sums = &table->sums[point->instrument];
	slot->number = point->number;
	slot->arguments = point->arguments;
	slot->layer = point->layer;
	memcpy(slot->name, point->name, sizeof(slot->name));
	table->count++;
	return 0;
}

static int add_points(struct fkt_point_table *table, const struct fkt_points *points)
{
	struct fkt_program_check *check;
	struct fkt_point *copy;
	size_t offset = 0;
	int err = 0;
	u32 i;

	copy = vmemdup_user(u64_to_user_ptr(points->points), array_size(points->count, sizeof(*copy)));
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	check = kmalloc(sizeof(*check), GFP_KERNEL);
	table->slots = kvcalloc(points->count, sizeof(*table->slots), GFP_KERNEL);
	if (!check || !table->slots)
		err = -ENOMEM;
	for (i = 0; !err && i < points->count; i++)
		err = add_point(table, &copy[i], points, &offset, check);
	if (!err && offset != points->program_bytes)
		err = -EINVAL;
	kfree(check);
	kvfree(copy);
	return err;
}

static int fill(struct fkt_point_table *table, const struct fkt_points *points)
{
	if (!points->instruments || points->instruments > FKT_CALLS_INSTRUMENTS || !points->count ||
	    points->count > FKT_POINTS_MOST || points->program_bytes > FKT_CALLS_PROGRAM_BYTES || points->pad)
		return -EINVAL;
	table->instruments = points->instruments;
	table->sums = __alloc_percpu(points->instruments * sizeof(struct fkt_call_sums), sizeof(u64));
	if (!table->sums)
		return -ENOMEM;
	table->program_block = vmemdup_user(u64_to_user_ptr(points->programs), points->program_bytes);
	if (IS_ERR(table->program_block)) {
		int err = PTR_ERR(table->program_block);

		table->program_block = NULL;
		return err;
	}
	return add_points(table, points);
}

/*
 * Returns the table that start->points describes; NULL: it names none; or an ERR_PTR. Called without locks, because it
 * reads user memory.
 */
struct fkt_point_table *fkt_point_table_get(const struct file *owner, const struct fkt_start *start)
{
	struct fkt_point_table *table;
	struct fkt_points points;
	int err;

	if (!start->points)
		return NULL;
	if (!file_ns_capable(owner, &init_user_ns, CAP_SYS_ADMIN))
		return ERR_PTR(-EPERM);
	if (copy_from_user(&points, u64_to_user_ptr(start->points), sizeof(points)))
		return ERR_PTR(-EFAULT);
	table = kzalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return ERR_PTR(-ENOMEM);
	err = fill(table, &points);
	if (!err)
		return table;
	fkt_point_table_free(table);
	return ERR_PTR(err);
}

/* Frees everything that the table refers to, and makes it empty. */
void fkt_point_table_clear(struct fkt_point_table *table)
{
	free_percpu(table->sums);
	kvfree(table->slots);
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
