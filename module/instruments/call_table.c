// SPDX-License-Identifier: GPL-2.0-only
/* Makes the table of functions (struct fkt_calls). */

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <fkt/call_hit.h>
#include <fkt/events.h>
#include <fkt/ioctl.h>
#include <fkt/program_verify.h>

#include "arch/arch.h"
#include "base/compat.h"
#include "calls/call.h"
#include "call_quick.h"
#include "call_table.h"
#include "given.h"
#include "instrument_slot.h"
#include "program_block.h"

static_assert(FKT_CALL_KEPT < FKT_CALLS_MANY_WORDS);
/* A layer's number has a place between a function's number and the flags. */
static_assert(64U << FKT_ARG_BITS <= FKT_CALL_ACTS);

/*
 * Returns the address after the function's nop, which follows an ENDBR if there is one. An unreadable address is not
 * refused here: its module may have been unloaded, and fkt_calls_begin() leaves out such functions.
 */
unsigned long fkt_call_body(unsigned long function)
{
	u32 first;

	if (copy_from_kernel_nofault(&first, (void *)function, sizeof(first)))
		first = 0;
	return function + (fkt_is_endbr(first) ? FKT_ENDBR_BYTES : 0) + FKT_CALLS_NOP_BYTES;
}

/* ---- programs ---- */

static struct fkt_program_rules first_rules(enum fkt_call_form form)
{
	switch (form) {
	case FKT_FORM_ENTRY:
		return fkt_entry_rules();
	case FKT_FORM_INSTRUCTION:
		return fkt_instruction_rules();
	default:
		return fkt_call_entry_rules();
	}
}

#define OF_TASK (BIT(FKT_CALL_CPUTIME) | BIT(FKT_CALL_DEPTH))

/* Returns which of the words OF_TASK the second program asks for. */
static u32 words_of_task(const struct fkt_program *program)
{
	u64 words = 0;
	u32 i;

	for (i = 0; i < program->insns; i++) {
		const struct fkt_insn *insn = &program->insn[i];

		if ((insn->how & FKT_HOW_FROM) != FKT_FROM_WORD)
			continue;
		if (insn->op == FKT_OP_EMIT_WORDS)
			words |= GENMASK_ULL(insn->index + insn->size / 8 - 1, insn->index);
		else
			words |= BIT_ULL(insn->index);
	}
	return words & OF_TASK;
}

static int check_pair(struct fkt_call_table *table, enum fkt_call_form form, u32 index, size_t bytes, size_t *offset,
		      struct fkt_program_check *check)
{
	struct fkt_call_programs *programs = &table->programs[index];
	struct fkt_program_rules rules = first_rules(form);
	const size_t begin = *offset;

	programs->entry = fkt_program_take(table->program_block, bytes, offset, &rules, check);
	if (!programs->entry)
		return -EINVAL;
	rules = fkt_call_exit_rules(form == FKT_FORM_CALL ? programs->entry->words : 0);
	programs->exit = fkt_program_take(table->program_block, bytes, offset, &rules, check);
	if (!programs->exit)
		return -EINVAL;
	programs->mark = fkt_program_mark(table->program_block + begin, *offset - begin);
	if (form == FKT_FORM_CALL) {
		programs->of_task = words_of_task(programs->exit);
		programs->may_wait = fkt_call_quick_may_wait(programs->entry);
		programs->task_flag = fkt_call_quick_task_flag(programs->exit);
	}
	if (programs->of_task && !table->threads)
		return -EINVAL;
	table->counts_depth |= programs->of_task >> FKT_CALL_DEPTH & 1;
	/* Only calls run the second program. */
	return form != FKT_FORM_CALL && programs->exit->insns ? -EINVAL : 0;
}

/* The block is never changed again, and user space cannot reach it, so what was verified stays true. */
static int get_programs(struct fkt_call_table *table, const struct fkt_calls *calls, enum fkt_call_form form,
			enum fkt_given by)
{
	struct fkt_program_check *check;
	size_t offset = 0;
	int err = 0;
	u32 i;

