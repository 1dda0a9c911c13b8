/* SPDX-License-Identifier: GPL-2.0-only */
/* The drain's side: pages are put and taken; and the store buffers, for -DTSO. */

/* A': a page's header, then its slot, then the limit. */
inline prepare(page_)
{
	h_seq[page_] = r_limit;
	h_events[page_] = 0;
	h_commit[page_] = (IS_BROKEN(HEADER_APART) -> H : 0);
	h_used[page_] = OPEN;
	h_first_clock[page_] = 0;
	h_end_clock[page_] = 0;
	h_lost[page_] = 0;
	h_pid[page_] = 0;
	lost_word_count[page_] = 0;
	lost_word_from[page_] = 0;
	i = 0;
	do
	:: i < P ->
		cell[page_ * P + i] = GARBAGE;
		stamp[page_ * P + i] = 0;
		joined[page_ * P + i] = 0;
		joined_ticks[page_ * P + i] = 0;
		i++
	:: else -> break
	od;
	out[page_] = 0;
#ifdef TSO
	assert(pending[page_] == 0);
	seen_commit[page_] = h_commit[page_];
	seen_used[page_] = OPEN;
#endif
	slots[r_limit % SLOTS] = page_
}

/* Puts the page that has been held longest. */
inline fkt_ring_put()
{
	if
	:: d_step {
			!IS_BROKEN(LIMIT_FIRST) ->
			held ? page;
			prepare(page);
			page = 0
		}
		d_step { r_limit++ }
	:: d_step { IS_BROKEN(LIMIT_FIRST) -> r_limit++ }
		d_step {
			held ? page;
			r_limit--;
			prepare(page);
			r_limit++;
			page = 0
		}
	fi
}

#include "replay.pml"

chan held = [PAGES] of { byte }; /* taken, not put */

/* What the drain looks at first and, if that was right, then: C' and B'. */
#define TAIL FKT_RING_PAGE(r_tail)
#define COMMIT_LOOK (SEEN_COMMIT(TAIL) == 0)
#define USED_LOOK (SEEN_USED(TAIL) != OPEN || IS_BROKEN(USED_IGNORED))
#define FIRST_LOOK (IS_BROKEN(COMMIT_THEN_USED) -> COMMIT_LOOK : USED_LOOK)
#define SECOND_LOOK (IS_BROKEN(COMMIT_THEN_USED) -> USED_LOOK : COMMIT_LOOK)

#if KEEP
#define BLIND (IS_BROKEN(OVERWRITE_BLIND) && KEEPS)
#else
#define BLIND false
#endif

/* In two steps, as options of the drain's loop. The first one: */
inline fkt_ring_take()
{
	if
	:: r_tail != r_limit && TO_BE_TAKEN && (FIRST_LOOK || BLIND) ->
#if KEEP
		forgets = KEEPS;
#endif
		looking = SECOND
	:: else -> looking = ENOUGH
	fi
}

/* ... and the second. Pages that are taken wait in `held`. */
inline fkt_ring_take_end()
{
	if
	:: SECOND_LOOK || BLIND ->
		page = TAIL;
		replay(page);
		out[page] = 1;
		held ! page;
		page = 0;
		r_tail++;
		looking = FIRST
	:: else -> looking = ENOUGH
	fi
}

active proctype drain()
{
	byte page;
	bool last_round;
#if KEEP
	bool forgets; /* what it takes now */
#endif

	/* Before anything runs. */
	atomic {
		do
		:: r_limit <= PAGES -> d_step { page = r_limit - 1; prepare(page); r_limit++ }
		:: else -> break
		od;
		busy = 0
	}
	do
	:: d_step {
			looking == ASLEEP && !last_round ->
			/* Woken, or of its own accord. */
			last_round = stopping;
#ifdef TSO
			clearing = 1;
			looking = FIRST
#else
			kicked = 0;
			fkt_ring_take()
#endif
		}
#ifdef PROGRESS
progress:	skip
#endif
	:: d_step { looking == FIRST && BARRIER -> fkt_ring_take() }
	:: d_step { looking == SECOND -> fkt_ring_take_end() }
#ifdef TSO
	:: d_step { looking == ENOUGH && !clearing -> looking = ASLEEP }
#endif
#if KEEP
	/* FKT_FLIGHT: the caller that begins a snapshot takes the complete pages. */
	:: d_step {
			looking == ASLEEP && !last_round && snapshots < 2 ->
			snapshots++;
			leaving = !leaving;
			looking = (leaving && !IS_BROKEN(OVERWRITE_LATE) -> FIRST : ASLEEP)
		}
#endif
	:: looking != SECOND && nempty(held) -> fkt_ring_put()
	:: looking == ASLEEP && last_round -> break
	od;
	skip;
	d_step {
		assert(r_tail == ((w_run + 1) & 255));
#if KEEP
		written = written + overwritten;
#endif
		assert(written + r_lost == attempted);
		e = 0;
		do
		:: e < LEVELS * EVENTS -> assert(!truth_stamp[e] || !truth_pid[e]); e++
		:: else -> break
		od
	}
}

#ifdef TSO
/* What the CPUs have stored, but not yet shown to each other. */
active proctype store_buffers()
{
	byte what, page, value;

end:	do
	:: d_step {
			store_buffer ? what, page, value ->
			pending[page]--;
			if
			:: what == AS_COMMIT -> seen_commit[page] = value
			:: what == AS_USED -> seen_used[page] = value
			:: else
			fi;
			what = 0;
			page = 0;
			value = 0
		}
	:: d_step {
			clearing ->
			clearing = 0;
			kicked = 0
		}
	od
}
#endif
