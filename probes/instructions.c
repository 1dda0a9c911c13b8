// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instructions, by kprobes: the kernel makes a jump of those that it can optimise, a breakpoint of the others. The
 * kernel itself ends those in a module that goes.
 */

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <fkt/call_hit.h>
#include <fkt/events.h>
#include <fkt/ioctl.h>

#include "actions.h"
#include "call_table.h"
#include "instructions.h"
#include "programs.h"
#include "write.h"

struct probe {
	struct kprobe kprobe;
	const struct fkt_call_slot *slot;
	bool is_registered;
};

/*
 * Protected by the recording's lock. Read by reached() without a lock: the kprobes are registered later, and
 * unregistered before it is freed. Fresh for each recording: a kprobe that was registered must not be used again.
 */
static struct {
	struct fkt_call_table table;
	struct probe *probes; /* NULL: none is registered */
	u32 count;
} instructions;

/* ---- an instruction is reached; preemption is disabled ---- */

/* ip: of the instruction; in regs it may be that of the breakpoint behind it. */
static void get_registers(const struct pt_regs *regs, unsigned long ip, u64 *words)
{
	words[FKT_REGISTER_AX] = regs->ax;
	words[FKT_REGISTER_BX] = regs->bx;
	words[FKT_REGISTER_CX] = regs->cx;
	words[FKT_REGISTER_DX] = regs->dx;
	words[FKT_REGISTER_SI] = regs->si;
	words[FKT_REGISTER_DI] = regs->di;
	words[FKT_REGISTER_BP] = regs->bp;
	words[FKT_REGISTER_SP] = regs->sp;
	words[FKT_REGISTER_R8] = regs->r8;
	words[FKT_REGISTER_R9] = regs->r9;
	words[FKT_REGISTER_R10] = regs->r10;
	words[FKT_REGISTER_R11] = regs->r11;
	words[FKT_REGISTER_R12] = regs->r12;
	words[FKT_REGISTER_R13] = regs->r13;
	words[FKT_REGISTER_R14] = regs->r14;
	words[FKT_REGISTER_R15] = regs->r15;
	words[FKT_REGISTER_IP] = ip;
	words[FKT_REGISTER_FLAGS] = regs->flags;
}

static enum fkt_fate run(const struct fkt_call_slot *slot, const struct fkt_program *program,
			 struct fkt_scratch *scratch)
{
	const u32 number = slot->number & FKT_ARG_MASK;
	struct fkt_emitted emitted = { .words = scratch->words };
	enum fkt_run says = fkt_program_run(program, scratch->hit, &emitted, fkt_read_memory, fkt_call_context);

	if (says != FKT_RUN_KEEP)
		return fkt_fate_by(says);
	if (!fkt_writes_hits(slot->instrument))
		return fkt_act(slot->instrument, emitted.words, emitted.used);
	if (program->words)
		fkt_emit(FKT_E_INSTRUCTION_VALUES,
			 FKT_INSTRUCTION_ARG(number, emitted.used) | (emitted.cut ? FKT_VAR_CUT : 0), scratch->words,
			 emitted.used);
	else
		fkt_emit0(FKT_E_INSTRUCTION, number);
	return FKT_FATE_KEPT;
}

static noinline void record_asked(const struct fkt_call_slot *slot, unsigned long ip, const struct pt_regs *regs)
{
	const struct fkt_program *program = instructions.table.asks[slot - instructions.table.slots].programs->entry;
	struct fkt_scratch *scratch = fkt_scratch_get();
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;

	if (likely(scratch)) {
		get_registers(regs, ip, scratch->hit);
		fate = run(slot, program, scratch);
	}
	fkt_scratch_put();
	fkt_count_hit(slot->instrument, fate);
}