	if (!calls->program_count || calls->program_bytes > FKT_CALLS_PROGRAM_BYTES ||
	    calls->program_count > calls->program_bytes / (2 * sizeof(struct fkt_program)))
		return -EINVAL;
	table->program_block = fkt_given_dup(calls->programs, calls->program_bytes, by);
	if (IS_ERR(table->program_block)) {
		err = PTR_ERR(table->program_block);
		table->program_block = NULL;
		return err;
	}
	table->programs = kvcalloc(calls->program_count, sizeof(*table->programs), GFP_KERNEL_ACCOUNT);
	check = kmalloc(sizeof(*check), GFP_KERNEL_ACCOUNT);
	table->program_count = calls->program_count;
	if (!table->programs || !check)
		err = -ENOMEM;
	for (i = 0; !err && i < calls->program_count; i++)
		err = check_pair(table, form, i, calls->program_bytes, &offset, check);
	kfree(check);
	return err ?: offset == calls->program_bytes ? 0 : -EINVAL;
}

/* ---- functions ---- */

static int make_slots(struct fkt_call_table *table, u32 count)
{
	u32 bits = max(order_base_2(2 * count), 1);

	table->slots = kvcalloc(1UL << bits, sizeof(*table->slots), GFP_KERNEL_ACCOUNT);
	table->asks = kvcalloc(1UL << bits, sizeof(*table->asks), GFP_KERNEL_ACCOUNT);
	table->shift = 32 - bits;
	table->last = (1U << bits) - 1;
	return table->slots && table->asks ? 0 : -ENOMEM;
}

/* Returns false if the table has this function already, which has two addresses: its begin and its nop. */
static bool put_slot(struct fkt_call_table *table, const struct fkt_call_slot *slot, const struct fkt_call_ask *ask)
{
	u32 at = fkt_call_hash(table, slot->body);

	for (; table->slots[at].body; at = (at + 1) & table->last)
		if (table->slots[at].body == slot->body)
			return false;
	table->asks[at] = *ask;
	table->slots[at] = *slot;
	return true;
}

static bool is_more(const struct fkt_called *called)
{
	return called->how & FKT_CALLED_MORE;
}

/* Appends a further instrument to those of a function that the table has. */
static int add_more(struct fkt_call_table *table, const struct fkt_call_slot *slot, const struct fkt_call_ask *ask,
		    enum fkt_call_form form)
{
	const struct fkt_call_slot *first = fkt_call_find(table, slot->body);
	struct fkt_call_more *more = &table->more[table->more_count];
	struct fkt_call_ask *last;
	u32 n;

	if (!first)
		return -EINVAL;
	last = &table->asks[first - table->slots];
	if (form == FKT_FORM_CALL && (last->programs->entry->insns || ask->programs->entry->insns))
		return -EINVAL;
	for (n = 1; last->more; n++)
		last = &last->more->ask;
	if (n > FKT_CALLED_MORE_MOST)
		return -EINVAL;
	*more = (struct fkt_call_more){ .slot = *slot, .ask = *ask };
	last->more = more;
	table->more_count++;
	return 0;
}

static int add_function(struct fkt_call_table *table, const struct fkt_called *called,
			const struct fkt_instrument_slot *instrument, enum fkt_call_form form)
{
	unsigned long body = form == FKT_FORM_INSTRUCTION ? called->function : fkt_call_body(called->function);
	const struct fkt_call_programs *programs = &table->programs[called->program];
	const struct fkt_call_ask ask = { .programs = programs, .exits = called->how & FKT_CALLED_EXIT };
	struct fkt_call_slot slot = {
		.body = body, .number = called->number | instrument->layer << FKT_ARG_BITS, .instrument = instrument,
	};

	if (programs->entry->insns || programs->exit->insns || called->how & FKT_CALLED_EXIT ||
	    instrument->action == FKT_ACTION_STACK)
		slot.number |= FKT_CALL_ASKS;
	if (instrument->action != FKT_ACTION_RECORD)
		slot.number |= FKT_CALL_ACTS;
	if (is_more(called))
		return add_more(table, &slot, &ask, form);
	/* 0 is for free slots. */
	return slot.body && put_slot(table, &slot, &ask) ? 0 : -EINVAL;
}

