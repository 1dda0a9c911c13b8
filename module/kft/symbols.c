// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the functions that a configuration of KFT names among the symbols of the kernel and its modules, and the
 * description of their arguments.
 *
 * The kernel exports no function that lists its symbols. Those that do are found by their names, as in
 * calls/functions.c, and are called by static calls for the same reason.
 */

#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/static_call.h>
#include <linux/string.h>
#include <linux/stringhash.h>

#include <fkt/ioctl.h>
#include <fkt/kft_parse.h>

#include "../calls/functions.h"
#include "compat.h"
#include "conditions.h"
#include "groups.h"
#include "symbols.h"
#include "types.h"

/* ---- functions of the kernel that are not exported ---- */

static int no_symbols(fkt_symbol_fn fn, void *data)
{
	return 0;
}

static int no_module_symbols(FKT_SYMBOLS_OF_TYPE fkt_symbol_fn fn, void *data)
{
	return 0;
}

static struct module *no_module(unsigned long address)
{
	return NULL;
}

static struct module *any_module(unsigned long address)
{
	return THIS_MODULE;
}

static bool not_unprobed(unsigned long address)
{
	return false;
}

DEFINE_STATIC_CALL(fkt_kft_each_symbol, no_symbols);
DEFINE_STATIC_CALL(fkt_kft_each_module_symbol, no_module_symbols);
/* Must be called with preemption disabled. */
DEFINE_STATIC_CALL(fkt_kft_module_of, no_module);
/* As above; returns NULL if there is no module's code at the address. */
DEFINE_STATIC_CALL(fkt_kft_module_of_code, any_module);
/* Returns whether the kernel forbids kprobes at the address. */
DEFINE_STATIC_CALL(fkt_kft_is_unprobed, not_unprobed);

/* Functions that fkt_calls exports, while it is held. */
struct tracer {
	unsigned long (*symbol)(const char *name);
	bool (*may_trace)(unsigned long function);
};

static void put_tracer(const struct tracer *tracer)
{
	if (tracer->symbol)
		symbol_put(fkt_calls_symbol);
	if (tracer->may_trace)
		symbol_put(fkt_calls_may_trace);
}

/* Returns -ENOPKG if the module fkt_calls is not loaded, -ENOENT if the kernel does not list its symbols. */
static int get_tracer(struct tracer *tracer)
{
	void *found;

	*tracer = (struct tracer){ .symbol = symbol_get(fkt_calls_symbol) };
	if (tracer->symbol)
		tracer->may_trace = symbol_get(fkt_calls_may_trace);
	if (!tracer->may_trace) {
		put_tracer(tracer);
		return -ENOPKG;
	}
	found = (void *)tracer->symbol("kallsyms_on_each_symbol");
	if (!found) {
		put_tracer(tracer);
		return -ENOENT;
	}
	static_call_update(fkt_kft_each_symbol, found);
	/* Without these two, functions of modules are not found. */
	found = (void *)tracer->symbol("module_kallsyms_on_each_symbol");
	if (found)
		static_call_update(fkt_kft_each_module_symbol, found);
	found = (void *)tracer->symbol("__module_address");
	if (found)
		static_call_update(fkt_kft_module_of, found);
	found = (void *)tracer->symbol("__module_text_address");
	if (found)
		static_call_update(fkt_kft_module_of_code, found);
	found = (void *)tracer->symbol("within_kprobe_blacklist");
	if (found)
		static_call_update(fkt_kft_is_unprobed, found);
	return 0;
}

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

static int look_at(struct fkt_kft_symbols *set, const char *name, const struct module *module, unsigned long address)
{
	struct fkt_kft_symbol symbol = { .address = address, .module = module };
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
	return add_symbol(set, &symbol, name);
}

static int see_symbol(void *data, const char *name, FKT_SYMBOL_MODULE unsigned long address)
{
	struct fkt_kft_symbols *set = data;

	set->err = look_at(set, name, NULL, address);
	return set->err;
}

/* Called with the modules' mutex held, so that no module is freed. */
static int see_module_symbol(void *data, const char *name, FKT_SYMBOL_MODULE unsigned long address)
{
	struct fkt_kft_symbols *set = data;
	const struct module *module;

	preempt_disable();
	module = static_call(fkt_kft_module_of)(address);
	preempt_enable();
	if (!module)
		return 0;
	set->err = look_at(set, name, module, address);
	return set->err;
}

static int see_all(struct fkt_kft_symbols *set)
{
	static_call(fkt_kft_each_symbol)(see_symbol, set);
	if (!set->err)
		static_call(fkt_kft_each_module_symbol)(FKT_SYMBOLS_OF_ALL see_module_symbol, set);
	return set->err;
}

/* ---- the symbols by name, and their arguments ---- */

/*
 * The symbols by name: chains of those whose names have the same hash. There may be 200,000; sorting them would compare
 * each name with some 40 others.
 */
