// SPDX-License-Identifier: GPL-2.0-only
/* Makes the table of places in user programs (struct fkt_users). */

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <fkt/program_verify.h>
#include <fkt/user_hit.h>

#include "instrument_slot.h"
#include "program_block.h"
#include "user_table.h"

struct pair {
	const struct fkt_program *entry, *exit;
	u64 mark; /* fkt_program_mark() */
	bool asks_duration; /* the second program asks for FKT_CALL_DURATION */
};

/* A table that is being made. */
struct making {
	struct fkt_user_table *table;
	const struct fkt_users *users;
	const struct fkt_instrument_table *instruments;
	const struct fkt_user *places;
	struct pair *pairs;
};

static bool is_sound(const struct fkt_user *place, const struct making *making)
{
	return place->number < FKT_USER_NUMBERS && place->program < making->users->program_count &&
	       place->instrument < making->instruments->count && place->how < FKT_USER_HOWS &&
	       (s64)place->offset >= 0 && (s64)place->counter >= 0;
}

static bool sees_return(const struct fkt_user *place)
{
	return place->how == FKT_USER_CALL || place->how == FKT_USER_EXIT;
}

/*
 * Recording what is executed of a file takes the right to read it: returns the file, which must be regular and open for
 * reading; ERR_PTR(-EBADF) or ERR_PTR(-EINVAL) otherwise.
 */
static struct file *get_file_of(int fd)
{
	struct file *file = fget(fd);

	if (!file)
		return ERR_PTR(-EBADF);
	if (file->f_mode & FMODE_READ && S_ISREG(file_inode(file)->i_mode))
		return file;
	fput(file);
	return ERR_PTR(-EINVAL);
}

static int add_place(struct making *making, const struct fkt_user *place)
{
	struct fkt_user_table *table = making->table;
	struct fkt_user_slot *slot = &table->slots[table->count];
	const struct pair *pair;
	struct file *file;

	if (!is_sound(place, making))
		return -EINVAL;
	pair = &making->pairs[place->program];
	/* The second program would never run, or the first one emits more than can be kept. */
	if (sees_return(place) ? pair->entry->words > FKT_CALL_KEPT : pair->exit->insns)
		return -EINVAL;
	file = get_file_of(place->file);
	if (IS_ERR(file))
		return PTR_ERR(file);
	slot->file = file;
	slot->instrument = &making->instruments->slots[place->instrument];
	slot->entry = pair->entry;
	slot->exit = pair->exit;
	slot->mark = pair->mark;
	slot->needs_entry = place->how == FKT_USER_CALL ||
			    (place->how == FKT_USER_EXIT && (pair->entry->insns || pair->asks_duration));
	slot->offset = place->offset;
	slot->counter = place->counter;
	slot->number = place->number;
	slot->how = place->how;
	table->has_returns |= sees_return(place);
	/* From here on fkt_user_table_free() drops the reference to the file. */
	table->count++;
	return 0;
}

/*
 * Whether a function returns at the place is not known yet: the rules are the widest ones. The block is never changed
 * again, and user space cannot reach it, so what was verified stays true.
 */
static int take_pair(struct making *making, struct pair *pair, size_t *offset, struct fkt_program_check *check)
{
	const void *block = making->table->program_block;
	const size_t bytes = making->users->program_bytes, begin = *offset;
	struct fkt_program_rules rules = fkt_user_rules();

	pair->entry = fkt_program_take(block, bytes, offset, &rules, check);
	if (!pair->entry)
		return -EINVAL;
	rules = fkt_user_return_rules(min_t(u32, pair->entry->words, FKT_CALL_KEPT));
	rules.words &= ~(1ULL << FKT_CALL_DURATION);
	pair->exit = fkt_program_take(block, bytes, offset, &rules, check);
	if (!pair->exit) {
		pair->asks_duration = true;
		rules.words |= 1ULL << FKT_CALL_DURATION;
		pair->exit = fkt_program_take(block, bytes, offset, &rules, check);
	}
	if (!pair->exit)
		return -EINVAL;
	pair->mark = fkt_program_mark(block + begin, *offset - begin);
	return 0;
}

static int take_pairs(struct making *making)
{
	struct fkt_program_check *check = kmalloc(sizeof(*check), GFP_KERNEL_ACCOUNT);
	size_t offset = 0;
	int err = check ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; !err && i < making->users->program_count; i++)
		err = take_pair(making, &making->pairs[i], &offset, check);
	kfree(check);
	return err ?: offset == making->users->program_bytes ? 0 : -EINVAL;
}

static int make(struct making *making)
{
	int err = take_pairs(making);
	u32 i;

	for (i = 0; !err && i < making->users->count; i++)
		err = add_place(making, &making->places[i]);
	return err;
}

static int fill(struct fkt_user_table *table, const struct fkt_users *users,
		const struct fkt_instrument_table *instruments)
{
	struct making making = { .table = table, .users = users, .instruments = instruments };
	int err = -ENOMEM;

	if (!users->count || users->count > FKT_USERS_MOST || users->pad || !users->program_count ||
	    users->program_bytes > FKT_CALLS_PROGRAM_BYTES ||
	    users->program_count > users->program_bytes / (2 * sizeof(struct fkt_program)))
		return -EINVAL;
	table->program_block = vmemdup_user(u64_to_user_ptr(users->programs), users->program_bytes);
	if (IS_ERR(table->program_block)) {
		err = PTR_ERR(table->program_block);
		table->program_block = NULL;
		return err;
	}
	making.places = vmemdup_user(u64_to_user_ptr(users->places), array_size(users->count, sizeof(*making.places)));
	if (IS_ERR(making.places))
		return PTR_ERR(making.places);
	making.pairs = kvcalloc(users->program_count, sizeof(*making.pairs), GFP_KERNEL_ACCOUNT);
	table->slots = kvcalloc(users->count, sizeof(*table->slots), GFP_KERNEL_ACCOUNT);
	if (making.pairs && table->slots)
		err = make(&making);
	kvfree(making.pairs);
	kvfree(making.places);
	return err;
}

/*
 * Returns the table that the struct fkt_users at a user address describes, or an ERR_PTR; -EBADF: a place has no file.
 * The table refers to the instruments, which must be freed later. Called without locks, because it reads user memory.
 */
struct fkt_user_table *fkt_user_table_get(u64 user, const struct fkt_instrument_table *instruments)
{
	struct fkt_user_table *table;
	struct fkt_users users;
	int err;

	if (copy_from_user(&users, u64_to_user_ptr(user), sizeof(users)))
		return ERR_PTR(-EFAULT);
	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return ERR_PTR(-ENOMEM);
	err = fill(table, &users, instruments);
	if (!err)
		return table;
	fkt_user_table_free(table);
	return ERR_PTR(err);
}

/* table: may be NULL. */
void fkt_user_table_free(struct fkt_user_table *table)
{
	u32 i;

	if (!table)
		return;
	for (i = 0; i < table->count; i++)
		fput(table->slots[i].file);
	kvfree(table->slots);
	kvfree(table->of_probe);
	kvfree(table->program_block);
	kfree(table);
}
