// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hits of places in user programs. The kernel calls these handlers in the process that hits the breakpoint, where
 * sleeping is allowed. A hit is handled with preemption disabled, as at all places. If memory of the process is not
 * present, the handler sleeps until it is, and handles the hit again.
 */

#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#include <fkt/events.h>
#include <fkt/user_hit.h>

#include "base/compat.h"
#include "hits/actions.h"
#include "hits/call_context.h"
#include "hits/calls_write.h"
#include "arch/arch.h"
#include "instruments/programs.h"
#include "ring/clock.h"
#include "ring/write.h"
#include "user_calls.h"
#include "user_probe.h"

/* ---- memory of the process; preemption is disabled ---- */

/* The last address of the process's memory that could not be read: set and read by one hit, which nothing nests in. */
static DEFINE_PER_CPU(unsigned long, unread);

/*
 * fkt_read_fn. The name of the thread is in the kernel's memory; all other addresses that a program reads are the
 * process's, or invalid.
 */
static int read_memory(void *to, u64 address, u32 bytes)
{
	const u64 in_name = address - (unsigned long)current->comm;

	if (unlikely(in_name < TASK_COMM_LEN && in_name + bytes <= TASK_COMM_LEN)) {
		memcpy(to, current->comm + in_name, bytes);
		return 0;
	}
	if (likely(!copy_from_user_nofault(to, (const void __user *)address, bytes)))
		return 0;
	this_cpu_write(unread, address);
	return -EFAULT;
}

/* ---- a place is reached ---- */

/* Most pages that are made present for one hit: its strings and pointers may be on as many. */
#define FETCHES 8

/* Arguments of a handler. */
struct called {
	const struct fkt_user_probe *probe;
	const struct pt_regs *regs;
	unsigned long function; /* of a return: the function's address in the process */
	u64 now; /* of a return: full stamp */
};

/* The kernel's stack pointer at a hit: it was not in the kernel before. */
#define STACK ((unsigned long)task_pt_regs(current))

/* A hit: its place in force, and the registers. */
struct hit {
	const struct fkt_user_slot *slot;
	const struct pt_regs *regs;
};

/* As fkt_user_slot_of(); NULL also if hits are not recorded here and now. */
static const struct fkt_user_slot *slot_of(const struct fkt_user_probe *probe)
{
	const struct fkt_user_slot *slot = fkt_user_slot_of(probe->id);

	return slot && fkt_instrument_on(slot->instrument->layer) ? slot : NULL;
}

static enum fkt_fate write_point(const struct hit *hit, const struct fkt_emitted *emitted, u64 *words)
{
	const struct fkt_stack_place place = {
		.first = fkt_ip(hit->regs), .user = hit->regs, .entered = hit->slot->how == FKT_USER_REACHED,
	};
	const struct fkt_instrument_slot *instrument = hit->slot->instrument;
	const u32 number = hit->slot->number;

	if (!fkt_event_begin(instrument))
		return FKT_FATE_MISSED + FKT_MISSED_NESTED;
	if (emitted->used)
		fkt_emit(FKT_E_USER_ENTRY_VALUES,
			 FKT_USER_ARG(number, emitted->used) | (emitted->cut ? FKT_VAR_CUT : 0), emitted->words,
			 emitted->used);
	else
		fkt_emit0(FKT_E_USER_ENTRY, number);
	fkt_event_end(instrument, &place, words);
	return FKT_FATE_KEPT;
}

static enum fkt_fate run_point(const struct hit *hit, struct fkt_scratch *scratch)
{
	struct fkt_emitted emitted = { .words = scratch->words };
	enum fkt_run says;

	fkt_get_registers(hit->regs, fkt_ip(hit->regs), scratch->hit);
	says = fkt_run_program(hit->slot->entry, scratch->hit, STACK, scratch, &emitted, read_memory);
	if (says != FKT_RUN_KEEP)
		return fkt_fate_by(says);
	if (!fkt_writes_hits(hit->slot->instrument))
		return fkt_act(hit->slot->instrument, emitted.words, emitted.used);
	return write_point(hit, &emitted, scratch->words);
}

/*
 * Handles a hit, with preemption disabled. is_last: counts it as missed if its memory cannot be read. Returns false
 * if that memory should be made present: then nothing was done.
 */
static bool reach(const struct called *called, bool is_last)
{
	const struct hit hit = { .slot = slot_of(called->probe), .regs = called->regs };
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;
	struct fkt_scratch *scratch;

	if (!hit.slot)
		return true;
	scratch = fkt_scratch_get();
	if (likely(scratch))
		fate = run_point(&hit, scratch);
	fkt_scratch_put();
	if (fate == FKT_FATE_MISSED + FKT_MISSED_MEMORY && !is_last)
		return false;
	fkt_count_hit(hit.slot->instrument, fate);
	return true;
}

