// SPDX-License-Identifier: GPL-2.0-only
/* The functions whose calls need least (call_quick.h). */

#include <linux/bits.h>
#include <linux/jump_label.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include <fkt/call_event.h>
#include <fkt/call_hit.h>
#include <fkt/events.h>

#include "../calls/calls.h"
#include "call_quick.h"
#include "call_table.h"
#include "instrument_table.h"
#include "write.h"

#define SLOT sizeof(struct fkt_call_quick_slot)

static_assert(!(SLOT & (SLOT - 1)));

static const struct {
	struct fkt_call_quick quick;
	struct fkt_call_quick_slot slot;
} none;

const struct fkt_call_quick *fkt_call_quick = &none.quick;

/* ---- values ---- */

/* Appends the value that the instruction emits. Returns false if it does anything else. is_in: of the first program. */
static bool add_value(struct fkt_call_quick_values *values, const struct fkt_insn *insn, bool is_in)
{
	u32 *n = is_in ? &values->kept : &values->count, words = 1, i;
	struct fkt_call_quick_value value = { .mask = U64_MAX };

	if (insn->op == FKT_OP_EMIT_WORDS)
		words = insn->size / 8U;
	else if (insn->op != FKT_OP_EMIT)
		return false;
	/* Those words are emitted as they are. */
	if (insn->op == FKT_OP_EMIT_WORDS && insn->how)
		return false;
	if ((insn->how & FKT_HOW_FROM) != FKT_FROM_WORD || insn->load || insn->offset || insn->left != insn->right ||
	    words > FKT_CALL_QUICK_VALUES - *n)
		return false;
	value.mask >>= insn->left;
	if (insn->how & FKT_HOW_SIGNED && insn->left)
		value.sign = value.mask ^ value.mask >> 1;
	for (i = 0; i < words; i++) {
		value.from = insn->index + i;
		if (!is_in) {
			if (value.from >= FKT_CALL_DURATION && value.from < FKT_CALL_FIRST_KEPT)
				return false;
			/* struct fkt_call, then the mark, then the words that are kept. */
			if (value.from >= FKT_CALL_FIRST_KEPT)
				value.from += 1 + sizeof(struct fkt_call) / 8 - FKT_CALL_FIRST_KEPT;
			else
				value.from = (value.from == FKT_CALL_RESULT ? offsetof(struct fkt_call, result) :
					      offsetof(struct fkt_call, result_high)) / 8;
		}
		(is_in ? values->in : values->out)[(*n)++] = value;
	}
	return true;
}

static bool add_values(struct fkt_call_quick_values *values, const struct fkt_program *program, bool is_in)
{
	u32 i;

	for (i = 0; i < program->insns; i++)
		if (!add_value(values, &program->insn[i], is_in))
			return false;
	return true;
}

/* Leaves count 0 if the programs do anything but emit values. */
static void make_values(struct fkt_call_quick_values *values, const struct fkt_call_programs *programs)
{
	if (!add_values(values, programs->entry, true) || !add_values(values, programs->exit, false))
		values->count = 0;
	values->mark = programs->mark;
	values->head = fkt_head(FKT_E_CALL_VALUES, FKT_CALL_VALUES_HEAD + values->count);
}

/* ---- making ---- */

/* Returns what the slot is to have as its body; 0: it is none of these functions. */
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
	if (action != FKT_ACTION_RECORD || ask->exits || !ask->programs ||
	    !values[ask->programs - table->programs].count)
		return 0;
	return FKT_CALL_QUICK_HAS_VALUES(slot->body);
}

static void put(struct fkt_call_table *table, u32 from, u64 body)
{
	const struct fkt_call_slot *slot = &table->slots[from];
	struct fkt_call_quick *quick = table->quick;
	u32 at = (void *)fkt_call_quick_first(quick, body) - (void *)quick->slots;
	struct fkt_call_quick_slot made = { .body = body, .hits = slot->instrument->hits };

	while (quick->slots[at / SLOT].body)
		at = (at + SLOT) & quick->slot_mask;
	if (body == FKT_CALL_QUICK_HAS_VALUES(body)) {
		made.head = slot->number & FKT_ARG_MASK;
		made.values = &quick->values[table->asks[from].programs - table->programs];
	} else {
		made.head = fkt_head(FKT_E_CALL, slot->number & FKT_ARG_MASK);
	}
	quick->slots[at / SLOT] = made;
	quick->instruments[at / SLOT] = slot->instrument;
	quick->layers |= BIT_ULL(slot->instrument->layer);
}