static int reached(struct kprobe *kprobe, struct pt_regs *regs)
{
	const struct fkt_call_slot *slot = container_of(kprobe, struct probe, kprobe)->slot;

	if (!fkt_instrument_on(fkt_call_layer(slot)))
		return 0;
	if ((s32)slot->number < 0) {
		record_asked(slot, (unsigned long)kprobe->addr, regs);
	} else if (slot->number & FKT_CALL_ACTS) {
		fkt_act_on(slot->instrument);
	} else {
		fkt_count_hit(slot->instrument, FKT_FATE_KEPT);
		fkt_emit0(FKT_E_INSTRUCTION, slot->number & FKT_ARG_MASK);
	}
	return 0;
}
NOKPROBE_SYMBOL(reached);

/* ---- begin and end; callers hold the recording's lock ---- */

static int register_one(struct probe *probe, unsigned long address)
{
	int err;

	/* What records a hit must not hit itself. */
	if (within_module(address, THIS_MODULE))
		return -EINVAL;
	probe->slot = fkt_call_find(&instructions.table, address);
	if (!probe->slot)
		return -EINVAL;
	probe->kprobe.addr = (void *)address;
	probe->kprobe.pre_handler = reached;
	err = register_kprobe(&probe->kprobe);
	probe->is_registered = !err;
	/* No symbol covers the address. */
	return err == -ENOENT ? -EINVAL : err;
}

static int register_all(u64 *refused)
{
	const struct fkt_call_table *table = &instructions.table;
	u32 i;
	int err;

	for (i = 0; i < table->count; i++) {
		/* Each takes some milliseconds. */
		if (fatal_signal_pending(current))
			return -EINTR;
		err = register_one(&instructions.probes[i], table->functions[i]);
		if (err) {
			*refused = table->functions[i];
			return err;
		}
	}
	return 0;
}

/*
 * Records the hits of the table's instructions while their layers are on, until fkt_record_instructions_end(). Takes
 * over `table`, which may be NULL. Returns 0, -EINTR if the task is being killed, or another negative errno; *refused
 * is then the instruction that the kernel refuses to probe (-EILSEQ: none begins there). The caller must then call
 * fkt_record_instructions_end().
 */
int fkt_record_instructions_begin(struct fkt_call_table *table, u64 *refused)
{
	fkt_record_instructions_free();
	if (!table)
		return 0;
	instructions.table = *table;
	kfree(table);
	instructions.count = instructions.table.count;
	instructions.probes = kvcalloc(instructions.count, sizeof(*instructions.probes), GFP_KERNEL);
	return instructions.probes ? register_all(refused) : -ENOMEM;
}

static void unregister_all(void)
{
	struct kprobe **registered = kvmalloc_array(instructions.count, sizeof(*registered), GFP_KERNEL);
	u32 i, n = 0;

	/* All at once waits once. */
	for (i = 0; i < instructions.count; i++) {
		struct probe *probe = &instructions.probes[i];

		if (!probe->is_registered)
			continue;
		if (registered)
			registered[n++] = &probe->kprobe;
		else
			unregister_kprobe(&probe->kprobe);
	}
	if (n)
		unregister_kprobes(registered, n);
	kvfree(registered);
}

/* Counts what the kprobes have missed. Returns whether the kernel has let go of all of them. */
static bool add_missed(void)
{
	bool let_go = true;
	u32 i;

	for (i = 0; i < instructions.count; i++) {
		const struct probe *probe = &instructions.probes[i];

		if (!probe->is_registered)
			continue;
		let_go &= !!probe->kprobe.addr;
		fkt_count_hits(probe->slot->instrument, FKT_FATE_MISSED + FKT_MISSED_PROBE, probe->kprobe.nmissed);
	}
	return let_go;
}

/* When this returns, no hit is being recorded. */
void fkt_record_instructions_end(void)
{
	if (!instructions.probes)
		return;
	unregister_all();
	if (add_missed())
		kvfree(instructions.probes);
	else
		__module_get(THIS_MODULE); /* The kernel keeps a kprobe that it could not remove without memory. */
	instructions.probes = NULL;
	instructions.count = 0;
}

/* Frees the table of the last recording. */
void fkt_record_instructions_free(void)
{
	fkt_call_table_clear(&instructions.table);
}
