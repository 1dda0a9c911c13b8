// SPDX-License-Identifier: GPL-2.0-only
/* What a hit of an instruction does. */

#include <linux/preempt.h>

#include <fkt/call_hit.h>
#include <fkt/events.h>

#include "arch/arch.h"
#include "instruments/call_table.h"
#include "instruments/instruments_now.h"
#include "instruments/programs.h"
#include "ring/write.h"
#include "actions.h"
#include "call_context.h"
#include "hits_quick.h"
#include "instruction_hits.h"

/* ---- an instruction is reached; preemption is disabled ---- */

static enum fkt_fate run(const struct fkt_call_slot *slot, const struct fkt_program *program,
			 const struct fkt_stack_place *place, struct fkt_scratch *scratch)
{
	const u32 number = slot->number & FKT_ARG_MASK;
	struct fkt_emitted emitted = { .words = scratch->words };
	enum fkt_run says = fkt_run_program(program, scratch->hit, scratch->hit[FKT_REGISTER_SP], scratch, &emitted,
					    fkt_read_memory);

	if (says != FKT_RUN_KEEP)
		return fkt_fate_by(says);
	if (!fkt_writes_hits(slot->instrument))
		return fkt_act(slot->instrument, emitted.words, emitted.used);
	if (!fkt_event_begin(slot->instrument))
		return FKT_FATE_MISSED + FKT_MISSED_NESTED;
	if (program->words)
		fkt_emit(FKT_E_INSTRUCTION_VALUES,
			 FKT_INSTRUCTION_ARG(number, emitted.used) | (emitted.cut ? FKT_VAR_CUT : 0), scratch->words,
			 emitted.used);
	else
		fkt_emit0(FKT_E_INSTRUCTION, number);
	fkt_event_end(slot->instrument, place, scratch->words);
	return FKT_FATE_KEPT;
}

static noinline void record_asked(const struct fkt_call_table *table, const struct fkt_call_slot *slot,
				  unsigned long ip, struct pt_regs *regs)
{
	const struct fkt_stack_place place = { .first = ip, .regs = regs };
	const struct fkt_program *program = table->asks[slot - table->slots].programs->entry;
	struct fkt_scratch *scratch = fkt_scratch_get();
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;

	if (likely(scratch)) {
		fkt_get_registers(regs, ip, scratch->hit);
		fate = run(slot, program, &place, scratch);
	}
	fkt_scratch_put();
	fkt_count_hit(slot->instrument, fate);
}

/* A hit without a program. */
static void record_plain(const struct fkt_call_slot *slot)
{
	if (slot->number & FKT_CALL_ACTS) {
		fkt_act_on(slot->instrument);
	} else {
		fkt_count_hit(slot->instrument, FKT_FATE_KEPT);
		fkt_emit0(FKT_E_INSTRUCTION, slot->number & FKT_ARG_MASK);
	}
}

/*
 * Any instruction. Functions that are called here, at the end of a page or to read memory, may have splices, too:
 * programs.h limits how deep such hits nest. ip: of what is executed there now. regs: NULL: they were not saved.
 */
void fkt_instruction_reached(unsigned long address, unsigned long ip, struct pt_regs *regs)
{
	const struct fkt_instrument_table *now = fkt_instruments();
	const struct fkt_call_slot *slot = NULL;

	if (likely(now && now->instructions))
		slot = fkt_call_find(now->instructions, address);
	/* There is no slot during an exchange of tables. */
	if (unlikely(!slot) || !fkt_instrument_on(fkt_call_layer(slot)))
		return;
	if ((s32)slot->number < 0) {
		/* The table has come into force after the hit, whose splice was not for it. */
		if (unlikely(!regs))
			fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_PROBE);
		else
			record_asked(now->instructions, slot, ip, regs);
	} else if (likely(fkt_hit_begin())) {
		record_plain(slot);
		fkt_hit_end();
	} else {
		fkt_count_hit(slot->instrument, FKT_FATE_MISSED + FKT_MISSED_NESTED);
	}
}

/* ---- a spliced instruction is reached: in any context, with preemption as it is there ---- */

static noinline FKT_SAVES_REGISTERS void record_slowly(unsigned long address)
{
	fkt_instruction_reached(address, address, NULL);
}

/* A hit of an instrument without values and condition. */
FKT_SAVES_REGISTERS void fkt_spliced_plainly(unsigned long address)
{
	preempt_disable_notrace();
	if (unlikely(!fkt_hit_quickly(READ_ONCE(fkt_instruction_quick), address)))
		record_slowly(address);
	preempt_enable_notrace();
}

/* Any other hit; called by fkt_spliced_with_registers(). */
void fkt_spliced_reached(struct pt_regs *regs)
{
	preempt_disable_notrace();
	if (unlikely(!fkt_hit_quickly(READ_ONCE(fkt_instruction_quick), fkt_ip(regs))))
		fkt_instruction_reached(fkt_ip(regs), fkt_ip(regs), regs);
	preempt_enable_notrace();
}
