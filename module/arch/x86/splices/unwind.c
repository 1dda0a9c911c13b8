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
#include "splices/unwind.h"

#ifdef CONFIG_UNWINDER_ORC
#include <asm/orc_types.h>

#define OWN 2048 /* entries of the module's own code */
#define ENTRIES (OWN + FKT_DETOURS * FKT_DETOUR_STACKS)

/* Entry n says what holds from ip[n] on: a distance from itself, as in the kernel's tables. */
static int ip[ENTRIES];
static struct orc_entry entries[ENTRIES];
static unsigned int first; /* of the detours */

/* The kernel's table. */
static const int *kernel_begin, *kernel_end;
static const struct orc_entry *kernel_entries;

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

/* Returns the entry of an address in the kernel's text. */
static const struct orc_entry *entry_of(unsigned long address)
{
	const int *low = kernel_begin, *high = kernel_end - 1, *found = kernel_begin;

	while (low <= high) {
		const int *middle = low + (high - low) / 2;

		if (address_of(middle) <= address) {
			found = middle;
			low = middle + 1;
		} else {
			high = middle - 1;
		}
	}
	return kernel_entries + (found - kernel_begin);
}

/* Puts one of the module's own entries at the end. */
static void copy_own(unsigned int *count, unsigned int n)
{
	set_address(&ip[*count], address_of(&own_ip[n]));
	entries[(*count)++] = own_entries[n];
}

/* The module's code lies in front of the pool and behind it. */
static unsigned int fill(void)
{
	const unsigned long pool = (unsigned long)fkt_detour_pool;
	unsigned int n = 0, count = 0, i;

	for (; n < own_count && address_of(&own_ip[n]) < pool; n++)
		copy_own(&count, n);
	first = count;
	/* Unused detours have the entries of what is before: no one comes there. */
	for (i = 0; i < FKT_DETOURS * FKT_DETOUR_STACKS; i++)
		set_address(&ip[count++], pool + i / FKT_DETOUR_STACKS * FKT_DETOUR_BYTES);
	while (n < own_count && address_of(&own_ip[n]) - pool < sizeof(fkt_detour_pool))
		n++;
	for (; n < own_count; n++)
		copy_own(&count, n);
	return count;
}

int fkt_unwind_init(void *(*lookup)(const char *name))
{
	struct mod_arch_specific *arch = &THIS_MODULE->arch;
	unsigned int count;

	kernel_begin = lookup("__start_orc_unwind_ip");
	kernel_end = lookup("__stop_orc_unwind_ip");
	kernel_entries = lookup("__start_orc_unwind");
	if (!kernel_begin || !kernel_end || !kernel_entries)
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
 * Tells what holds in the detour with this number, which is in the place of the instruction at the address. Called
 * before a jump leads there, or by the next user of its number, when nobody can be there any more.
 */
void fkt_unwind_set(unsigned int number, const struct fkt_detour *detour, unsigned long address)
{
	const unsigned long begin = (unsigned long)fkt_detour_pool[number];
	unsigned int i, at = first + number * FKT_DETOUR_STACKS;

	for (i = 0; i < FKT_DETOUR_STACKS; i++) {
		const struct fkt_detour_stack *stack = &detour->stack[min_t(unsigned int, i, detour->stacks - 1)];
		struct orc_entry entry = *entry_of(stack->is_behind ? address + detour->length : address);

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

void fkt_unwind_set(unsigned int number, const struct fkt_detour *detour, unsigned long address)
{
}

#endif
