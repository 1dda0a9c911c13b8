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

#define fkt_ring_clock() fkt_clock()
#define fkt_ring_fast_clock() rdtsc() /* fkt_emit() sees to the other clock */
#define fkt_ring_wake(ring, run) fkt_wake(ring, run)
#include <fkt/ring.h>

DECLARE_PER_CPU_ALIGNED(struct fkt_ring, fkt_rings);

/* Layers recorded now; 0: nothing is. Read by every probe first. */
extern u64 fkt_mask;
DECLARE_STATIC_KEY_FALSE(fkt_key_filter);
DECLARE_STATIC_KEY_FALSE(fkt_key_args);
/* One of: filter, args, other clock than the TSC. So that the hottest probes look at one key only. */
DECLARE_STATIC_KEY_FALSE(fkt_key_special);

/*
 * Lockless: a probe may still see an old mask on another CPU for as long as it runs; the stop waits
 * for all probes before it relies on the new one.
 */
static __always_inline bool fkt_layer_on(enum fkt_layer layer)
{
	return READ_ONCE(fkt_mask) & 1ULL << layer;
}

static __always_inline u64 fkt_head(u32 id, u32 arg)
{
	return fkt_word(0, id, arg);
}

/* Writes an event of the current thread, on the TSC. Call with preemption off, like the others. */
static __always_inline void fkt_emit_tsc(u32 id, u32 arg)
{
	fkt_ring_write(this_cpu_ptr(&fkt_rings), fkt_head(id, arg), current->pid, NULL, 0);
}

static __always_inline void fkt_emit_body(u32 id, u32 arg, u32 pid_after,
					  const struct fkt_body *body)
{
	fkt_ring_write_any(this_cpu_ptr(&fkt_rings), fkt_head(id, arg), current->pid, pid_after,
			   body);
}

/* Writes an event of the current thread: n words follow. */
static __always_inline void fkt_emit(u32 id, u32 arg, const u64 *words, u32 n)
{
	if (static_branch_unlikely(&fkt_key_mono)) {
		struct fkt_body body = { .words = words, .n = n };

		fkt_emit_body(id, arg, current->pid, &body);
	} else {
		fkt_ring_write(this_cpu_ptr(&fkt_rings), fkt_head(id, arg), current->pid, words,
			       n);
	}
}

#define fkt_emit0(id, arg) fkt_emit(id, arg, NULL, 0)

/* Writes an event after which the reader shall expect another thread. */
static __always_inline void fkt_emit_switch(u32 id, pid_t next)
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
	fkt_emit_body(id, arg | fkt_body_words(&body), current->pid, &body);
}

bool fkt_is_member(pid_t tid);
bool fkt_filter_syscall(void);

/* Is an event of the current thread to be kept? */
static __always_inline bool fkt_keep_current(void)
{
	return !static_branch_unlikely(&fkt_key_filter) || fkt_is_member(current->pid);
}

/* ... of the current thread, or about another? */
static __always_inline bool fkt_keep(pid_t about)
{
	return !static_branch_unlikely(&fkt_key_filter) || fkt_is_member(current->pid) ||
	       fkt_is_member(about);
}

#endif /* FKT_WRITER_H */