/* Copies the slots into a larger table. */
static int make_room(struct fkt_call_table *table, u32 count)
{
	const struct fkt_call_table old = *table;
	u32 i;
	int err = make_slots(table, count);

	if (err) {
		kvfree(table->slots);
		kvfree(table->asks);
		*table = old;
		return err;
	}
	for (i = 0; old.slots && i <= old.last; i++)
		if (old.slots[i].body)
			put_slot(table, &old.slots[i], &old.asks[i]);
	kvfree(old.slots);
	kvfree(old.asks);
	return 0;
}

/* Returns true if the two tables set return probes on the same functions, each for the same instrument. */
bool fkt_call_table_same_probes(const struct fkt_call_table *table, const struct fkt_call_table *before)
{
	const unsigned long *functions = table->functions + table->count - table->by_probe;
	const unsigned long *functions_before = before->functions + before->count - before->by_probe;
	u32 i;

	if (table->by_probe != before->by_probe)
		return false;
	for (i = 0; i < table->by_probe; i++) {
		const struct fkt_call_slot *slot = fkt_call_find(table, fkt_call_body(functions[i]));
		const struct fkt_call_slot *slot_before = fkt_call_find(before, fkt_call_body(functions[i]));

		if (functions[i] != functions_before[i] || !slot || !slot_before ||
		    slot->instrument->number != slot_before->instrument->number)
			return false;
	}
	return true;
}

/*
 * Exchanges after which a function that is gone is forgotten: otherwise each exchange could only make the table
 * larger.
 */
#define GONE_MOST 8

/*
 * Returns for how many tables the function of this slot will have been gone in the next one; 0: it has it itself, or
 * forgets the function. A call that is then still in flight counts as one of no instrument (fkt_call_strangers).
 */
static u32 gone_since(const struct fkt_call_table *before, u32 at, const struct fkt_call_table *table)
{
	const struct fkt_call_slot *slot = &before->slots[at];
	u32 since = before->asks[at].programs ? 0 : slot->number & FKT_ARG_MASK;

	return slot->body && since < GONE_MOST && !fkt_call_find(table, slot->body) ? since + 1 : 0;
}

/*
 * Adds the functions that only the tables before have: their calls in flight count as missed. instruments: of the new
 * table, which has those of the table before at the same places.
 */
int fkt_call_table_add_gone(struct fkt_call_table *table, const struct fkt_call_table *before,
			    const struct fkt_instrument_slot *instruments,
			    const struct fkt_instrument_slot *instruments_before)
{
	u32 i, n = 0;
	int err;

	for (i = 0; i <= before->last; i++)
		n += gone_since(before, i, table) != 0;
	if (!n)
		return 0;
	err = make_room(table, table->count + n);
	if (err)
		return err;
	for (i = 0; i <= before->last; i++) {
		const u32 since = gone_since(before, i, table);
		struct fkt_call_slot slot = before->slots[i];

		if (!since)
			continue;
		slot.instrument = instruments + (slot.instrument - instruments_before);
		slot.number = slot.instrument->layer << FKT_ARG_BITS | FKT_CALL_ASKS | since;
		put_slot(table, &slot, &(struct fkt_call_ask){});
	}
	return 0;
}

/*
 * Divides the functions without a first program into two kinds of frames by their shortest durations: FKT_CALLS_PLAIN,
 * and FKT_CALLS_BRIEF for those with smaller ones. Each kind drops its short calls by one limit, so functions with a
 * small limit would make short calls of all others slow.
 */
struct minima {
	u64 sizes; /* bit n is set if there is a function whose shortest duration has n bits */
	u64 below; /* ticks: functions with a smaller shortest duration are FKT_CALLS_BRIEF */
};

/* Returns the smallest `shortest` of the instruments on the function of called[0], which has `n` elements. */
static u64 shortest_of(const struct fkt_called *called, u32 n)
{
	u64 shortest = called[0].shortest;
	u32 i;

	for (i = 1; i < n && is_more(&called[i]); i++)
		shortest = min(shortest, called[i].shortest);
	return shortest;
}

