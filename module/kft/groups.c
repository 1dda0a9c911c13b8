// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parts of a configuration of KFT that select functions: names, patterns, addresses and modules. A function that
 * fits several parts belongs to the first of them in the order of their ranks.
 */

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <fkt/kft_rules.h>
#include <fkt/text_fits.h>

#include "symbols.h"

/* ---- messages ---- */

/* Sets the error. Returns -EINVAL. */
int fkt_kft_refuse(struct fkt_kft_error *error, const struct fkt_kft_word *word, const char *fmt, ...)
{
	va_list arguments;

	error->line = word->line;
	error->column = word->column;
	va_start(arguments, fmt);
	vscnprintf(error->message, sizeof(error->message), fmt, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* ---- the parts of the configuration ---- */

/* Returns the trigger of the role if it waits for a hit; NULL: there is none. */
const struct fkt_kft_trigger *fkt_kft_role_trigger(const struct fkt_kft_config *config, enum fkt_kft_role role)
{
	const struct fkt_kft_trigger *const triggers[FKT_KFT_ROLES] = {
		[FKT_KFT_OF_START] = &config->start, [FKT_KFT_OF_STOP] = &config->stop,
		[FKT_KFT_OF_PRIME] = &config->prime,
	};

	return triggers[role] && fkt_kft_is_by_hit(triggers[role]) ? triggers[role] : NULL;
}

/* Returns the function of the role; NULL: the configuration has none. */
const struct fkt_kft_function *fkt_kft_role_function(const struct fkt_kft_config *config, enum fkt_kft_role role)
{
	const struct fkt_kft_trigger *trigger = fkt_kft_role_trigger(config, role);

	if (role == FKT_KFT_OF_CALLER)
		return fkt_kft_says(config, FKT_KFT_CALLER) ? &config->caller : NULL;
	return trigger ? &trigger->function : NULL;
}

/* Returns the function's name in the words, where it ends with a zero. */
static char *name_in(const struct fkt_kft_symbols *set, const struct fkt_kft_function *function)
{
	return set->words + function->word.at;
}

static void end_name(struct fkt_kft_symbols *set, const struct fkt_kft_function *function)
{
	char *c;

	/* A blank, a comment, or the zero behind the text. */
	set->words[function->word.at + function->word.bytes] = 0;
	/* Names of modules have no dashes where they are loaded. */
	if (function->kind == FKT_KFT_MODULE)
		for (c = name_in(set, function); *c; c++)
			*c = *c == '-' ? '_' : *c;
}

/* Copies the text, whose `bytes` bytes have a zero behind them, ends the names in it, and makes the groups. */
int fkt_kft_make_groups(struct fkt_kft_symbols *set, const char *text, u32 bytes)
{
	const struct fkt_kft_config *config = set->config;
	const struct fkt_kft_function *function;
	u32 i;

	set->group_count = config->group_count;
	set->words = kvmalloc(bytes + 1, GFP_KERNEL_ACCOUNT);
	set->groups = kvcalloc(set->group_count, sizeof(*set->groups), GFP_KERNEL);
	if (!set->words || !set->groups)
		return -ENOMEM;
	memcpy(set->words, text, bytes + 1);
	for (i = 0; i < config->function_count; i++)
		end_name(set, &config->functions[i]);
	for (i = 0; i < FKT_KFT_ROLES; i++) {
		function = fkt_kft_role_function(config, i);
		if (function)
			end_name(set, function);
	}
	for (i = 0; i < set->group_count; i++) {
		function = fkt_kft_group(config, i);
		set->groups[i] = (struct fkt_kft_group){
			.function = function,
			.mintime = function && function->has_mintime ? function->mintime : config->mintime,
			.is_pattern = !function || function->is_pattern,
		};
	}
	return 0;
}

/* ---- the functions that they fit ---- */

/* Returns whether this part of the configuration selects the function. The module must not be freed meanwhile. */
bool fkt_kft_is_function(const struct fkt_kft_symbols *set, const struct fkt_kft_function *function, const char *name,
			 const struct module *module, unsigned long address)
{
	switch (function->kind) {
	case FKT_KFT_ADDRESS:
		return function->address == address;
	case FKT_KFT_MODULE:
		return module && !strcmp(module->name, name_in(set, function));
	default:
		return fkt_text_fits(name, name_in(set, function));
	}
}

/* Functions that FKT calls to run a program: tracing them would record FKT's own calls. */
static bool is_own(const char *name)
{
	return !strcmp(name, "copy_from_kernel_nofault") || !strcmp(name, "copy_from_kernel_nofault_allowed");
}

static bool is_left_out(const struct fkt_kft_symbols *set, const char *name, const struct module *module,
			unsigned long address)
{
	u32 i;

	for (i = 0; i < set->config->function_count; i++)
		if (set->config->functions[i].is_left_out &&
		    fkt_kft_is_function(set, &set->config->functions[i], name, module, address))
			return true;
	return is_own(name);
}

/* Returns the number of the group that records the calls of the function; FKT_KFT_NO_GROUP: none does. */
u16 fkt_kft_group_of(struct fkt_kft_symbols *set, const char *name, const struct module *module,
		     unsigned long address)
{
	u16 first = FKT_KFT_NO_GROUP;
	u32 i;

	for (i = 0; i < set->group_count; i++) {
		struct fkt_kft_group *group = &set->groups[i];

		if ((first != FKT_KFT_NO_GROUP && group->fits) ||
		    (group->function && !fkt_kft_is_function(set, group->function, name, module, address)))
			continue;
		group->fits = true;
		first = min_t(u16, first, i);
	}
	return first == FKT_KFT_NO_GROUP || is_left_out(set, name, module, address) ? FKT_KFT_NO_GROUP : first;
}

/* ---- checks of the result ---- */

/* Counts the functions of a group, and of a role. */
u32 fkt_kft_count_group(const struct fkt_kft_symbols *set, u16 group)
{
	u32 i, n = 0;

	for (i = 0; i < set->count; i++)
		n += set->symbols[i].group == group;
	return n;
}

u32 fkt_kft_count_role(const struct fkt_kft_symbols *set, u32 role)
{
	u32 i, n = 0;

	for (i = 0; i < set->count; i++)
		n += set->symbols[i].roles >> role & 1;
	return n;
}

/* found: symbols with this name; taken: those of them that can be traced. */
static int check_single(const struct fkt_kft_symbols *set, const struct fkt_kft_function *function, u32 found,
			u32 taken, struct fkt_kft_error *error)
{
	const char *name = name_in(set, function);

	if (taken == 1)
		return 0;
	if (taken > 1)
		return fkt_kft_refuse(error, &function->word,
				      "%u functions are called \"%.60s\": write the address of one", taken, name);
	if (found)
		return fkt_kft_refuse(error, &function->word, "the kernel does not let calls of \"%.60s\" be traced",
				      name);
	if (function->kind == FKT_KFT_ADDRESS)
		return fkt_kft_refuse(error, &function->word, "no function of this kernel begins at \"%.60s\"", name);
	return fkt_kft_refuse(error, &function->word, "no function of this kernel is called \"%.60s\"", name);
}

static int check_group(const struct fkt_kft_symbols *set, u32 i, struct fkt_kft_error *error)
{
	static const struct fkt_kft_word begin = { .line = 1, .column = 1 };
	const struct fkt_kft_group *group = &set->groups[i];
	const u32 taken = fkt_kft_count_group(set, i);

	/* All functions that it fits are in other groups or left out. */
	if (group->fits && !group->found)
		return 0;
	if (!group->is_pattern)
		return check_single(set, group->function, group->found, taken, error);
	if (taken)
		return 0;
	if (!group->function)
		return fkt_kft_refuse(error, &begin,
				      "this kernel does not describe its functions: name them in a funclist");
	return fkt_kft_refuse(error, &group->function->word, "\"%.60s\" fits no function that can be traced",
			      name_in(set, group->function));
}

/* Checks that a function is left: those that are left out are in no group. */
static int check_left(const struct fkt_kft_symbols *set, struct fkt_kft_error *error)
{
	u32 i;

	for (i = 0; i < set->count; i++)
		if (set->symbols[i].group != FKT_KFT_NO_GROUP)
			return 0;
	for (i = 0; i < set->config->function_count; i++)
		if (set->config->functions[i].is_left_out)
			return fkt_kft_refuse(error, &set->config->functions[i].word,
					      "all functions of the configuration are left out: nothing would be recorded");
	return 0;
}

/* Checks that each single function exists, and that each pattern fits one. found: symbols by role. */
int fkt_kft_check_groups(const struct fkt_kft_symbols *set, const u32 *found, struct fkt_kft_error *error)
{
	int err = 0;
	u32 i;

	for (i = 0; !err && i < FKT_KFT_ROLES; i++) {
		const struct fkt_kft_function *function = fkt_kft_role_function(set->config, i);

		if (function)
			err = check_single(set, function, found[i], fkt_kft_count_role(set, i), error);
	}
	for (i = 0; !err && i < set->group_count; i++)
		err = check_group(set, i, error);
	return err ?: check_left(set, error);
}