/* Calls `hit`, which works as reach(), until it is done. */
static int handle(const struct called *called, bool (*hit)(const struct called *called, bool is_last))
{
	unsigned int fetches = 0;
	bool is_last = false;

	for (;;) {
		unsigned long missing = 0;
		bool is_done;

		preempt_disable_notrace();
		is_done = hit(called, is_last);
		if (unlikely(!is_done))
			missing = this_cpu_read(unread);
		preempt_enable_notrace();
		if (likely(is_done))
			return 0;
		is_last = ++fetches == FETCHES || !fkt_fault_in(missing);
	}
}

static const struct fkt_user_probe *probe_of(const struct uprobe_consumer *consumer)
{
	return container_of(consumer, struct fkt_user_probe, consumer);
}

/* Handler of places whose event is that the instruction is reached. */
int fkt_user_reached(struct uprobe_consumer *consumer, FKT_UPROBE_REGS)
{
	return handle(&(struct called){ .probe = probe_of(consumer), .regs = regs }, reach);
}

/* ---- entry of a function whose return is recorded ---- */

/* Runs the first program, and keeps the words that it emits. */
static enum fkt_fate keep(const struct hit *hit, struct fkt_user_stack *stack, struct fkt_user_call *call)
{
	struct fkt_emitted emitted = { .words = fkt_user_calls_kept(stack, call) };
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;
	struct fkt_scratch *scratch;

	if (!hit->slot->entry->insns)
		return FKT_FATE_KEPT;
	scratch = fkt_scratch_get();
	if (likely(scratch)) {
		fkt_get_registers(hit->regs, fkt_ip(hit->regs), scratch->hit);
		fate = fkt_fate_by(fkt_run_program(hit->slot->entry, scratch->hit, STACK, scratch, &emitted,
						   read_memory));
	}
	fkt_scratch_put();
	call->flags |= emitted.cut ? FKT_OPEN_CUT : 0;
	return fate;
}

/* As reach(). */
static bool begin_call(const struct fkt_user_probe *probe, const struct hit *hit, struct fkt_user_stack *stack,
		       bool is_last)
{
	const unsigned long sp = fkt_sp(hit->regs);
	struct fkt_user_call *call = fkt_user_calls_push(stack, probe->id, sp, hit->slot->entry->words);
	enum fkt_fate fate;

	if (unlikely(!call)) {
		fkt_user_calls_unseen(stack, probe->id, sp);
		return true;
	}
	fate = keep(hit, stack, call);
	if (fate == FKT_FATE_MISSED + FKT_MISSED_MEMORY && !is_last) {
		fkt_user_calls_remove(stack, call);
		return false;
	}
	/* A hit that is kept here is counted when it returns. */
	if (fate != FKT_FATE_KEPT) {
		call->flags |= FKT_OPEN_DROPPED;
		fkt_count_hit(hit->slot->instrument, fate);
	}
	call->mark = hit->slot->mark;
	call->begin = fkt_clock();
	return true;
}

/* Returns whether the thread has as many return probes as the kernel allows: then this call gets none. */
static bool is_too_deep(void)
{
	return current->utask && current->utask->depth >= MAX_URETPROBE_DEPTH;
}

/* As reach(). */
static bool enter(const struct called *called, bool is_last)
{
	const struct hit hit = { .slot = slot_of(called->probe), .regs = called->regs };
	struct fkt_user_stack *stack = fkt_user_calls_enter(fkt_sp(called->regs));

	if (likely(hit.slot && stack && !is_too_deep()))
		return begin_call(called->probe, &hit, stack, is_last);
	if (stack)
		fkt_user_calls_unseen(stack, called->probe->id, fkt_sp(called->regs));
	if (hit.slot && is_too_deep())
		fkt_count_hit(hit.slot->instrument, FKT_FATE_MISSED + FKT_MISSED_PROBE);
	return true;
}

/* Called at the first instruction of a function whose return needs data of the entry. */
int fkt_user_entered(struct uprobe_consumer *consumer, FKT_UPROBE_REGS)
{
	const struct called called = {
		.probe = container_of(consumer, struct fkt_user_probe, entries), .regs = regs,
	};
	bool is_on;

	preempt_disable_notrace();
	is_on = slot_of(called.probe);
	preempt_enable_notrace();
	/* Threads that are not recorded take no room. */
	if (is_on)
		fkt_user_calls_room();
	return handle(&called, enter);
}

/* ---- return of a function ---- */

/* A call that has returned. */
struct returned {
	struct hit hit;
	unsigned long function; /* its address in the process */
	u64 begin, ticks; /* 0 if the place does not need them */
	const u64 *kept; /* words of the first program: as many as it has */
	bool is_cut; /* a text among them */
};

static enum fkt_fate write_return(const struct returned *call, const struct fkt_emitted *emitted, u64 *words)
{
	const struct fkt_stack_place place = { .first = call->function, .user = call->hit.regs };
	const struct fkt_user_slot *slot = call->hit.slot;
	const bool is_cut = call->is_cut || emitted->cut;

