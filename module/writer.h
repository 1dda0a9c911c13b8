/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a probe uses: is its layer on, does the filter keep this, write the event. Everything here
 * runs in any context, sleeps never, takes no lock and uses no LOCK-prefixed instruction.
 */
#ifndef FKT_WRITER_H
#define FKT_WRITER_H

#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "clock.h"

struct fkt_ring;
void fkt_wake(struct fkt_ring *ring, u32 run);
void fkt_gap(struct fkt_ring *ring);

#define fkt_ring_clock() fkt_clock()
#define fkt_ring_fast_clock() rdtsc() /* fkt_emit() sees to the other clock */
#define fkt_ring_wake(ring, run) fkt_wake(ring, run)
#define fkt_ring_gap(ring) fkt_gap(ring)
#include <fkt/ring.h>

DECLARE_PER_CPU_ALIGNED(struct fkt_ring, fkt_rings);

/* Layers recorded now; 0: nothing is. Read by every probe first. */
extern u64 fkt_mask;
DECLARE_STATIC_KEY_FALSE(fkt_key_filter);
/* The recording may name no process but its members, and no address of the kernel (access.c). */
DECLARE_STATIC_KEY_FALSE(fkt_key_restricted);
DECLARE_STATIC_KEY_FALSE(fkt_key_args);
/* Begins are words that their ends may be added to; on the bare TSC only. */
DECLARE_STATIC_KEY_TRUE(fkt_key_pairs);
/* One of: filter, args, other clock than the bare TSC. So that the hottest probes look at one key only. */
DECLARE_STATIC_KEY_FALSE(fkt_key_special);
/* A condition is asked of events that are not calls. */
DECLARE_STATIC_KEY_FALSE(fkt_key_when_events);

/*
 * Lockless: a probe may still see an old mask on another CPU for as long as it runs; the stop waits
 * for all probes before it relies on the new one.
 */
static __always_inline bool fkt_layer_on(enum fkt_layer layer)
{
	bool on;

	/* One instruction; a constant layer's bit of the mask, whatever else is being stored there. */
	asm volatile("testb %[bit], %[mask]"
		     : "=@ccnz"(on)
		     : [mask] "m"(((const u8 *)&fkt_mask)[layer / 8]), [bit] "i"(1 << layer % 8));
	return on;
}

static __always_inline u64 fkt_head(u32 id, u32 arg)
{
	return fkt_word(0, id, arg);
}

void fkt_when_event(u32 id);
bool fkt_is_member(pid_t tid);

/* The number that the recording has for a thread: its own, where that may be named. */
static __always_inline u32 fkt_shown_pid(pid_t tid)
{
	if (static_branch_unlikely(&fkt_key_restricted) && !fkt_is_member(tid))
		return FKT_PID_OTHER;
	return tid;
}

/* What the recording has for an address: 0 for one of the kernel's that may not be told. */
static __always_inline u64 fkt_shown_address(u64 address)
{
	return static_branch_unlikely(&fkt_key_restricted) && (s64)address < 0 ? 0 : address;
}

/* After the event is written: what a condition starts has the event in it. */
static __always_inline void fkt_ask(u32 id)
{
	if (static_branch_unlikely(&fkt_key_when_events))
		fkt_when_event(id);
}

static __always_inline void fkt_emit_body(u32 id, u32 arg, u32 pid_after,
					  const struct fkt_body *body)
{
	fkt_ring_write_any(this_cpu_ptr(&fkt_rings), fkt_head(id, arg), fkt_shown_pid(current->pid),
			   pid_after, body);
	fkt_ask(id);
}

/* Writes an event of the current thread: n words follow. */
static __always_inline void fkt_emit(u32 id, u32 arg, const u64 *words, u32 n)
{
	if (static_branch_unlikely(&fkt_key_clock)) {
		struct fkt_body body = { .words = words, .n = n };

		fkt_emit_body(id, arg, fkt_shown_pid(current->pid), &body);
	} else {
		fkt_ring_write(this_cpu_ptr(&fkt_rings), fkt_head(id, arg),
			       fkt_shown_pid(current->pid), words, n);
		fkt_ask(id);
	}
}

#define fkt_emit0(id, arg) fkt_emit(id, arg, NULL, 0)

