// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a table of instruments of a configuration of KFT (fkt-kft(5)), as lib/instrument/kft_plan.cc does with
 * fkt_record --kft. What only the tools can do is refused, with the place in the configuration.
 */

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <fkt/events.h>
#include <fkt/kft_parse.h>
#include <fkt/program.h>

#include "conditions.h"
#include "plan.h"

static int wrong(struct fkt_kft_error *error, const struct fkt_kft_word *word, const char *message)
{
	error->line = word->line;
	error->column = word->column;
	strscpy(error->message, message, sizeof(error->message));
	return -EINVAL;
}

/* ---- what is refused ---- */

static int refuse_trigger(const struct fkt_kft_plan *plan, const struct fkt_kft_trigger *trigger,
			  enum fkt_kft_key key, struct fkt_kft_error *error)
{
	const bool by_hit = trigger->moment == FKT_KFT_ENTRY || trigger->moment == FKT_KFT_EXIT;

	if (trigger->condition.bytes)
		return wrong(error, &trigger->condition, "a trigger with a condition is for fkt_record --kft alone");
	if (fkt_kft_plan_repeats(plan) && !by_hit)
		return wrong(error, &plan->config->said[fkt_kft_says(plan->config, key) ? key : FKT_KFT_AUTOREPEAT],
			     "autorepeat needs a trigger start and a trigger stop by entry or exit");
	return 0;
}

static int refuse_impossible(const struct fkt_kft_plan *plan, struct fkt_kft_error *error)
{
	static const struct {
		enum fkt_kft_key key;
		const char *message;
	} impossible[] = {
		{ FKT_KFT_KEEP, "\"keep children\" is for fkt_record --kft alone" },
		{ FKT_KFT_UNTIMED, "\"untimed\" is for fkt_record --kft alone" },
		{ FKT_KFT_WATCH, "\"watch\" is for fkt_record --kft alone" },
	};
	const struct fkt_kft_config *config = plan->config;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(impossible); i++)
		if (fkt_kft_says(config, impossible[i].key))
			return wrong(error, &config->said[impossible[i].key], impossible[i].message);
	if (config->prime.moment != FKT_KFT_NEVER && config->prime.moment != FKT_KFT_NOW)
		return wrong(error, &config->said[FKT_KFT_PRIME], "\"prime\" with a moment cannot be done");
	if (config->stop.moment == FKT_KFT_TIME && !config->stop.time)
		return wrong(error, &config->said[FKT_KFT_STOP], "a stop after no time");
	if (fkt_kft_says(config, FKT_KFT_CPUTIME) && !config->mintime && !config->maxtime &&
	    !fkt_kft_says(config, FKT_KFT_OWN_MINTIMES))
		return wrong(error, &config->said[FKT_KFT_CPUTIME],
			     "cputime says what mintime and maxtime are of: write one of them");
	if (config->logentries > FKT_KFT_LENGTH_MOST)
		return wrong(error, &config->said[FKT_KFT_LOGENTRIES],
			     "the log has at most 1048576 entries (fkt_record --kft has no limit)");
	return refuse_trigger(plan, &config->start, FKT_KFT_START, error) ?:
	       refuse_trigger(plan, &config->stop, FKT_KFT_STOP, error);
}

/* ---- programs: the first pair keeps everything, the next ones are the groups' ---- */

static int make_programs(struct fkt_kft_plan *plan)
{
	const u32 groups = plan->symbols.group_count;
	u32 bytes = 0, i;

	plan->programs = kvzalloc(array_size(groups + 1, FKT_KFT_PROGRAM_BYTES + 2 * sizeof(struct fkt_program)),
				  GFP_KERNEL_ACCOUNT);
	if (!plan->programs)
		return -ENOMEM;
	bytes += fkt_kft_write_nothing(plan->programs + bytes);
	bytes += fkt_kft_write_nothing(plan->programs + bytes);
	plan->entries.program_bytes = bytes;
	for (i = 0; i < groups; i++) {
		plan->symbols.groups[i].shortest = fkt_kft_ticks(plan->symbols.groups[i].mintime);
		bytes += fkt_kft_write_nothing(plan->programs + bytes);
		bytes += fkt_kft_write_condition(plan->programs + bytes, plan->config, plan->text,
						 plan->symbols.groups[i].mintime);
	}
	plan->calls.program_bytes = bytes;
	plan->calls.program_count = groups + 1;
	plan->entries.program_count = 1;
	return 0;
}

/* ---- instruments ---- */

static bool is_by_hit(const struct fkt_kft_trigger *trigger)
{
	return trigger->moment == FKT_KFT_ENTRY || trigger->moment == FKT_KFT_EXIT;
}