struct name_index {
	u32 *first; /* number of a chain's first symbol, plus one; 0: there is none */
	u32 *next; /* for each symbol, the number of the next one in its chain, plus one; 0: it is the last */
	u32 bits;
};

static u32 *chain_of(const struct name_index *index, const char *name)
{
	return &index->first[hash_32(full_name_hash(NULL, name, strlen(name)), index->bits)];
}

static bool is_called(const struct fkt_kft_symbols *set, u32 i, const char *name)
{
	return !strcmp(fkt_kft_symbol_name(set, &set->symbols[i]), name);
}

/*
 * Adds the symbol to the chain of its name's hash, and marks functions of one module that share their name but not
 * their address as ambiguous.
 */
static void put_symbol(struct fkt_kft_symbols *set, struct name_index *index, u32 i)
{
	struct fkt_kft_symbol *symbol = &set->symbols[i];
	const char *name = fkt_kft_symbol_name(set, symbol);
	u32 *first = chain_of(index, name), at;

	for (at = *first; at; at = index->next[at - 1]) {
		struct fkt_kft_symbol *other = &set->symbols[at - 1];

		if (other->module != symbol->module || !is_called(set, at - 1, name))
			continue;
		if (other->address != symbol->address)
			other->is_ambiguous = symbol->is_ambiguous = true;
		else
			symbol->is_ambiguous = other->is_ambiguous;
		break;
	}
	index->next[i] = *first;
	*first = i + 1;
}

static void free_index(struct name_index *index)
{
	kvfree(index->first);
	kvfree(index->next);
}

/*
 * Makes the index of all symbols, and marks those that share their name with another function as ambiguous. Returns 0,
 * after which the caller must call free_index(), or -ENOMEM.
 */
static int make_index(struct fkt_kft_symbols *set, struct name_index *index)
{
	u32 i;

	index->bits = max(ilog2(set->count | 1), 4);
	index->first = kvcalloc(1UL << index->bits, sizeof(*index->first), GFP_KERNEL);
	index->next = kvmalloc_array(set->count | 1, sizeof(*index->next), GFP_KERNEL);
	if (!index->first || !index->next) {
		free_index(index);
		return -ENOMEM;
	}
	for (i = 0; i < set->count; i++) {
		put_symbol(set, index, i);
		cond_resched();
	}
	return 0;
}

/* A search through one description. */
struct looking {
	struct fkt_kft_symbols *set;
	const struct name_index *index;
	const struct module *module;
};

static void see_result(struct fkt_kft_symbol *symbol, const struct fkt_kft_prototype *prototype)
{
	if (symbol->is_seen && (symbol->result_bytes != prototype->result_bytes ||
				symbol->is_result_signed != prototype->is_result_signed))
		symbol->is_ambiguous_result = true;
	symbol->is_seen = true;
	symbol->is_result_signed = prototype->is_result_signed;
	symbol->result_bytes = symbol->is_ambiguous || symbol->is_ambiguous_result ? 0 : prototype->result_bytes;
}

/* Called for each function that BTF describes. Of functions that share a name, only common properties are kept. */
static void see_function(void *data, const char *name, const struct fkt_kft_prototype *prototype)
{
	const struct looking *looking = data;
	struct fkt_kft_symbols *set = looking->set;
	u32 at;

	for (at = *chain_of(looking->index, name); at; at = looking->index->next[at - 1]) {
		struct fkt_kft_symbol *symbol = &set->symbols[at - 1];

		if (symbol->module != looking->module || !is_called(set, at - 1, name))
			continue;
		see_result(symbol, prototype);
		symbol->is_described = prototype->in_registers && !symbol->is_ambiguous;
		/* Stays set for later functions with this name. */
		symbol->is_ambiguous |= !prototype->in_registers;
	}
}

static void describe_module(struct fkt_kft_symbols *set, const struct name_index *index,
			    const struct fkt_kft_types *kernel, u32 i)
{
	struct looking looking = { set, index, set->symbols[i].module };
	struct fkt_kft_types types;
	struct module *module;
	const void *btf;
	size_t bytes = 0;

	preempt_disable();
	module = static_call(fkt_kft_module_of)(set->symbols[i].address);
	if (module != looking.module || !try_module_get(module))
		module = NULL;
	preempt_enable();
	if (!module)
		return;
	btf = fkt_module_btf(module, &bytes);
	if (!fkt_kft_types_open(&types, btf, bytes, kernel)) {
		fkt_kft_types_functions(&types, see_function, &looking);
		fkt_kft_types_close(&types);
	}
	module_put(module);
}

/* Searches the description of the module of symbol `i`, the first one of that module, for all its functions. */
static void look_up_module(struct fkt_kft_symbols *set, const struct name_index *index,
			   const struct fkt_kft_types *kernel, u32 i)
{
	const struct module *module = set->symbols[i].module;

	describe_module(set, index, kernel, i);
	for (; i < set->count; i++)
		set->symbols[i].is_looked_up |= set->symbols[i].module == module;
	cond_resched();
}