/* The same of a call on the TSC; pid: current's. */
static __always_inline void fkt_emit_tsc(u32 id, u32 arg, u32 pid)
{
	fkt_ring_write(this_cpu_ptr(&fkt_rings), fkt_head(id, arg), pid, NULL, 0);
}

/*
 * The begin number `number` of a call or an interrupt of a kind (events.def, FKT_PAIR), as a word that
 * its end may be added to. pid: current's. False: not with this recording, or the number has no such
 * word.
 */
#define fkt_begin_by(NAME, number, pid)                                                    \
	(static_branch_likely(&fkt_key_pairs) && likely((u64)(number) < FKT_PN_##NAME) &&  \
	 (fkt_ring_write_begin(this_cpu_ptr(&fkt_rings), FKT_PK_##NAME, FKT_P_##NAME, number, \
			       pid), true))
#define fkt_begin(NAME, number) fkt_begin_by(NAME, number, current->pid)

bool fkt_join_any(enum fkt_pair_kind kind, u32 known, u32 id, s64 value);

/* Is a begin of that kind this CPU's last event, as far as can be seen at a glance? */
static __always_inline bool fkt_follows(enum fkt_pair_kind kind)
{
	struct fkt_ring *ring = this_cpu_ptr(&fkt_rings);

	return READ_ONCE(ring->word) == READ_ONCE(ring->pair[kind]);
}

/*
 * Adds the end, with its result, to the word of the begin. False: it must be an event of its own; so it
 * is always where begins have no such words.
 */
#define fkt_end(NAME, result) \
	(fkt_follows(FKT_PK_##NAME) && fkt_join_any(FKT_PK_##NAME, 0, 0, result))

/* The same for kinds whose ends say which number they end. */
#define fkt_end_of(NAME, number, result)  \
	(fkt_follows(FKT_PK_##NAME) &&    \
	 fkt_join_any(FKT_PK_##NAME, FKT_ID_MASK, FKT_P_##NAME + (number), result))

/* ... in few instructions, where ticks and result are small; pid: current's. */
#define fkt_end_short(NAME, result, pid) fkt_join_short(FKT_PK_##NAME, result, pid)

static __always_inline bool fkt_join_short(enum fkt_pair_kind kind, s64 value, u32 pid)
{
	const struct fkt_end end = { .kind = kind, .pid = pid, .value = value };

	return fkt_ring_join(this_cpu_ptr(&fkt_rings), &end, true);
}

/* Writes an event after which the reader shall expect another thread. next: as shown. */
static __always_inline void fkt_emit_switch(u32 id, u32 next)
{
	fkt_emit_body(id, next, next, NULL);
}

/* Writes an event of varying length: n words, then a string, cut (and said so) if it must be. */
static inline void fkt_emit_string(u32 id, const u64 *words, u32 n, const char *string)
{
	u32 room = fkt_ring_tail_room(this_cpu_ptr(&fkt_rings), n);
	struct fkt_body body = {
		.words = words, .n = n,
		.tail = string, .tail_bytes = strnlen(string, room + 1),
	};
	u32 arg = 0;

	if (body.tail_bytes > room) {
		body.tail_bytes = room;
		arg = FKT_VAR_CUT;
	}
	fkt_emit_body(id, arg | fkt_body_words(&body), fkt_shown_pid(current->pid), &body);
}

bool fkt_filter_syscall(void);
bool fkt_filter_current(void);

/* Is an event of the current thread to be kept? */
static __always_inline bool fkt_keep_current(void)
{
	return !static_branch_unlikely(&fkt_key_filter) || fkt_filter_current();
}

/* ... of the current thread, or about another that it may name? */
static __always_inline bool fkt_keep(pid_t about)
{
	if (!static_branch_unlikely(&fkt_key_filter) || fkt_is_member(about))
		return true;
	return !static_branch_unlikely(&fkt_key_restricted) && fkt_is_member(current->pid);
}

/* ... of the current thread and another, which are only named if they are members? */
static __always_inline bool fkt_keep_either(pid_t other)
{
	return !static_branch_unlikely(&fkt_key_filter) || fkt_is_member(current->pid) ||
	       fkt_is_member(other);
}

/* ... of the machine, not of the thread that happens to run? */
static __always_inline bool fkt_keep_machine(void)
{
	return !static_branch_unlikely(&fkt_key_restricted) && fkt_keep_current();
}

#endif /* FKT_WRITER_H */
