/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of a configuration of KFT, and the parts of it that select them. */
#ifndef FKT_KFT_SYMBOLS_H
#define FKT_KFT_SYMBOLS_H

#include <linux/types.h>

struct fkt_kft_config;
struct fkt_kft_error;
struct fkt_kft_function;
struct fkt_kft_tracer;
struct fkt_kft_trigger;
struct fkt_kft_word;
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
	u8 result_bytes; /* if the result is a number or a pointer; 0: it is not */
	bool is_result_signed;
	bool is_ambiguous; /* other functions, selected or not, have its name */
	bool is_seen; /* a description has it */
	bool is_ambiguous_result; /* functions with its name are described with different results */
};

/* A part of the configuration that applies to all functions that it selects. */
struct fkt_kft_group {
	const struct fkt_kft_function *function; /* NULL: all functions */
	u64 mintime; /* ns */
	u64 shortest; /* `mintime` in ticks */
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

/* groups.c */
int fkt_kft_refuse(struct fkt_kft_error *error, const struct fkt_kft_word *word, const char *fmt, ...);
const struct fkt_kft_trigger *fkt_kft_role_trigger(const struct fkt_kft_config *config, enum fkt_kft_role role);
const struct fkt_kft_function *fkt_kft_role_function(const struct fkt_kft_config *config, enum fkt_kft_role role);
int fkt_kft_make_groups(struct fkt_kft_symbols *set, const char *text, u32 bytes);
bool fkt_kft_is_function(const struct fkt_kft_symbols *set, const struct fkt_kft_function *function, const char *name,
			 const struct module *module, unsigned long address);
u16 fkt_kft_group_of(struct fkt_kft_symbols *set, const char *name, const struct module *module,
		     unsigned long address);
u32 fkt_kft_count_group(const struct fkt_kft_symbols *set, u16 group);
u32 fkt_kft_count_role(const struct fkt_kft_symbols *set, u32 role);
int fkt_kft_check_groups(const struct fkt_kft_symbols *set, const u32 *found, struct fkt_kft_error *error);

/* describe.c */
int fkt_kft_describe(struct fkt_kft_symbols *set, const struct fkt_kft_tracer *tracer);

/* symbols.c */
bool fkt_kft_needs_trampoline(const struct fkt_kft_config *config);
int fkt_kft_symbols_find(struct fkt_kft_symbols *set, const struct fkt_kft_config *config, const char *text,
			 u32 bytes, struct fkt_kft_error *error);
u64 fkt_kft_ticks(u64 ns);
void fkt_kft_symbols_free(struct fkt_kft_symbols *set);

#endif /* FKT_KFT_SYMBOLS_H */