/* Marks the functions whose arguments are in registers according to BTF; without BTF none is marked. */
static int describe(struct fkt_kft_symbols *set, const struct name_index *index, const struct tracer *tracer)
{
	const void *begin = (void *)tracer->symbol("__start_BTF"), *end = (void *)tracer->symbol("__stop_BTF");
	struct looking looking = { set, index };
	struct fkt_kft_types kernel;
	int err;
	u32 i;

	if (!begin || end <= begin)
		return 0;
	err = fkt_kft_types_open(&kernel, begin, end - begin, NULL);
	if (err)
		return err == -ENOENT ? 0 : err;
	fkt_kft_types_functions(&kernel, see_function, &looking);
	for (i = 0; i < set->count; i++)
		if (set->symbols[i].module && !set->symbols[i].is_looked_up)
			look_up_module(set, index, &kernel, i);
	fkt_kft_types_close(&kernel);
	return 0;
}

/* ---- selection ---- */

static bool is_single(const struct fkt_kft_symbols *set, const struct fkt_kft_symbol *symbol)
{
	return symbol->roles || (symbol->group != FKT_KFT_NO_GROUP && !set->groups[symbol->group].is_pattern);
}

/* Takes symbols for which `may` is false out of their groups; drops those without a group, role or watch. */
static void leave(struct fkt_kft_symbols *set, bool (*may)(const struct fkt_kft_symbols *set,
							    const struct fkt_kft_symbol *symbol))
{
	u32 i, kept = 0;

	for (i = 0; i < set->count; i++) {
		struct fkt_kft_symbol *symbol = &set->symbols[i];

		if (symbol->group != FKT_KFT_NO_GROUP && !may(set, symbol)) {
			symbol->group = FKT_KFT_NO_GROUP;
			set->left_out++;
		}
		if (symbol->group != FKT_KFT_NO_GROUP || symbol->roles || symbol->is_watched)
			set->symbols[kept++] = *symbol;
	}
	set->count = kept;
}

/* Returns false for a function that only a pattern selects, is not described, and must not be probed. */
static bool may_be_probed(const struct fkt_kft_symbols *set, const struct fkt_kft_symbol *symbol)
{
	return symbol->is_described || is_single(set, symbol) || !static_call(fkt_kft_is_unprobed)(symbol->address);
}

static bool needs_no_probe(const struct fkt_kft_symbols *set, const struct fkt_kft_symbol *symbol)
{
	return symbol->is_described || is_single(set, symbol);
}

static bool is_code(const struct fkt_kft_symbol *symbol, unsigned long begin, unsigned long end)
{
	bool is_code;

	if (!symbol->module)
		return begin >= end || (symbol->address >= begin && symbol->address < end);
	preempt_disable();
	is_code = static_call(fkt_kft_module_of_code)(symbol->address);
	preempt_enable();
	return is_code;
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

		probes += symbol->group != FKT_KFT_NO_GROUP && !symbol->is_described && may_be_probed(set, symbol);
	}
	return probes > FKT_RETURN_PROBES_MOST;
}

/*
 * Drops the functions that cannot be traced. Functions whose arguments are not known need return probes: those that
 * only a pattern selects are dropped if they are too many, or the configuration needs what return probes cannot do.
 */
static void take(struct fkt_kft_symbols *set, const struct tracer *tracer)
{
	const unsigned long begin = tracer->symbol("_stext"), end = tracer->symbol("_etext");
	u32 i, kept = 0;

	for (i = 0; i < set->count; i++) {
		if (may_be_function(set, &set->symbols[i], begin, end) && tracer->may_trace(set->symbols[i].address))
			set->symbols[kept++] = set->symbols[i];
		else
			set->left_out += set->symbols[i].group != FKT_KFT_NO_GROUP;
		cond_resched();
	}
	set->count = kept;
	if (fkt_kft_needs_trampoline(set->config) || need_too_many_probes(set))
		leave(set, needs_no_probe);
	else
		leave(set, may_be_probed);
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

static int find(struct fkt_kft_symbols *set, const struct tracer *tracer, struct fkt_kft_error *error)
{
	struct name_index index;
	u32 found[FKT_KFT_ROLES], i;
	int err = fkt_kft_make_groups(set) ?: see_all(set) ?: make_index(set, &index);

	if (err)
		return err;
	for (i = 0; i < FKT_KFT_ROLES; i++)
		found[i] = fkt_kft_count_role(set, i);
	for (i = 0; i < set->group_count; i++)
		set->groups[i].found = fkt_kft_count_group(set, i);
	err = describe(set, &index, tracer);
	free_index(&index);
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
	struct tracer tracer;
	int err;

	*set = (struct fkt_kft_symbols){ .config = config };
	err = get_tracer(&tracer);
	if (err)
		return err;
	err = fkt_kft_end_names(set, text, bytes) ?: find(set, &tracer, error);
	put_tracer(&tracer);
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