/* Sets `below` to where two neighbouring shortest durations differ most, by their numbers of bits. */
static void divide(struct minima *minima)
{
	u32 size, last = minima->sizes ? fls64(minima->sizes) - 1 : 0, step = 0;

	for (size = last; size--;) {
		if (!(minima->sizes >> size & 1))
			continue;
		if (last - size >= step) {
			step = last - size;
			minima->below = 1ULL << size;
		}
		last = size;
	}
}

/* Returns whether one of the function's instruments asks for words of the task. */
static bool is_of_task(const struct fkt_call_table *table, const struct fkt_called *called, u32 n)
{
	u32 i = 0;

	do {
		if (table->programs[called[i].program].of_task)
			return true;
	} while (++i < n && is_more(&called[i]));
	return false;
}

/* Returns the kind of frame that has room for the words, and for the recording's mark. */
static unsigned int asking_frame(u32 words, bool is_of_task)
{
	if (words < FKT_CALLS_FEW_WORDS)
		return is_of_task ? FKT_CALLS_TASK_FEW : FKT_CALLS_FEW;
	if (words < FKT_CALLS_SOME_WORDS)
		return is_of_task ? FKT_CALLS_TASK_SOME : FKT_CALLS_SOME;
	return is_of_task ? FKT_CALLS_TASK_MANY : FKT_CALLS_MANY;
}

/* Returns the kind of frame that has room for what the function's first program keeps. */
static unsigned int frame_of(const struct fkt_call_table *table, const struct fkt_called *called, u32 n,
			     const struct minima *minima)
{
	const struct fkt_call_programs *programs = &table->programs[called->program];
	const struct fkt_program *entry = programs->entry;
	const bool of_task = table->counts_depth || is_of_task(table, called, n);

	if (table->keep.where)
		return shortest_of(called, n) < minima->below ? FKT_CALLS_HELD_BRIEF : FKT_CALLS_HELD;
	if (entry->insns)
		return programs->may_wait && !of_task ? FKT_CALLS_ARGUMENTS : asking_frame(entry->words, of_task);
	if (of_task)
		return FKT_CALLS_TASK;
	return shortest_of(called, n) < minima->below ? FKT_CALLS_BRIEF : FKT_CALLS_PLAIN;
}

/* Returns the kind of frame; functions with a return probe come after all kinds. */
static unsigned int order_of(const struct fkt_call_table *table, const struct fkt_called *called, u32 n,
			     const struct minima *minima)
{
	return called->how & FKT_CALLED_BY_PROBE ? FKT_CALLS_FRAMES : frame_of(table, called, n, minima);
}

static struct minima minima_of(const struct fkt_call_table *table, const struct fkt_called *called, u32 n)
{
	struct minima minima = {};
	u32 i;

	for (i = 0; i < n; i++)
		if (!is_more(&called[i]) && !(called[i].how & FKT_CALLED_BY_PROBE) &&
		    !table->programs[called[i].program].entry->insns)
			minima.sizes |= 1ULL << min(fls64(shortest_of(&called[i], n - i)), 63);
	divide(&minima);
	return minima;
}

/* called: `n` elements, some of which are further instruments on the function of the previous one. */
static void sort_by_frame(struct fkt_call_table *table, const struct fkt_called *called, u32 n)
{
	const struct minima minima = minima_of(table, called, n);
	u32 count[FKT_CALLS_FRAMES + 1] = {}, next[FKT_CALLS_FRAMES + 1] = {};
	u32 i;

	for (i = 0; i < n; i++) {
		unsigned int order;
		u64 *shortest;

		if (is_more(&called[i]))
			continue;
		order = order_of(table, &called[i], n - i, &minima);
		shortest = order < FKT_CALLS_FRAMES ? &table->shortest[order] : &table->shortest_probed;
		*shortest = min(*shortest, shortest_of(&called[i], n - i));
		count[order]++;
	}
	memcpy(table->of_frame, count, sizeof(table->of_frame));
	table->by_probe = count[FKT_CALLS_FRAMES];
	for (i = 1; i <= FKT_CALLS_FRAMES; i++)
		next[i] = next[i - 1] + count[i - 1];
	for (i = 0; i < n; i++)
		if (!is_more(&called[i]))
			table->functions[next[order_of(table, &called[i], n - i, &minima)]++] = called[i].function;
}

