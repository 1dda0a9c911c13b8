/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What probes call to test whether an event's layer is on, and to write the event. Everything here runs in any context,
 * never sleeps, takes no lock and uses no LOCK-prefixed instruction.
 */
#ifndef FKT_WRITE_H
#define FKT_WRITE_H

#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "arch/arch.h"
#include "instruments/mask.h"
#include "instruments/trigger_event.h"
#include "clock.h"
#include "filter.h"
#include "own.h"

struct fkt_ring;
void fkt_wake(struct fkt_ring *ring, u32 run);
void fkt_gap(struct fkt_ring *ring);

#define fkt_ring_clock() fkt_clock()
#define fkt_ring_fast_clock() fkt_counter() /* fkt_emit() handles the other clock */
#define fkt_ring_wake(ring, run) fkt_wake(ring, run)
#define fkt_ring_gap(ring) fkt_gap(ring)
#define fkt_ring_remembered(pid) (unlikely(fkt_is_own(current)) ? FKT_PID_APART : (u32)(pid))
#include <fkt/ring_write.h>

DECLARE_PER_CPU_ALIGNED(struct fkt_ring, fkt_rings);

/* An event was lost in a recording that ends with its first loss; set by probes, with plain stores. */
extern bool fkt_full;
/* Index of the instrument that ended the recording, plus 1; 0: none. Set by probes, with plain stores. */
extern u32 fkt_stopped_by;
DECLARE_STATIC_KEY_FALSE(fkt_key_args);
/* Begins are written as words that their ends can be joined to; only if the clock is the bare TSC. */
DECLARE_STATIC_KEY_TRUE(fkt_key_pairs);
static __always_inline u64 fkt_head(u32 id, u32 arg)
{
	return fkt_word(0, id, arg);
}

/*
 * Evaluates the condition; called after the event was written, so that a snapshot triggered by it
 * contains the event.
 */
static __always_inline void fkt_ask(u32 id)
{
	if (static_branch_unlikely(&fkt_key_trigger_events))
		fkt_trigger_event(id);
}

static __always_inline void fkt_emit_body(u32 id, u32 arg, u32 pid_after,
					  const struct fkt_body *body)
{
	fkt_ring_write_any(this_cpu_ptr(&fkt_rings), fkt_head(id, arg), fkt_shown_pid(current->pid),
			   pid_after, body);
	fkt_ask(id);
}

/* Writes an event of the current thread with n words after it. */
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

/*
 * As fkt_emit() without words, for a system call when the clock is the bare TSC. pid: the number to
 * record for current.
 */
static __always_inline void fkt_emit_tsc(u32 id, u32 arg, u32 pid)
{
	fkt_ring_write(this_cpu_ptr(&fkt_rings), fkt_head(id, arg), pid, NULL, 0);
}

/*
 * Writes the begin with number `number` of a call or an interrupt (events.def, FKT_PAIR) as a word that
 * its end can be joined to. pid: the number to record for current. Returns false if this recording has
 * no pairs, or the number has no pair id; the caller must then write an ordinary begin event.
 */
#define fkt_begin_by(NAME, number, pid)                                                    \
	(static_branch_likely(&fkt_key_pairs) && likely((u64)(number) < FKT_PN_##NAME) &&  \
	 (fkt_ring_write_begin(this_cpu_ptr(&fkt_rings), FKT_PK_##NAME, FKT_P_##NAME, number, \
			       pid), true))
#define fkt_begin(NAME, number) fkt_begin_by(NAME, number, current->pid)

bool fkt_join_any(enum fkt_pair_kind kind, u32 known, u32 id, s64 value);

/* Quick check whether the last event of this CPU is a begin of that kind; fkt_ring_join() checks again. */
static __always_inline bool fkt_follows(enum fkt_pair_kind kind)
{
	struct fkt_ring *ring = this_cpu_ptr(&fkt_rings);

	return READ_ONCE(ring->word) == READ_ONCE(ring->pair[kind]);
}

/*
 * Joins the end, with its result, to the word of the begin. Returns false if the caller must write an
 * end event; always if the recording has no pairs.
 */
#define fkt_end(NAME, result) \
	(fkt_follows(FKT_PK_##NAME) && fkt_join_any(FKT_PK_##NAME, 0, 0, result))

/* As fkt_end(), for kinds whose end events contain the number that they end. */
#define fkt_end_of(NAME, number, result)  \
	(fkt_follows(FKT_PK_##NAME) &&    \
	 fkt_join_any(FKT_PK_##NAME, FKT_ID_MASK, FKT_P_##NAME + (number), result))

/*
 * As fkt_end(), in few instructions; succeeds only if ticks and result are small. pid: the number to
 * record for current.
 */
#define fkt_end_short(NAME, result, pid) fkt_join_short(FKT_PK_##NAME, result, pid)

static __always_inline bool fkt_join_short(enum fkt_pair_kind kind, s64 value, u32 pid)
{
	const struct fkt_end end = { .kind = kind, .pid = pid, .value = value };

	return fkt_ring_join(this_cpu_ptr(&fkt_rings), &end, true);
}

/* Writes an event after which the CPU runs another thread. next: the number to record for that thread. */
static __always_inline void fkt_emit_switch(u32 id, u32 next)
{
	fkt_emit_body(id, next, next, NULL);
}

/*
 * Writes an event of variable length: n words, then a string, which is cut (and marked as cut) if it
 * does not fit.
 */
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

#endif /* FKT_WRITE_H */