static struct fkt_call_quick *make(u32 slots, struct fkt_call_quick_values *values)
{
	struct fkt_call_quick *quick = kvzalloc(struct_size(quick, slots, slots), GFP_KERNEL);

	if (!quick)
		return NULL;
	quick->instruments = kvcalloc(slots, sizeof(*quick->instruments), GFP_KERNEL);
	if (!quick->instruments) {
		kvfree(quick);
		return NULL;
	}
	quick->values = values;
	quick->count = slots;
	quick->slot_mask = (slots - 1) * SLOT;
	return quick;
}

/* Sets table->quick from the table's slots; NULL: it has no such function. Returns 0 or -ENOMEM. */
int fkt_call_quick_make(struct fkt_call_table *table)
{
	struct fkt_call_quick_values *values = kvcalloc(table->program_count, sizeof(*values), GFP_KERNEL);
	u32 i, n = 0;

	if (!values)
		return -ENOMEM;
	for (i = 0; i < table->program_count; i++)
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
			put(table, i, body);
	}
	return 0;
}

/* The instruments have other counts now. Called before a probe can find `quick`, which may be NULL. */
void fkt_call_quick_take_hits(struct fkt_call_quick *quick)
{
	u32 i;

	for (i = 0; quick && i < quick->count; i++)
		if (quick->instruments[i])
			quick->slots[i].hits = quick->instruments[i]->hits;
}

/* It must not be in force (fkt_call_quick_choose()), and no probe may be using it. quick: may be NULL. */
void fkt_call_quick_free(struct fkt_call_quick *quick)
{
	if (!quick)
		return;
	kvfree(quick->instruments);
	kvfree(quick->values);
	kvfree(quick);
}

/* ---- putting into force ---- */

/* From any context. Probes that run may still use the one before. */
void fkt_call_quick_none(void)
{
	WRITE_ONCE(fkt_call_quick, &none.quick);
}

static bool is_allowed(const struct fkt_call_quick *quick)
{
	return !(quick->layers & ~READ_ONCE(fkt_mask)) && !static_key_enabled(&fkt_key_special) &&
	       !static_key_enabled(&fkt_key_trigger_events);
}

/*
 * Puts that of the instruments into force if mask and keys allow it. Called after each change of the mask or of the
 * table in force, under the recording's lock; the keys change only while the mask is 0. instruments: may be NULL.
 */
void fkt_call_quick_choose(const struct fkt_instrument_table *instruments)
{
	const struct fkt_call_quick *quick = instruments && instruments->calls ? instruments->calls->quick : NULL;

	if (!quick || !is_allowed(quick)) {
		fkt_call_quick_none();
		return;
	}
	/* Release: a probe that finds it finds its slots, and the rings. */
	smp_store_release(&fkt_call_quick, quick);
	/*
	 * The mask may be cleared without the lock (fkt_mask_clear(): first the mask, then this pointer). Either that
	 * store to the pointer comes after the one above, or the mask is seen to be 0 here.
	 */
	smp_mb();
	if (!is_allowed(quick))
		fkt_call_quick_none();
}

/* ---- finding ---- */

/* Returns the slot of the function, whatever is done with its calls; NULL: there is none. Any context. */
const struct fkt_call_quick_slot *fkt_call_quick_search(const struct fkt_call_quick *quick, unsigned long body)
{
	u32 at = (const void *)fkt_call_quick_first(quick, body) - (const void *)quick->slots;

	while ((u32)quick->slots[at / SLOT].body != (u32)body) {
		if (!quick->slots[at / SLOT].body)
			return NULL;
		at = (at + SLOT) & quick->slot_mask;
	}
	return &quick->slots[at / SLOT];
}
