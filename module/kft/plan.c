// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a table of instruments of a configuration of KFT (fkt-kft(5)), as lib/instrument/kft_plan.cc does with
 * fkt_record --kft. Features of the tools alone are refused, with the place in the configuration.
 */

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <fkt/events.h>
#include <fkt/kft_parse.h>
#include <fkt/program.h>

#include "conditions.h"
#include "plan.h"

/* ---- programs ---- */

/* Numbers of pairs of programs, in the tables of calls and of entries. The first are those of the roles' conditions. */
enum pair {
	PAIR_WATCH = FKT_KFT_ROLES,
	PAIR_GROUPS, /* that of the first group */
};

/* Returns the program's bytes; 0: its condition is wrong, and the error is set. */
static u32 write_program(struct fkt_kft_plan *plan, u32 pair, bool at_exit, void *at, struct fkt_kft_error *error)
{
	const struct fkt_kft_trigger *trigger =
		pair < FKT_KFT_ROLES ? fkt_kft_role_trigger(plan->config, pair) : NULL;
	const struct fkt_kft_symbol *symbol = trigger ? fkt_kft_symbol_of(&plan->symbols, pair) : NULL;
	u32 bytes;

	if (symbol && trigger->condition.bytes && (trigger->moment == FKT_KFT_EXIT) == at_exit) {
		bytes = fkt_kft_write_trigger(at, plan->text, trigger, symbol, &plan->needs[pair], error);
		plan->asks_task |= plan->needs[pair].of_task;
		return bytes;
	}
	if (pair == PAIR_WATCH && !at_exit && fkt_kft_says(plan->config, FKT_KFT_WATCH))
		return fkt_kft_write_watch(at, plan->config);
	if (pair >= PAIR_GROUPS && (at_exit || fkt_kft_says(plan->config, FKT_KFT_UNTIMED)))
		return fkt_kft_write_limits(at, plan->config, plan->text,
					    plan->symbols.groups[pair - PAIR_GROUPS].mintime);
	return fkt_kft_write_nothing(at);
}

static int write_programs(struct fkt_kft_plan *plan, u32 pairs, struct fkt_kft_error *error)
{
	u32 bytes = 0, entry_bytes = 0, i, n;

	for (i = 0; i < pairs; i++) {
		bytes += fkt_kft_write_nothing(plan->call_programs + bytes);
		n = write_program(plan, i, true, plan->call_programs + bytes, error);
		if (!n)
			return -EINVAL;
		bytes += n;
		n = write_program(plan, i, false, plan->entry_programs + entry_bytes, error);
		if (!n)
			return -EINVAL;
		entry_bytes += n;
		entry_bytes += fkt_kft_write_nothing(plan->entry_programs + entry_bytes);
	}
	plan->calls.program_bytes = bytes;
	plan->entries.program_bytes = entry_bytes;
	plan->calls.program_count = pairs;
	plan->entries.program_count = pairs;
	return 0;
}

static int make_programs(struct fkt_kft_plan *plan, struct fkt_kft_error *error)
{
	const u32 pairs = PAIR_GROUPS + plan->symbols.group_count;
	const size_t room = array_size(pairs, FKT_KFT_PROGRAM_BYTES + sizeof(struct fkt_program));
	u32 i;

	plan->call_programs = kvzalloc(room, GFP_KERNEL_ACCOUNT);
	plan->entry_programs = kvzalloc(room, GFP_KERNEL_ACCOUNT);
	if (!plan->call_programs || !plan->entry_programs)
		return -ENOMEM;
	plan->asks_task = fkt_kft_needs_trampoline(plan->config);
	for (i = 0; i < plan->symbols.group_count; i++)
		plan->symbols.groups[i].shortest = fkt_kft_ticks(plan->symbols.groups[i].mintime);
	return write_programs(plan, pairs, error);
}

/* ---- instruments ---- */