	if (!fkt_event_begin(slot->instrument))
		return FKT_FATE_MISSED + FKT_MISSED_NESTED;
	if (slot->how == FKT_USER_EXIT)
		fkt_write_exit(FKT_EVENTS_OF_USER, slot->number, emitted->words, emitted->used, is_cut);
	else if (slot->exit->words)
		fkt_write_call_values(FKT_EVENTS_OF_USER, slot->number, call->begin, call->ticks, words, emitted->used,
				      is_cut);
	else
		fkt_write_call(FKT_EVENTS_OF_USER, slot->number, call->begin, call->ticks);
	fkt_event_end(slot->instrument, &place, words);
	return FKT_FATE_KEPT;
}

static enum fkt_fate run_return(const struct returned *call, struct fkt_scratch *scratch)
{
	struct fkt_emitted emitted = { .words = scratch->words + FKT_CALL_VALUES_LONG_HEAD };
	const struct fkt_user_slot *slot = call->hit.slot;
	enum fkt_run says;

	scratch->hit[FKT_CALL_RESULT] = fkt_result(call->hit.regs);
	scratch->hit[FKT_CALL_RESULT_HIGH] = fkt_result_high(call->hit.regs);
	scratch->hit[FKT_CALL_DURATION] = call->ticks;
	if (slot->entry->words)
		memcpy(scratch->hit + FKT_CALL_FIRST_KEPT, call->kept, slot->entry->words * sizeof(u64));
	says = fkt_run_program(slot->exit, scratch->hit, STACK, scratch, &emitted, read_memory);
	if (says != FKT_RUN_KEEP)
		return fkt_fate_by(says);
	if (!fkt_writes_hits(slot->instrument))
		return fkt_act(slot->instrument, emitted.words, emitted.used);
	return write_return(call, &emitted, scratch->words);
}

static enum fkt_fate end_returned(const struct returned *call)
{
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_NESTED;
	struct fkt_scratch *scratch = fkt_scratch_get();

	if (likely(scratch))
		fate = run_return(call, scratch);
	fkt_scratch_put();
	return fate;
}

/* The place records the call's exit alone. As reach(). */
static bool end_alone(const struct returned *call, bool is_last)
{
	const enum fkt_fate fate = end_returned(call);

	if (fate == FKT_FATE_MISSED + FKT_MISSED_MEMORY && !is_last)
		return false;
	fkt_count_hit(call->hit.slot->instrument, fate);
	return true;
}

/* Handles the return of a call whose entry was seen. As reach(). */
static bool end_call(struct returned *call, struct fkt_user_stack *stack, struct fkt_user_call *open, u64 now,
		     bool is_last)
{
	const struct fkt_user_slot *slot = call->hit.slot;
	enum fkt_fate fate = FKT_FATE_MISSED + FKT_MISSED_STALE;

	if (!slot || open->flags & FKT_OPEN_DROPPED) {
		fkt_user_calls_remove(stack, open);
		return true;
	}
	call->begin = open->begin;
	call->ticks = now - open->begin;
	call->kept = fkt_user_calls_kept(stack, open);
	call->is_cut = open->flags & FKT_OPEN_CUT;
	/* Otherwise other programs are in force now, or the clock has stepped back. */
	if (likely(open->mark == slot->mark && (s64)call->ticks >= 0))
		fate = end_returned(call);
	if (fate == FKT_FATE_MISSED + FKT_MISSED_MEMORY && !is_last)
		return false;
	fkt_count_hit(slot->instrument, fate);
	fkt_user_calls_remove(stack, open);
	return true;
}

/* As reach(). */
static bool leave(const struct called *called, bool is_last)
{
	/* The return has taken the address from the stack. */
	const unsigned long sp = fkt_sp(called->regs) - sizeof(u64);
	struct returned call = {
		.hit = { .slot = slot_of(called->probe), .regs = called->regs }, .function = called->function,
	};
	struct fkt_user_stack *stack;
	struct fkt_user_call *open;

	if (!called->probe->needs_entry)
		return !call.hit.slot || end_alone(&call, is_last);
	stack = fkt_user_calls_return(sp);
	open = stack ? fkt_user_calls_find(stack, called->probe->id, sp) : NULL;
	if (likely(open))
		return end_call(&call, stack, open, called->now, is_last);
	if (call.hit.slot)
		fkt_count_hit(call.hit.slot->instrument, FKT_FATE_MISSED + FKT_MISSED_ENTRY);
	return true;
}

/* The function has returned; regs are those of its caller. */
int fkt_user_returned(struct uprobe_consumer *consumer, unsigned long function, FKT_UPROBE_REGS)
{
	const struct called called = {
		.probe = probe_of(consumer), .regs = regs, .function = function, .now = fkt_clock(),
	};

	return handle(&called, leave);
}
