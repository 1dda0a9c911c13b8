// SPDX-License-Identifier: GPL-2.0-only
/* The functions and instructions whose hits need least (call_quick.h). */

#include <linux/bits.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include <fkt/call_event.h>
#include <fkt/call_hit.h>
#include <fkt/events.h>
#include <fkt/ring.h>

#include "calls/call.h"
#include "call_quick.h"
#include "call_slots.h"
#include "instrument_slot.h"

#define SLOT sizeof(struct fkt_call_quick_slot)

static_assert(!(SLOT & (SLOT - 1)));
static_assert(FKT_CALL_QUICK_NO_ROOM > FKT_RING_PAGE_MAX_BYTES);
static_assert(FKT_CALL_QUICK_NO_ROOM + FKT_RING_GAP <= FKT_RING_OFFSET_MASK);

/* ---- values ---- */

/* Values of words: each is the low bits of a word, with their sign or without. */
struct emitted {
	u32 count;
	struct {
		u32 word; /* number in the hit */
		u64 mask;
		u64 sign; /* the highest bit of the mask, or 0 */
	} of[FKT_CALL_QUICK_VALUES];
};

/* Appends what the instruction emits. Returns false if it does anything but emit words, or there is no room. */
static bool add_emitted(struct emitted *emitted, const struct fkt_insn *insn)
{
	u32 words = 1, i;
	u64 mask = U64_MAX >> insn->left;

	if (insn->op == FKT_OP_EMIT_WORDS)
		words = insn->size / 8U;
	else if (insn->op != FKT_OP_EMIT)
		return false;
	/* FKT_OP_EMIT_WORDS emits whole words, without changes. */
	if (insn->op == FKT_OP_EMIT_WORDS && insn->how)
		return false;
	if ((insn->how & FKT_HOW_FROM) != FKT_FROM_WORD || insn->load || insn->offset || insn->left != insn->right ||
	    words > FKT_CALL_QUICK_VALUES - emitted->count)
		return false;
	for (i = 0; i < words; i++) {
		emitted->of[emitted->count].word = insn->index + i;
		emitted->of[emitted->count].mask = mask;
		emitted->of[emitted->count++].sign = insn->how & FKT_HOW_SIGNED && insn->left ? mask ^ mask >> 1 : 0;
	}
	return true;
}

static bool emits_words(struct emitted *emitted, const struct fkt_program *program)
{
	u32 i;

	emitted->count = 0;
	for (i = 0; i < program->insns; i++)
		if (!add_emitted(emitted, &program->insn[i]))
			return false;
	return true;
}

/*
 * Returns whether the first program only emits unmodified arguments: then it may run when the function returns, if the
 * frame keeps the arguments.
 */
bool fkt_call_quick_may_wait(const struct fkt_program *entry)
{
	struct emitted emitted;

	return entry->insns && emits_words(&emitted, entry);
}

/* Returns 1 + the number of the thread's flag without which the program drops each hit; 0: there is none. */
u32 fkt_call_quick_task_flag(const struct fkt_program *program)
{
	const struct fkt_insn *insn = program->insn;

	/* Tests before that one may only drop hits. */
	for (; insn < program->insn + program->insns; insn++) {
		const bool asks_context = (insn->how & FKT_HOW_FROM) == FKT_FROM_CONTEXT;

		if (insn->op != FKT_OP_TEST || insn->load || insn->target != FKT_TARGET_DROP ||
		    (asks_context && insn->index == FKT_CONTEXT_LOWEST_STACK))
			return 0;
		if (asks_context && insn->index == FKT_CONTEXT_TASK_FLAG && insn->value == 1 && !insn->span &&
		    !insn->offset && !insn->right)
			return 1 + insn->size;
	}
	return 0;
}

/* Adds a value of the event, of `bits` of the word at `from`. */
static void add_value(struct fkt_call_quick_values *values, u32 at, size_t from, u64 mask, u64 sign)
{
	at += FKT_CALL_QUICK_VALUES - values->count;
	values->from[at] = from;
	values->mask[at] = mask;
	values->sign[at] = sign;
}