static void make_instruments(struct fkt_kft_plan *plan)
{
	const bool repeats = fkt_kft_plan_repeats(plan);
	u32 i;

	for (i = 0; i < FKT_KFT_INSTRUMENTS; i++)
		plan->instruments[i] = (struct fkt_instrument){
			.action = FKT_ACTION_COUNT, .layer = FKT_L_INSTRUMENTS,
		};
	plan->instruments[FKT_KFT_CALLS].action = FKT_ACTION_RECORD;
	plan->instruments[FKT_KFT_WATCHES].action = FKT_ACTION_STACK;
	/* Also without a trigger: then run.c begins the recording. */
	plan->instruments[FKT_KFT_BEGINS].action = repeats ? FKT_ACTION_SET : FKT_ACTION_START;
	plan->instruments[FKT_KFT_BEGINS].flag = repeats ? FKT_KFT_RUNS : 0;
	if (fkt_kft_is_by_hit(&plan->config->stop)) {
		plan->instruments[FKT_KFT_ENDS].action = repeats ? FKT_ACTION_CLEAR : FKT_ACTION_STOP;
		plan->instruments[FKT_KFT_ENDS].flag = repeats ? FKT_KFT_RUNS : 0;
	}
	/* If nothing else begins the recording, it begins as soon as it is primed. */
	if (fkt_kft_is_primed_late(plan->config))
		plan->instruments[FKT_KFT_PRIMES].action =
			repeats || !fkt_kft_plan_waits(plan) ? FKT_ACTION_START : FKT_ACTION_PRIME;
	if (!fkt_kft_says(plan->config, FKT_KFT_CALLER))
		return;
	plan->instruments[FKT_KFT_ENTERS].action = FKT_ACTION_SET;
	plan->instruments[FKT_KFT_LEAVES].action = FKT_ACTION_CLEAR;
	plan->instruments[FKT_KFT_ENTERS].flag = FKT_FLAG_OF_TASK | FKT_KFT_INSIDE;
	plan->instruments[FKT_KFT_LEAVES].flag = FKT_FLAG_OF_TASK | FKT_KFT_INSIDE;
}

/* ---- places ---- */

/* Appends a further instrument on the symbol to those of its function, if it is the same. */
static void add_place(struct fkt_called *places, u32 *count, const struct fkt_called *place)
{
	places[*count] = *place;
	if (*count && places[*count - 1].function == place->function)
		places[*count].how |= FKT_CALLED_MORE;
	(*count)++;
}

/* Returns the role's instrument for entries, or for returns; 0: it has none. */
static u32 instrument_of(const struct fkt_kft_plan *plan, enum fkt_kft_role role, bool at_entry)
{
	static const u8 instruments[FKT_KFT_ROLES] = {
		[FKT_KFT_OF_START] = FKT_KFT_BEGINS, [FKT_KFT_OF_STOP] = FKT_KFT_ENDS,
		[FKT_KFT_OF_PRIME] = FKT_KFT_PRIMES,
	};
	const struct fkt_kft_trigger *trigger = fkt_kft_role_trigger(plan->config, role);

	if (!trigger)
		return at_entry ? FKT_KFT_ENTERS : FKT_KFT_LEAVES;
	return (trigger->moment == FKT_KFT_ENTRY) == at_entry ? instruments[role] : 0;
}

static int add_roles(struct fkt_kft_plan *plan, u32 number, struct fkt_kft_error *error)
{
	const struct fkt_kft_symbol *symbol = &plan->symbols.symbols[number];
	struct fkt_called place = { .function = symbol->address, .number = number };
	u32 role;

	for (role = 0; role < FKT_KFT_ROLES; role++) {
		if (!(symbol->roles >> role & 1))
			continue;
		place.how = 0;
		place.shortest = 0;
		place.program = role;
		place.instrument = instrument_of(plan, role, true);
		if (place.instrument)
			add_place(plan->entered, &plan->entries.count, &place);
		place.how = symbol->is_described ? 0 : FKT_CALLED_BY_PROBE;
		place.instrument = instrument_of(plan, role, false);
		if (!place.instrument)
			continue;
		if (place.how && fkt_kft_says(plan->config, FKT_KFT_KEEP))
			return fkt_kft_refuse(error, &fkt_kft_role_function(plan->config, role)->word,
					      "its arguments are not known, so a return probe sees its calls: not with keep children");
		place.shortest = plan->needs[role].shortest;
		add_place(plan->called, &plan->calls.count, &place);
	}
	return 0;
}