static bool is_how(u32 how, enum fkt_call_form form)
{
	if (form == FKT_FORM_CALL)
		return !(how & ~(FKT_CALLED_BY_PROBE | FKT_CALLED_EXIT | FKT_CALLED_MORE));
	return !(how & ~(form == FKT_FORM_ENTRY ? FKT_CALLED_MORE : 0));
}

static int check_function(const struct fkt_called *called, const struct fkt_called *before,
			  const struct fkt_calls *calls, const struct fkt_instrument_table *instruments,
			  enum fkt_call_form form)
{
	/* User addresses, too, are not functions of the kernel. */
	if ((s64)called->function >= 0 || called->number > FKT_ARG_MASK || called->program >= calls->program_count ||
	    called->instrument >= instruments->count || called->pad || !is_how(called->how, form) ||
	    (form == FKT_FORM_INSTRUCTION && called->number >= FKT_INSTRUCTIONS_MOST) ||
	    (form != FKT_FORM_CALL && called->shortest))
		return -EINVAL;
	if (is_more(called))
		return before && before->function == called->function ? 0 : -EINVAL;
	return before && before->function >= called->function ? -EINVAL : 0;
}

/* Returns whether the program emits only the call's context word, which is stored for held calls too. */
static bool emits_context_alone(const struct fkt_program *program)
{
	u32 i;

	for (i = 0; i < program->insns; i++) {
		const struct fkt_insn *insn = &program->insn[i];

		if (insn->op == FKT_OP_EMIT_STRING || insn->op == FKT_OP_EMIT_WORDS ||
		    (insn->op == FKT_OP_EMIT &&
		     (insn->how != FKT_FROM_CONTEXT || insn->index != FKT_CONTEXT_LEVEL)))
			return false;
	}
	return program->words == 1;
}

/* Returns whether fkt_keep may hold calls of the function. */
static bool may_be_kept(const struct fkt_call_table *table, const struct fkt_called *called)
{
	const struct fkt_call_programs *programs = &table->programs[called->program];

	return !programs->entry->insns && (!programs->exit->words || emits_context_alone(programs->exit)) &&
	       !(called->how & (FKT_CALLED_BY_PROBE | FKT_CALLED_EXIT));
}

static int get_functions(struct fkt_call_table *table, const struct fkt_calls *calls, enum fkt_call_form form,
			 const struct fkt_instrument_table *instruments, enum fkt_given by)
{
	struct fkt_called *called;
	u32 i, n = 0, more = 0;
	int err;

	if (!calls->count || calls->count > (form == FKT_FORM_INSTRUCTION ? FKT_INSTRUCTIONS_MOST : FKT_CALLS_MOST))
		return -EINVAL;
	called = fkt_given_dup(calls->functions, array_size(calls->count, sizeof(*called)), by);
	if (IS_ERR(called))
		return PTR_ERR(called);
	for (i = 0; i < calls->count; i++)
		more += is_more(&called[i]);
	table->count = calls->count - more;
	table->functions = kvmalloc_array(calls->count, sizeof(*table->functions), GFP_KERNEL_ACCOUNT);
	table->more = more ? kvcalloc(more, sizeof(*table->more), GFP_KERNEL_ACCOUNT) : NULL;
	err = table->functions && (table->more || !more) ? make_slots(table, table->count) : -ENOMEM;
	for (i = 0; !err && i < calls->count; i++) {
		err = check_function(&called[i], i ? &called[i - 1] : NULL, calls, instruments, form);
		/* A return probe does not know the task's words. */
		if (!err && called[i].how & FKT_CALLED_BY_PROBE && table->programs[called[i].program].of_task)
			err = -EINVAL;
		if (!err && table->keep.where && !may_be_kept(table, &called[i]))
			err = -EINVAL;
		if (!err)
			err = add_function(table, &called[i], &instruments->slots[called[i].instrument], form);
	}
	if (!err && form == FKT_FORM_CALL)
		sort_by_frame(table, called, calls->count);
	for (i = 0; !err && form != FKT_FORM_CALL && i < calls->count; i++)
		if (!is_more(&called[i]))
			table->functions[n++] = called[i].function;
	kvfree(called);
	return err ?: table->by_probe > FKT_RETURN_PROBES_MOST ? -EINVAL : 0;
}