/*
 * Sets the values of a program that does nothing but emit words as they are; the event's head and size are the
 * caller's. Returns false if there are none, or the program does anything else.
 */
bool fkt_call_quick_emits(struct fkt_call_quick_values *values, const struct fkt_program *program)
{
	struct emitted emitted;
	u32 i;

	if (!emits_words(&emitted, program) || !emitted.count)
		return false;
	values->count = emitted.count;
	values->first = -(s64)emitted.count;
	for (i = 0; i < emitted.count; i++)
		add_value(values, i, 8 * emitted.of[i].word, emitted.of[i].mask, emitted.of[i].sign);
	return true;
}

/* Leaves count 0 if the programs do anything but emit such values. */
static void make_values(struct fkt_call_quick_values *values, const struct fkt_call_programs *programs)
{
	struct emitted in, out;
	u32 i;

	if (!emits_words(&in, programs->entry) || !emits_words(&out, programs->exit))
		return;
	values->count = out.count;
	for (i = 0; i < out.count; i++) {
		const u32 word = out.of[i].word, kept = word - FKT_CALL_FIRST_KEPT;
		u64 mask = out.of[i].mask, sign = out.of[i].sign;
		size_t from;

		if (word >= FKT_CALL_FIRST_KEPT && kept < in.count) {
			from = offsetof(struct fkt_arguments_call, arguments) + 8 * in.of[kept].word;
			values->of_arguments = true;
			if (mask > in.of[kept].mask) {
				/* More bits than the first program left are only supported for the whole word. */
				if (mask != U64_MAX)
					values->count = 0;
				mask = in.of[kept].mask;
				sign = in.of[kept].sign;
			}
		} else if (word == FKT_CALL_RESULT) {
			from = offsetof(struct fkt_arguments_call, call.result);
		} else if (word == FKT_CALL_RESULT_HIGH) {
			from = offsetof(struct fkt_arguments_call, call.result_high);
		} else {
			values->count = 0;
		}
		if (!values->count)
			return;
		add_value(values, i, from, mask, sign);
	}
	values->head = fkt_word(0, FKT_E_CALL_VALUES, FKT_CALL_VALUES_HEAD + values->count);
	values->first = -(s64)values->count;
	values->bytes = 8 * (1 + FKT_CALL_VALUES_HEAD + values->count);
	values->commit = fkt_ring_to_commit(values->bytes);
}

static const struct fkt_call_quick_values no_values = { .bytes = FKT_CALL_QUICK_NO_ROOM };

/* ---- making ---- */

/* Returns whether every call of a thread without the programs' flag is dropped: none is kept or missed. */
static bool needs_flag(const struct fkt_call_slot *slot, const struct fkt_call_ask *ask)
{
	return ask->programs && ask->programs->task_flag && !ask->programs->entry->insns && !ask->programs->of_task &&
	       slot->instrument->flag != FKT_FLAG_NOT_SELF;
}

/* Returns fkt_call_quick_slot.body for the slot; 0: it has no fast path. */
static u64 quick_body(const struct fkt_call_table *table, const struct fkt_call_quick_values *values, u32 at)
{
	const struct fkt_call_slot *slot = &table->slots[at];
	const struct fkt_call_ask *ask = &table->asks[at];
	const u32 action = slot->body ? slot->instrument->action : FKT_ACTIONS;

	if ((action != FKT_ACTION_RECORD && action != FKT_ACTION_COUNT) || ask->more)
		return 0;
	if (!(slot->number & FKT_CALL_ASKS))
		/* All code of the kernel lies in the last 2 GB of the address space. */
		return action == FKT_ACTION_RECORD ? (u64)(s64)(s32)slot->body : FKT_CALL_QUICK_COUNT(slot->body);
	if (needs_flag(slot, ask))
		return FKT_CALL_QUICK_NEEDS_FLAG(slot->body);
	if (action != FKT_ACTION_RECORD || ask->exits || !ask->programs ||
	    !values[ask->programs - table->programs].count)
		return 0;
	return FKT_CALL_QUICK_HAS_VALUES(slot->body);
}

