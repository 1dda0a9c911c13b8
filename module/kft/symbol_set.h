/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of a configuration, and the parts of it that select them (symbols.h finds the functions). */
#ifndef FKT_KFT_SYMBOL_SET_H
#define FKT_KFT_SYMBOL_SET_H

#include <linux/types.h>

struct fkt_kft_config;
struct fkt_kft_function;
struct module;

/* Roles of a function besides that its calls are recorded: bits of fkt_kft_symbol.roles. */
enum fkt_kft_role {
	FKT_KFT_OF_START,
	FKT_KFT_OF_STOP,
	FKT_KFT_OF_CALLER,
	/* Last: the hit that primes the start and stop triggers must not also reach them. */
	FKT_KFT_OF_PRIME,
	FKT_KFT_ROLES,
};

#define FKT_KFT_NO_GROUP U16_MAX

/* A function. */
struct fkt_kft_symbol {
	unsigned long address;
	const struct module *module; /* the function's; must not be accessed; NULL: the kernel itself */
	u32 name; /* place of its name in the set's text */
	u16 group; /* that records its calls: number in the set; FKT_KFT_NO_GROUP: none */
	u8 roles;
	bool is_watched; /* `watch` watches its entries */
	bool is_described; /* all its arguments are in registers, as far as is known */
	/* As in struct fkt_kft_prototype. */
	u8 result_bytes;
	bool is_result_signed;
	bool is_ambiguous; /* other functions, selected or not, have its name */
	bool is_seen; /* a description has it */
	bool is_ambiguous_result; /* functions with its name are described with different results */
};

/* A part of the configuration that applies to all functions that it selects. */
struct fkt_kft_group {
	const struct fkt_kft_function *function; /* NULL: all functions */
	const char *name; /* a name, or a pattern with `*` and `?`; of a module: "*" */
	const char *of_module; /* NULL: functions of any module */
	u64 mintime; /* ns */
	u64 shortest; /* `mintime` in ticks */
	u32 rank; /* fkt_kft_rank() */
	bool is_pattern; /* functions that cannot be traced are left out */
	bool fits; /* selects a symbol, which may be in another group */
	u32 found; /* symbols in this group */
};

struct fkt_kft_symbols {
	const struct fkt_kft_config *config;
	char *words; /* the configuration's text, with a zero behind each function's name */
	struct fkt_kft_group *groups;
	u32 group_count;
	struct fkt_kft_symbol *symbols; /* selected symbols, in the order of their addresses */
	u32 count, room;
	char *names;
	u32 name_bytes, name_room;
	struct module **modules; /* of symbols; held during the search */
	u32 module_count, module_room;
	u32 left_out; /* functions that only patterns select and whose calls cannot be recorded */
	int err;
};

/* Returns the function with the role; NULL: there is none. */
static inline const struct fkt_kft_symbol *fkt_kft_symbol_of(const struct fkt_kft_symbols *set, enum fkt_kft_role role)
{
	u32 i;

	for (i = 0; i < set->count; i++)
		if (set->symbols[i].roles >> role & 1)
			return &set->symbols[i];
	return NULL;
}

static inline const char *fkt_kft_symbol_name(const struct fkt_kft_symbols *set, const struct fkt_kft_symbol *symbol)
{
	return set->names + symbol->name;
}

#endif /* FKT_KFT_SYMBOL_SET_H */