/* fkt_call_find(), from the first slot on. */
const struct fkt_call_slot *fkt_call_search(const struct fkt_call_table *table, unsigned long body)
{
	u32 at = fkt_call_hash(table, body);

	while (table->slots[at].body != (u32)body) {
		if (!table->slots[at].body)
			return NULL;
		at = (at + 1) & table->last;
	}
	return &table->slots[at];
}

static int get_keep(struct fkt_call_table *table, const struct fkt_keep *keep)
{
	const bool is_nothing = !memchr_inv(keep, 0, sizeof(*keep));

	table->keep = *keep;
	if (!keep->where || !table->threads || keep->where & ~(FKT_KEEP_IN_TASK | FKT_KEEP_IN_INTERRUPT) ||
	    keep->percent > 100)
		return is_nothing ? 0 : -EINVAL;
	return 0;
}

/*
 * Returns false if the exchange would change which calls are held: the recording's first functions decide that. The
 * previous table may have no functions any more.
 */
bool fkt_call_table_same_keep(const struct fkt_call_table *table, const struct fkt_call_table *before)
{
	return !memcmp(&table->keep, &before->keep, sizeof(table->keep));
}

static int fill(struct fkt_call_table *table, const struct fkt_calls *calls, enum fkt_call_form form,
		const struct fkt_instrument_table *instruments, enum fkt_given by)
{
	int err;

	if (calls->threads > (form == FKT_FORM_CALL ? FKT_TASK_FLAGS_MOST : 0))
		return -EINVAL;
	table->threads = calls->threads;
	err = get_keep(table, &calls->keep) ?: get_programs(table, calls, form, by) ?:
	      get_functions(table, calls, form, instruments, by);
	return err ?: fkt_call_quick_make(table, form);
}

/* Returns a table that records no call and has no slots; NULL: there is no memory. */
static struct fkt_call_table *make_empty(void)
{
	struct fkt_call_table *table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);

	if (!table)
		return NULL;
	memset64(table->shortest, U64_MAX, ARRAY_SIZE(table->shortest));
	table->shortest_probed = U64_MAX;
	return table;
}

/*
 * Returns the table that the struct fkt_calls at this address describes, or an ERR_PTR. The table refers to the
 * instruments, which must be freed later. Called without locks, because it may read user memory.
 */
struct fkt_call_table *fkt_call_table_get(u64 at, enum fkt_call_form form,
					  const struct fkt_instrument_table *instruments, enum fkt_given by)
{
	struct fkt_call_table *table;
	struct fkt_calls calls;
	int err;

	err = fkt_given_copy(&calls, at, sizeof(calls), by);
	if (err)
		return ERR_PTR(err);
	table = make_empty();
	if (!table)
		return ERR_PTR(-ENOMEM);
	err = fill(table, &calls, form, instruments, by);
	if (!err)
		return table;
	fkt_call_table_free(table);
	return ERR_PTR(err);
}

/* Returns a table without functions, which is to follow `before`; NULL: there is no memory. */
struct fkt_call_table *fkt_call_table_make(const struct fkt_call_table *before)
{
	struct fkt_call_table *table = make_empty();

	if (!table)
		return NULL;
	/* A table with functions may follow. */
	table->keep = before->keep;
	if (!make_slots(table, 0))
		return table;
	fkt_call_table_free(table);
	return NULL;
}

/* Frees everything that the table refers to, and makes it empty. */
void fkt_call_table_clear(struct fkt_call_table *table)
{
	fkt_call_quick_free(table->quick);
	kvfree(table->slots);
	kvfree(table->asks);
	kvfree(table->functions);
	kvfree(table->more);
	kvfree(table->programs);
	kvfree(table->program_block);
	memset(table, 0, sizeof(*table));
}

/* table: may be NULL. */
void fkt_call_table_free(struct fkt_call_table *table)
{
	if (!table)
		return;
	fkt_call_table_clear(table);
	kfree(table);
}