/* Adds the places that record the function: its calls, or with `untimed` its entry and its exit. */
static int add_recorded(struct fkt_kft_plan *plan, u32 number, struct fkt_kft_error *error)
{
	const struct fkt_kft_symbol *symbol = &plan->symbols.symbols[number];
	const struct fkt_kft_group *group = &plan->symbols.groups[symbol->group];
	struct fkt_called place = {
		.function = symbol->address,
		.number = number,
		.program = PAIR_GROUPS + symbol->group,
		.instrument = FKT_KFT_CALLS,
	};

	if (!symbol->is_described && fkt_kft_needs_trampoline(plan->config))
		return fkt_kft_refuse(error, group->function ? &group->function->word : &plan->config->said[0],
				      "its arguments are not known, so a return probe sees its calls: not with depth, cputime or keep children");
	plan->recorded++;
	plan->by_probe += !symbol->is_described;
	if (fkt_kft_says(plan->config, FKT_KFT_UNTIMED))
		add_place(plan->entered, &plan->entries.count, &place);
	place.how = symbol->is_described ? 0 : FKT_CALLED_BY_PROBE;
	if (fkt_kft_says(plan->config, FKT_KFT_UNTIMED))
		place.how |= FKT_CALLED_EXIT;
	else
		place.shortest = group->shortest;
	add_place(plan->called, &plan->calls.count, &place);
	return 0;
}

/* A function's calls are recorded before its triggers are hit. */
static int add_symbol(struct fkt_kft_plan *plan, u32 number, struct fkt_kft_error *error)
{
	const struct fkt_kft_symbol *symbol = &plan->symbols.symbols[number];
	int err = symbol->group != FKT_KFT_NO_GROUP ? add_recorded(plan, number, error) : 0;

	if (symbol->is_watched)
		add_place(plan->entered, &plan->entries.count, &(struct fkt_called){
			.function = symbol->address,
			.number = number | FKT_KFT_WATCHED,
			.program = PAIR_WATCH,
			.instrument = FKT_KFT_WATCHES,
		});
	return err ?: add_roles(plan, number, error);
}

/* Returns how many functions have a return probe. */
static u32 count_probes(const struct fkt_kft_plan *plan)
{
	u32 i, n = 0;

	for (i = 0; i < plan->calls.count; i++)
		n += (plan->called[i].how & (FKT_CALLED_BY_PROBE | FKT_CALLED_MORE)) == FKT_CALLED_BY_PROBE;
	return n;
}

static int make_places(struct fkt_kft_plan *plan, struct fkt_kft_error *error)
{
	/* Each function is recorded once in both tables; in that of entries it may also be watched. */
	const u32 most = 2 * plan->symbols.count + FKT_KFT_ROLES;
	u32 i;
	int err = 0;

	BUILD_BUG_ON(FKT_CALLS_MOST > FKT_KFT_WATCHED);
	plan->called = kvcalloc(most, sizeof(*plan->called), GFP_KERNEL_ACCOUNT);
	plan->entered = kvcalloc(most, sizeof(*plan->entered), GFP_KERNEL_ACCOUNT);
	if (!plan->called || !plan->entered)
		return -ENOMEM;
	for (i = 0; !err && i < plan->symbols.count; i++)
		err = add_symbol(plan, i, error);
	if (err)
		return err;
	if (count_probes(plan) > FKT_RETURN_PROBES_MOST)
		return fkt_kft_refuse(error, &plan->config->said[FKT_KFT_FUNCLIST],
				      "the arguments of too many of these functions are not known: at most 512");
	return plan->calls.count > FKT_CALLS_MOST || plan->entries.count > FKT_CALLS_MOST ? -E2BIG : 0;
}

/* Returns the rule for held calls: they last at least keep_percent of the groups' smallest minimum. */
static struct fkt_keep keep_of(const struct fkt_kft_plan *plan)
{
	const struct fkt_kft_config *config = plan->config;
	struct fkt_keep keep = { .shortest = U64_MAX };
	u32 i;

	if (!fkt_kft_says(config, FKT_KFT_KEEP))
		return (struct fkt_keep){};
	for (i = 0; i < plan->symbols.group_count; i++)
		keep.shortest = min(keep.shortest, plan->symbols.groups[i].shortest);
	keep.shortest = keep.shortest / 100 * config->keep_percent;
	keep.where = (fkt_kft_says(config, FKT_KFT_ONLYINTS) ? 0 : FKT_KEEP_IN_TASK) |
		     (fkt_kft_says(config, FKT_KFT_NOINTS) ? 0 : FKT_KEEP_IN_INTERRUPT);
	keep.levels = config->keep_depth;
	keep.percent = config->keep_percent;
	keep.deepest = config->depth;
	return keep;
}

