// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the functions that a configuration of KFT names among the symbols of the kernel and its modules, and drops
 * those that cannot be traced.
 */

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/time64.h>

#include <fkt/ioctl.h>
#include <fkt/kft_config.h>

#include "ring/clock.h"
#include "kernel_symbols.h"
#include "symbols.h"

/* ---- the symbols ---- */

/* Doubles the room of an array of `count` elements if it is full. */
static int make_room(void **array, u32 count, u32 add, u32 *room, size_t size)
{
	const u32 more = max(2 * *room, max(count + add, 1024U));
	void *larger;

	if (count + add <= *room)
		return 0;
	larger = kvmalloc_array(more, size, GFP_KERNEL_ACCOUNT);
	if (!larger)
		return -ENOMEM;
	if (*array)
		memcpy(larger, *array, count * size);
	kvfree(*array);
	*array = larger;
	*room = more;
	return 0;
}

static int add_symbol(struct fkt_kft_symbols *set, const struct fkt_kft_symbol *symbol, const char *name)
{
	const u32 bytes = strlen(name) + 1;
	int err = make_room((void **)&set->symbols, set->count, 1, &set->room, sizeof(*set->symbols)) ?:
		  make_room((void **)&set->names, set->name_bytes, bytes, &set->name_room, 1);

	if (err)
		return err;
	memcpy(set->names + set->name_bytes, name, bytes);
	set->symbols[set->count] = *symbol;
	set->symbols[set->count++].name = set->name_bytes;
	set->name_bytes += bytes;
	return 0;
}

/*
 * Holds the module until the search ends, so that its symbols and its description are of the same code. Returns false
 * if it is being unloaded, or there is no memory, which is an error.
 */
static bool hold(struct fkt_kft_symbols *set, struct module *module)
{
	/* The symbols of a module follow each other. */
	if (!module || (set->module_count && set->modules[set->module_count - 1] == module))
		return true;
	set->err = make_room((void **)&set->modules, set->module_count, 1, &set->module_room, sizeof(*set->modules));
	if (set->err || !try_module_get(module))
		return false;
	set->modules[set->module_count++] = module;
	return true;
}

static void let_go(struct fkt_kft_symbols *set)
{
	while (set->module_count)
		module_put(set->modules[--set->module_count]);
	kvfree(set->modules);
	set->modules = NULL;
}

static int see_symbol(void *data, const char *name, struct module *module, unsigned long address)
{
	struct fkt_kft_symbol symbol = { .address = address, .module = module };
	struct fkt_kft_symbols *set = data;
	u32 role;

	/* Offsets of per-CPU variables are no addresses. */
	if ((long)address >= 0)
		return 0;
	symbol.group = fkt_kft_group_of(set, name, module, address);
	symbol.is_watched = fkt_kft_says(set->config, FKT_KFT_WATCH);
	for (role = 0; role < FKT_KFT_ROLES; role++) {
		const struct fkt_kft_function *function = fkt_kft_role_function(set->config, role);

		if (function && fkt_kft_is_function(set, function, name, module, address))
			symbol.roles |= BIT(role);
	}
	if (symbol.group == FKT_KFT_NO_GROUP && !symbol.roles && !symbol.is_watched)
		return 0;
	if (hold(set, module))
		set->err = add_symbol(set, &symbol, name);
	return set->err;
}

/* ---- selection ---- */

/*
 * Returns whether return probes cannot see the calls that are recorded: they know no words of the task, and what they
 * see cannot be held.
 */
bool fkt_kft_needs_trampoline(const struct fkt_kft_config *config)
{
	return fkt_kft_says(config, FKT_KFT_DEPTH) || fkt_kft_says(config, FKT_KFT_CPUTIME) ||
	       fkt_kft_says(config, FKT_KFT_KEEP);
}

static bool is_single(const struct fkt_kft_symbols *set, const struct fkt_kft_symbol *symbol)
{
	return symbol->roles || (symbol->group != FKT_KFT_NO_GROUP && !set->groups[symbol->group].is_pattern);
}

/* Returns false for a function that only a pattern selects, is not described, and must not have a return probe. */
static bool may_stay(const struct fkt_kft_symbols *set, const struct fkt_kft_symbol *symbol, bool may_probe)
{
	return symbol->is_described || is_single(set, symbol) ||
	       (may_probe && !fkt_kft_is_unprobed(symbol->address));
}

/* Takes symbols that may not stay out of their groups; drops those without a group, role or watch. */
static void leave(struct fkt_kft_symbols *set, bool may_probe)
{
	u32 i, kept = 0;

	for (i = 0; i < set->count; i++) {
		struct fkt_kft_symbol *symbol = &set->symbols[i];

		if (symbol->group != FKT_KFT_NO_GROUP && !may_stay(set, symbol, may_probe)) {
			symbol->group = FKT_KFT_NO_GROUP;
			set->left_out++;
		}
		if (symbol->group != FKT_KFT_NO_GROUP || symbol->roles || symbol->is_watched)
			set->symbols[kept++] = *symbol;
	}
	set->count = kept;
}

static bool is_code(const struct fkt_kft_symbol *symbol, unsigned long begin, unsigned long end)
{
	if (!symbol->module)
		return begin >= end || (symbol->address >= begin && symbol->address < end);
	return fkt_kft_is_module_code(symbol->address);
}

/*
 * Returns false for what cannot be a function: data, and the padding before a function. They are two of three symbols,
 * and the kernel takes long to find out that ftrace does not know one: in a module it reads all symbols.
 */
static bool may_be_function(const struct fkt_kft_symbols *set, const struct fkt_kft_symbol *symbol,
			    unsigned long begin, unsigned long end)
{
	return strncmp(fkt_kft_symbol_name(set, symbol), "__pfx_", 6) && is_code(symbol, begin, end);
}

