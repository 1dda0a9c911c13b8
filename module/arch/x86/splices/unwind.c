// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks through a detour are as whole as elsewhere: where the kernel's unwinder uses tables (ORC), this module's table
 * has entries for each detour, made of that of the instruction that it replaces. With frame pointers there is nothing
 * to tell, since a detour does not change them.
 *
 * The unwinder takes the table from struct module, without a lock. It has room for all detours from the start, in the
 * order of their addresses, so only entries change: those of a detour before a jump leads there.
 */

#include <linux/module.h>
#include <linux/string.h>

#include "splices/detour.h"
#include "splices/pool.h"
#include "splices/unwind.h"

#ifdef CONFIG_UNWINDER_ORC
#include <asm/orc_types.h>

#define OWN 2048 /* entries of the module's own code */
#define ENTRIES (OWN + FKT_COUNTERS * FKT_COUNTER_STACKS + FKT_MARKERS * FKT_MARKER_STACKS)

/* Entry n says what holds from ip[n] on: a distance from itself, as in the kernel's tables. */
static int ip[ENTRIES];
static struct orc_entry entries[ENTRIES];

/* Of the kernel's own text. */
static struct table {
	const int *begin, *end;
	const struct orc_entry *entries;
} kernel_table;

/* What the module came with. */
static int *own_ip;
static struct orc_entry *own_entries;
static unsigned int own_count;

static unsigned long address_of(const int *distance)
{
	return (unsigned long)distance + READ_ONCE(*distance);
}

static void set_address(int *distance, unsigned long address)
{
	WRITE_ONCE(*distance, (int)(address - (unsigned long)distance));
}

/* Returns the table's entry of an address. */
static const struct orc_entry *entry_of(const struct table *table, unsigned long address)
{
	const int *low = table->begin, *high = table->end - 1, *found = table->begin;

	while (low <= high) {
		const int *middle = low + (high - low) / 2;

		if (address_of(middle) <= address) {
			found = middle;
			low = middle + 1;
		} else {
			high = middle - 1;
		}
	}
	return table->entries + (found - table->begin);
}

/* Puts one of the module's own entries at the end. */
static void copy_own(unsigned int *count, unsigned int n)
{
	set_address(&ip[*count], address_of(&own_ip[n]));
	entries[(*count)++] = own_entries[n];
}

/* Unused detours have the entries of what is before: no one comes there. */
static void fill_pool(unsigned int *count, struct fkt_pool *pool)
{
	unsigned int i;

	pool->first_stack = *count;
	for (i = 0; i < pool->count * pool->stacks; i++)
		set_address(&ip[(*count)++], (unsigned long)fkt_pool_place(pool, i / pool->stacks));
}

/* The module's code lies in front of the pools and behind them. */
static unsigned int fill(void)
{
	const unsigned long begin = (unsigned long)fkt_counter_pool;
	const unsigned long bytes = sizeof(fkt_counter_pool) + sizeof(fkt_marker_pool);
	unsigned int n = 0, count = 0, i;

	for (; n < own_count && address_of(&own_ip[n]) < begin; n++)
		copy_own(&count, n);
	for (i = 0; i < FKT_POOLS; i++)
		fill_pool(&count, &fkt_pools[i]);
	while (n < own_count && address_of(&own_ip[n]) - begin < bytes)
		n++;
	for (; n < own_count; n++)
		copy_own(&count, n);
	return count;
}

int fkt_unwind_init(void *(*lookup)(const char *name))
{
	struct mod_arch_specific *arch = &THIS_MODULE->arch;
	unsigned int count;

	kernel_table.begin = lookup("__start_orc_unwind_ip");
	kernel_table.end = lookup("__stop_orc_unwind_ip");
	kernel_table.entries = lookup("__start_orc_unwind");
	if (!kernel_table.begin || !kernel_table.end || !kernel_table.entries)
		return -ENOENT;
	own_ip = arch->orc_unwind_ip;
	own_entries = arch->orc_unwind;
	own_count = arch->num_orcs;
	if (own_count > OWN) {
		own_ip = NULL;
		return -E2BIG;
	}
	count = fill();
	/* No other code of the module runs yet: only this task's stack can be unwound through it. */
	arch->orc_unwind_ip = ip;
	arch->orc_unwind = entries;
	/* The table before its length. Pairs with the unwinder, whose reads x86 does not reorder. */
	smp_wmb();
	WRITE_ONCE(arch->num_orcs, count);
	return 0;
}

void fkt_unwind_exit(void)
{
	struct mod_arch_specific *arch = &THIS_MODULE->arch;

	if (!own_ip)
		return;
	WRITE_ONCE(arch->num_orcs, own_count);
	/* The count of the shorter table first. */
	smp_wmb();
	arch->orc_unwind_ip = own_ip;
	arch->orc_unwind = own_entries;
}

/*
 * Tells what holds in the detour with this number, which is in the place of the instruction at the address. module: the
 * one with that instruction, which has code of its own in its table; NULL: the kernel. Called before a jump leads
 * there, or by the next user of its number, when nobody can be there any more.
 */
void fkt_unwind_set(const struct fkt_pool *pool, unsigned int number, const struct fkt_detour *detour,
		    unsigned long address, const struct module *module)
{
	const unsigned long begin = (unsigned long)fkt_pool_place(pool, number);
	const struct table table = !module ? kernel_table : (struct table){
		.begin = module->arch.orc_unwind_ip,
		.end = module->arch.orc_unwind_ip + module->arch.num_orcs,
		.entries = module->arch.orc_unwind,
	};
	unsigned int i, at = pool->first_stack + number * pool->stacks;

	for (i = 0; i < pool->stacks; i++) {
		const struct fkt_detour_stack *stack = &detour->stack[min_t(unsigned int, i, detour->stacks - 1)];
		const unsigned long place = stack->is_behind ? address + detour->length : address;
		struct orc_entry entry = *entry_of(&table, place);

		if (entry.sp_reg == ORC_REG_SP)
			entry.sp_offset += stack->pushed;
		entries[at + i] = entry;
		set_address(&ip[at + i], begin + stack->offset);
	}
}

#else

int fkt_unwind_init(void *(*lookup)(const char *name))
{
	return 0;
}

void fkt_unwind_exit(void)
{
}

void fkt_unwind_set(const struct fkt_pool *pool, unsigned int number, const struct fkt_detour *detour,
		    unsigned long address, const struct module *module)
{
}

#endif