/* Stores pointers to the tables, which must be complete, in the arguments of the start. */
static void give(struct fkt_kft_plan *plan)
{
	plan->calls.functions = (unsigned long)plan->called;
	plan->calls.programs = (unsigned long)plan->call_programs;
	plan->calls.threads = plan->asks_task ? FKT_TASK_FLAGS_MOST : 0;
	plan->calls.keep = keep_of(plan);
	plan->entries.functions = (unsigned long)plan->entered;
	plan->entries.programs = (unsigned long)plan->entry_programs;
	plan->given = (struct fkt_instruments){
		.instruments = (unsigned long)plan->instruments,
		.calls = plan->calls.count ? (unsigned long)&plan->calls : 0,
		.entries = plan->entries.count ? (unsigned long)&plan->entries : 0,
		.count = FKT_KFT_INSTRUMENTS,
		.threads = fkt_kft_says(plan->config, FKT_KFT_CALLER) ? FKT_TASK_FLAGS_MOST : 0,
	};
}

/* ---- the whole ---- */

static void free_plan(struct kref *refs)
{
	struct fkt_kft_plan *plan = container_of(refs, struct fkt_kft_plan, refs);

	fkt_kft_symbols_free(&plan->symbols);
	kvfree(plan->called);
	kvfree(plan->entered);
	kvfree(plan->call_programs);
	kvfree(plan->entry_programs);
	kvfree(plan->config);
	kvfree(plan->text);
	kfree(plan);
}

/* plan: may be NULL. */
void fkt_kft_plan_put(struct fkt_kft_plan *plan)
{
	if (plan)
		kref_put(&plan->refs, free_plan);
}

static int make(struct fkt_kft_plan *plan, const char *text, u32 bytes, struct fkt_kft_error *error)
{
	int err;

	plan->text = kvmalloc(bytes + 1, GFP_KERNEL_ACCOUNT);
	plan->config = kvmalloc(sizeof(*plan->config), GFP_KERNEL_ACCOUNT);
	if (!plan->text || !plan->config)
		return -ENOMEM;
	memcpy(plan->text, text, bytes);
	plan->bytes = bytes;
	plan->text[bytes] = 0;
	if (!fkt_kft_parse(plan->text, bytes, plan->config, error))
		return -EINVAL;
	plan->logentries = fkt_kft_says(plan->config, FKT_KFT_LOGENTRIES) ? plan->config->logentries : FKT_KFT_LENGTH;
	if (plan->config->logentries > FKT_KFT_LENGTH_MOST)
		return fkt_kft_refuse(error, &plan->config->said[FKT_KFT_LOGENTRIES],
				      "the log has at most 1048576 entries (fkt_record --kft has no limit)");
	err = fkt_kft_symbols_find(&plan->symbols, plan->config, plan->text, bytes, error) ?:
	      make_programs(plan, error) ?: make_places(plan, error);
	if (err)
		return err;
	make_instruments(plan);
	give(plan);
	return 0;
}

/*
 * Returns the plan of a configuration, or an ERR_PTR: -EINVAL, and sets the error; or one of those of
 * fkt_kft_symbols_find(), and sets the error's line to 0. May take a second.
 */
struct fkt_kft_plan *fkt_kft_plan_make(const char *text, u32 bytes, struct fkt_kft_error *error)
{
	struct fkt_kft_plan *plan = kzalloc(sizeof(*plan), GFP_KERNEL_ACCOUNT);
	int err;

	*error = (struct fkt_kft_error){};
	if (!plan)
		return ERR_PTR(-ENOMEM);
	kref_init(&plan->refs);
	err = make(plan, text, bytes, error);
	if (!err)
		return plan;
	fkt_kft_plan_put(plan);
	return ERR_PTR(err);
}

/* Returns whether the plan has functions of modules, or could have them when other modules are loaded. */
bool fkt_kft_plan_is_of_modules(const struct fkt_kft_plan *plan)
{
	u32 i;

	if (fkt_kft_says(plan->config, FKT_KFT_WATCH))
		return true;
	for (i = 0; i < plan->symbols.group_count; i++)
		if (plan->symbols.groups[i].is_pattern)
			return true;
	for (i = 0; i < plan->symbols.count; i++)
		if (plan->symbols.symbols[i].module)
			return true;
	return false;
}