/*
 * Returns whether more functions need return probes than may have one. The kernel may compare a function's name with
 * all symbols of modules to find out that it takes a probe, so not more are asked for than are needed.
 */
static bool need_too_many_probes(const struct fkt_kft_symbols *set)
{
	u32 i, probes = 0;

	for (i = 0; i < set->count && probes <= FKT_RETURN_PROBES_MOST; i++) {
		const struct fkt_kft_symbol *symbol = &set->symbols[i];

		probes += symbol->group != FKT_KFT_NO_GROUP && !symbol->is_described && may_stay(set, symbol, true);
	}
	return probes > FKT_RETURN_PROBES_MOST;
}

/*
 * Drops the functions that cannot be traced. Functions whose arguments are not known need return probes: those that
 * only a pattern selects are dropped if they are too many, or the configuration needs what return probes cannot do.
 */
static void take(struct fkt_kft_symbols *set, const struct fkt_kft_tracer *tracer)
{
	const unsigned long begin = tracer->symbol("_stext"), end = tracer->symbol("_etext");
	u32 i, kept = 0;

	for (i = 0; i < set->count; i++) {
		const struct fkt_kft_symbol *symbol = &set->symbols[i];

		cond_resched();
		if (!may_be_function(set, symbol, begin, end))
			continue;
		if (tracer->may_trace(symbol->address))
			set->symbols[kept++] = *symbol;
		else
			set->left_out += symbol->group != FKT_KFT_NO_GROUP;
	}
	set->count = kept;
	leave(set, !fkt_kft_needs_trampoline(set->config) && !need_too_many_probes(set));
}

static int compare_addresses(const void *a, const void *b)
{
	const struct fkt_kft_symbol *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

/* Sorts the symbols by address. The kernel lists its own in this order, then those of modules, which are unsorted. */
static void sort_by_address(struct fkt_kft_symbols *set)
{
	unsigned long lowest = ULONG_MAX;
	u32 i, sorted;

	for (sorted = 1; sorted < set->count; sorted++)
		if (set->symbols[sorted].address < set->symbols[sorted - 1].address)
			break;
	for (i = sorted; i < set->count; i++)
		lowest = min(lowest, set->symbols[i].address);
	if (lowest == ULONG_MAX)
		return;
	while (sorted && set->symbols[sorted - 1].address > lowest)
		sorted--;
	sort(set->symbols + sorted, set->count - sorted, sizeof(*set->symbols), compare_addresses, NULL);
}

/* Sorts the symbols by address, and merges the names of one function into one symbol with the roles of all. */
static void order_by_address(struct fkt_kft_symbols *set)
{
	u32 i, kept = 0;

	sort_by_address(set);
	for (i = 0; i < set->count; i++) {
		struct fkt_kft_symbol *last = kept ? &set->symbols[kept - 1] : NULL;

		if (!last || last->address != set->symbols[i].address) {
			set->symbols[kept++] = set->symbols[i];
			continue;
		}
		last->roles |= set->symbols[i].roles;
		last->is_watched |= set->symbols[i].is_watched;
		last->group = min(last->group, set->symbols[i].group);
		last->is_described |= set->symbols[i].is_described;
		if (last->result_bytes)
			continue;
		last->result_bytes = set->symbols[i].result_bytes;
		last->is_result_signed = set->symbols[i].is_result_signed;
	}
	set->count = kept;
}

static int find(struct fkt_kft_symbols *set, const struct fkt_kft_tracer *tracer, struct fkt_kft_error *error)
{
	u32 found[FKT_KFT_ROLES], i;
	int err;

	fkt_kft_each_symbol(see_symbol, set);
	if (set->err)
		return set->err;
	for (i = 0; i < FKT_KFT_ROLES; i++)
		found[i] = fkt_kft_count_role(set, i);
	for (i = 0; i < set->group_count; i++)
		set->groups[i].found = fkt_kft_count_group(set, i);
	err = fkt_kft_describe(set, tracer);
	if (err)
		return err;
	take(set, tracer);
	order_by_address(set);
	return fkt_kft_check_groups(set, found, error);
}

/*
 * Finds the functions of a configuration. text: its `bytes` bytes, and a zero behind them. Returns 0; -EINVAL and sets
 * the error; -ENOPKG: there is no module fkt_calls; -ENOENT: the kernel does not list its functions; or another errno.
 * The caller must call fkt_kft_symbols_free() in any case. May take a second.
 */
int fkt_kft_symbols_find(struct fkt_kft_symbols *set, const struct fkt_kft_config *config, const char *text,
			 u32 bytes, struct fkt_kft_error *error)
{
	struct fkt_kft_tracer tracer;
	int err;

	*set = (struct fkt_kft_symbols){ .config = config };
	err = fkt_kft_tracer_get(&tracer);
	if (err)
		return err;
	err = fkt_kft_make_groups(set, text, bytes) ?: find(set, &tracer, error);
	let_go(set);
	fkt_kft_tracer_put(&tracer);
	return err;
}

void fkt_kft_symbols_free(struct fkt_kft_symbols *set)
{
	kvfree(set->words);
	kvfree(set->groups);
	kvfree(set->symbols);
	kvfree(set->names);
	*set = (struct fkt_kft_symbols){};
}

/* Returns a duration in ticks of the TSC, as the groups' minima are compared. */
u64 fkt_kft_ticks(u64 ns)
{
	struct fkt_clocks clocks = { .clock = FKT_CLOCK_TSC };

	fkt_clock_read(&clocks, false);
	return fkt_ticks_convert(ns, clocks.khz, NSEC_PER_MSEC);
}