static void make_instruments(struct fkt_kft_plan *plan)
{
	const bool repeats = fkt_kft_plan_repeats(plan);
	u32 i;

	for (i = 0; i < FKT_KFT_INSTRUMENTS; i++)
		plan->instruments[i] = (struct fkt_instrument){
			.action = FKT_ACTION_COUNT, .layer = FKT_L_INSTRUMENTS,
		};
	plan->instruments[FKT_KFT_CALLS].action = FKT_ACTION_RECORD;
	/* Also without a trigger: then run.c begins it. */
	plan->instruments[FKT_KFT_BEGINS].action = repeats ? FKT_ACTION_SET : FKT_ACTION_START;
	plan->instruments[FKT_KFT_BEGINS].flag = repeats ? FKT_KFT_RUNS : 0;
	if (is_by_hit(&plan->config->stop)) {
		plan->instruments[FKT_KFT_ENDS].action = repeats ? FKT_ACTION_CLEAR : FKT_ACTION_STOP;
		plan->instruments[FKT_KFT_ENDS].flag = repeats ? FKT_KFT_RUNS : 0;
	}
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

/* Returns the instrument of a role whose hits are entries, or those whose hits are returns; 0: it has none. */
static u32 instrument_of(const struct fkt_kft_plan *plan, u32 role, bool at_entry)
{
	switch (role) {
	case FKT_KFT_OF_START:
		return (plan->config->start.moment == FKT_KFT_ENTRY) == at_entry ? FKT_KFT_BEGINS : 0;
	case FKT_KFT_OF_STOP:
		return (plan->config->stop.moment == FKT_KFT_ENTRY) == at_entry ? FKT_KFT_ENDS : 0;
	default:
		return at_entry ? FKT_KFT_ENTERS : FKT_KFT_LEAVES;
	}
}

static void add_roles(struct fkt_kft_plan *plan, u32 number)
{
	const struct fkt_kft_symbol *symbol = &plan->symbols.symbols[number];
	struct fkt_called place = { .function = symbol->address, .number = number };
	u32 role;

	for (role = 0; role < FKT_KFT_ROLES; role++) {
		if (!(symbol->roles >> role & 1))
			continue;
		place.how = 0;
		place.instrument = instrument_of(plan, role, true);
		if (place.instrument)
			add_place(plan->entered, &plan->entries.count, &place);
		place.how = symbol->is_described ? 0 : FKT_CALLED_BY_PROBE;
		place.instrument = instrument_of(plan, role, false);
		if (place.instrument)
			add_place(plan->called, &plan->calls.count, &place);
	}
}

/* A function's calls are recorded before its triggers are hit. */
static int add_symbol(struct fkt_kft_plan *plan, u32 number, struct fkt_kft_error *error)
{
	const struct fkt_kft_symbol *symbol = &plan->symbols.symbols[number];
	const struct fkt_kft_group *group;

	if (symbol->group != FKT_KFT_NO_GROUP) {
		group = &plan->symbols.groups[symbol->group];
		if (!symbol->is_described && fkt_kft_asks_task(plan->config))
			return wrong(error, group->function ? &group->function->word : &plan->config->said[0],
				     "its arguments are not known, so a return probe sees its calls, which knows neither depth nor cputime");
		add_place(plan->called, &plan->calls.count, &(struct fkt_called){
			.function = symbol->address,
			.shortest = group->shortest,
			.number = number,
			.program = 1 + symbol->group,
			.instrument = FKT_KFT_CALLS,
			.how = symbol->is_described ? 0 : FKT_CALLED_BY_PROBE,
		});
	}
	add_roles(plan, number);
	return 0;
}

static int make_places(struct fkt_kft_plan *plan, struct fkt_kft_error *error)
{
	u32 i;
	int err = 0;

	plan->called = kvcalloc(plan->symbols.count + FKT_KFT_ROLES, sizeof(*plan->called), GFP_KERNEL_ACCOUNT);
	if (!plan->called)
		return -ENOMEM;
	for (i = 0; !err && i < plan->symbols.count; i++)
		err = add_symbol(plan, i, error);
	if (err)
		return err;
	for (i = 0; i < plan->calls.count; i++)
		plan->by_probe += plan->called[i].how == FKT_CALLED_BY_PROBE;
	if (plan->by_probe > FKT_RETURN_PROBES_MOST)
		return wrong(error, &plan->config->said[FKT_KFT_FUNCLIST],
			     "the arguments of too many of these functions are not known: at most 512");
	return plan->calls.count > FKT_CALLS_MOST ? -E2BIG : 0;
}

/* Refers to the parts, which do not change any more. */
static void give(struct fkt_kft_plan *plan)
{
	plan->calls.functions = (unsigned long)plan->called;
	plan->calls.programs = (unsigned long)plan->programs;
	plan->calls.threads = fkt_kft_asks_task(plan->config) ? FKT_TASK_FLAGS_MOST : 0;
	plan->entries.functions = (unsigned long)plan->entered;
	plan->entries.programs = (unsigned long)plan->programs;
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
	kvfree(plan->programs);
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
	err = refuse_impossible(plan, error) ?:
	      fkt_kft_symbols_find(&plan->symbols, plan->config, plan->text, bytes, error) ?:
	      make_programs(plan) ?: make_places(plan, error);
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

/* Returns whether functions of modules are in the plan, or could be when other modules are loaded. */
bool fkt_kft_plan_is_of_modules(const struct fkt_kft_plan *plan)
{
	u32 i;

	for (i = 0; i < plan->symbols.group_count; i++)
		if (plan->symbols.groups[i].is_pattern)
			return true;
	for (i = 0; i < plan->symbols.count; i++)
		if (plan->symbols.symbols[i].module)
			return true;
	return false;
}