/* The event of a hit without values. */
static u32 plain_event(enum fkt_call_form form)
{
	switch (form) {
	case FKT_FORM_ENTRY:
		return FKT_E_FUNCTION_ENTRY;
	case FKT_FORM_INSTRUCTION:
		return FKT_E_INSTRUCTION;
	default:
		return FKT_E_CALL;
	}
}

static void put(struct fkt_call_table *table, enum fkt_call_form form, u32 from, u64 body)
{
	const struct fkt_call_slot *slot = &table->slots[from];
	struct fkt_call_quick *quick = table->quick;
	u32 at = (void *)fkt_call_quick_first(quick, body) - (void *)quick->slots;
	struct fkt_call_quick_slot made = { .body = body, .hits = slot->instrument->hits, .values = &no_values };

	while (quick->slots[at / SLOT].body)
		at = (at + SLOT) & quick->slot_mask;
	if (body == FKT_CALL_QUICK_HAS_VALUES(body)) {
		made.head = slot->number & FKT_ARG_MASK;
		made.values = &quick->values[table->asks[from].programs - table->programs];
	} else if (body == FKT_CALL_QUICK_NEEDS_FLAG(body)) {
		made.head = table->asks[from].programs->task_flag - 1;
	} else {
		made.head = fkt_word(0, plain_event(form), slot->number & FKT_ARG_MASK);
	}
	quick->slots[at / SLOT] = made;
	quick->instruments[at / SLOT] = slot->instrument;
	quick->layers |= BIT_ULL(slot->instrument->layer);
}

static struct fkt_call_quick *make(u32 slots, struct fkt_call_quick_values *values)
{
	struct fkt_call_quick *quick = kvzalloc(struct_size(quick, slots, slots), GFP_KERNEL_ACCOUNT);

	if (!quick)
		return NULL;
	quick->instruments = kvcalloc(slots, sizeof(*quick->instruments), GFP_KERNEL_ACCOUNT);
	if (!quick->instruments) {
		kvfree(quick);
		return NULL;
	}
	quick->values = values;
	quick->count = slots;
	quick->slot_mask = (slots - 1) * SLOT;
	return quick;
}

/* Sets table->quick from the table's slots; NULL: it has no such place. Returns 0 or -ENOMEM. */
int fkt_call_quick_make(struct fkt_call_table *table, enum fkt_call_form form)
{
	struct fkt_call_quick_values *values = kvcalloc(table->program_count, sizeof(*values), GFP_KERNEL_ACCOUNT);
	u32 i, n = 0;

	if (!values)
		return -ENOMEM;
	/* Other forms have no values on the fast path: they have no second program. */
	for (i = 0; form == FKT_FORM_CALL && i < table->program_count; i++)
		make_values(&values[i], &table->programs[i]);
	for (i = 0; i <= table->last; i++)
		n += quick_body(table, values, i) != 0;
	if (n)
		table->quick = make(roundup_pow_of_two(2 * n), values);
	if (!table->quick) {
		kvfree(values);
		return n ? -ENOMEM : 0;
	}
	for (i = 0; i <= table->last; i++) {
		u64 body = quick_body(table, values, i);

		if (body)
			put(table, form, i, body);
	}
	return 0;
}

/* Stores the instruments' current counters in the slots. Called before probes can find `quick`, which may be NULL. */
void fkt_call_quick_take_hits(struct fkt_call_quick *quick)
{
	u32 i;

	for (i = 0; quick && i < quick->count; i++)
		if (quick->instruments[i])
			quick->slots[i].hits = quick->instruments[i]->hits;
}

/* The table must not be in force (fkt_mask_choose_quick()), nor used by a probe. quick: may be NULL. */
void fkt_call_quick_free(struct fkt_call_quick *quick)
{
	if (!quick)
		return;
	kvfree(quick->instruments);
	kvfree(quick->values);
	kvfree(quick);
}
