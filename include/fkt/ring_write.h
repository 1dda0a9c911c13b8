/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The probes' side of a ring: reserving space, writing and committing events, joining ends to their
 * begins, and closing pages. ring.h describes the protocol, and what its lettered barriers pair with.
 *
 * Before including this file define:
 *   fkt_ring_clock()              full time stamp (ticks)
 *   fkt_ring_fast_clock()         full time stamp for fkt_ring_write(), if that must not call a function
 *   fkt_ring_wake(ring, run)      page `run` is complete (called from any context)
 *   fkt_ring_gap(ring)            the first event of a gap found no page (any context); optional
 *   fkt_ring_remembered(pid)      last_pid after an event of this thread, the current one: `pid`, or FKT_PID_APART;
 *                                 optional
 */
#ifndef FKT_RING_WRITE_H
#define FKT_RING_WRITE_H

#include <fkt/ring.h>

/* Tests define this to run code at the named steps, as an interrupt would; otherwise it is empty. */
#ifndef FKT_RING_STEP
#define FKT_RING_STEP(name)
#endif

#ifndef fkt_ring_gap
#define fkt_ring_gap(ring)
#endif

#ifndef fkt_ring_remembered
#define fkt_ring_remembered(pid) (pid)
#endif

#ifndef fkt_ring_fast_clock
#define fkt_ring_fast_clock() fkt_ring_clock()
#endif

/*
 * B: commits what was added to the reservation word (bytes or one join). Wakes the drain if that
 * completes the page.
 */
static __always_inline void fkt_ring_commit_added(struct fkt_ring *r, struct fkt_page_header *h,
						  u32 run, u32 added)
{
	FKT_RING_STEP(before_commit);
	/* The drain may take the page from here on: it must not be accessed any more. */
	if (unlikely(fkt_local_add_is_zero(&h->commit, added)))
		fkt_ring_wake(r, run);
	FKT_RING_STEP(after_commit);
}

/* Commits an event of `bytes` bytes and counts it; joined ends are counted when the page is closed. */
static __always_inline void fkt_ring_commit(struct fkt_ring *r, struct fkt_page_header *h, u32 run,
					    u32 bytes)
{
	fkt_local_inc32(&h->events);
	fkt_ring_commit_added(r, h, run, bytes);
}

/* C: closes the page of `word` to further events. clock: not earlier than its last event (ticks). */
static __always_inline void fkt_ring_close_page(struct fkt_ring *r, u64 word, u64 clock)
{
	const u32 run = word >> 32;
	struct fkt_page_header *h = fkt_ring_page(r, run);
	bool complete;

	h->end_clock = clock;
	fkt_local_add_is_zero(&h->events, fkt_ring_joins(word));
	complete = fkt_local_add_is_zero(&h->commit, -(u32)word);
	FKT_RING_STEP(before_used);
	/* The drain may take the page from here on if it is complete: it must not be accessed any more. */
	smp_store_release(&h->used, fkt_ring_offset(word));
	FKT_RING_STEP(after_used);
	/* Otherwise a probe that this code interrupted has not committed yet: it wakes the drain when it does. */
	if (complete)
		fkt_ring_wake(r, run);
}

/* Result of a reservation: where to write, and which words must precede the event. */
struct fkt_reserved {
	struct fkt_page_header *page;
	u64 *at;
	u64 clock;
	u32 run;
	u32 bytes; /* reserved, including the header of a new page */
	bool pid, time, lost;
	bool back; /* the clock had stepped back: `clock` is later than the reading */
	u64 lost_count, gap_from;
};

/*
 * Stores the time at which the gap begins, before the exchange that begins it. If that exchange is
 * going to fail because an interrupt has begun a gap meanwhile, the interrupt's stamp must stay. It
 * does: the word is read again here, after `clock` was read, so a gap that began before this check
 * makes the function return, and one that begins after it has a later stamp.
 */
static inline void fkt_ring_gap_from(struct fkt_ring *r, u64 word, u64 clock)
{
	u64 from;

	if (READ_ONCE(r->word) != word)
		return;
	do {
		from = READ_ONCE(r->gap_from);
	} while (from < clock && !fkt_local_cmpxchg(&r->gap_from, from, clock));
}

/*
 * Called when no page is free: marks the begin of the gap if this is its first event, and counts the
 * lost event. Returns false if the word has changed: the caller must try again.
 */
static inline bool fkt_ring_lose(struct fkt_ring *r, u64 word, u64 clock)
{
	FKT_RING_STEP(no_page);
	if (!fkt_ring_in_gap(word)) {
		fkt_ring_gap_from(r, word, clock);
		fkt_ring_forget_page(r);
		FKT_RING_STEP(before_gap);
		if (!fkt_local_cmpxchg(&r->word, word,
				       fkt_ring_word(word >> 32, FKT_RING_GAP)))
			return false;
		if (!fkt_ring_is_closed(word))
			fkt_ring_close_page(r, word, clock);
		fkt_ring_gap(r);
	}
	FKT_RING_STEP(before_lost);
	fkt_local_inc(&r->lost);
	return true;
}

/*
 * Reserves `words` words for an event of thread `pid`, plus the words that must precede it, in the open
 * page or the next one. pid_after: the thread that owns the events that follow (differs from pid for
 * switch events only). Returns false if the event is lost (it is counted).
 */
static inline bool fkt_ring_reserve(struct fkt_ring *r, u32 pid, u32 pid_after, u32 words,
				    struct fkt_reserved *s)
{
	u64 word, next, last_clock, floor;
	u32 offset, last_pid;
	bool opens;

	for (;;) {
		word = READ_ONCE(r->word);
		offset = fkt_ring_offset(word);
		last_pid = READ_ONCE(r->last_pid);
		if (pid_after != pid)
			WRITE_ONCE(r->last_pid, FKT_PID_NONE);
		s->lost_count = READ_ONCE(r->lost);
		s->clock = fkt_ring_clock();
		last_clock = READ_ONCE(r->last_clock);
		s->gap_from = READ_ONCE(r->gap_from);
		floor = last_clock > s->gap_from ? last_clock : s->gap_from;
		/* `floor` can also be later because of an interrupt since the reading: then the exchange fails. */
		s->back = s->clock < floor;
		if (s->back)
			s->clock = floor;
		s->time = s->clock - last_clock > FKT_TIME_MASK;
		s->pid = pid != last_pid;
		s->lost = false;
		s->run = word >> 32;
		s->bytes = 8 * (words + s->time + s->pid);
		opens = offset + s->bytes > r->page_bytes;
		next = word + s->bytes;
		FKT_RING_STEP(before_exchange);
		if (opens) {
			s->run++;
			/* A */
			if (s->run == smp_load_acquire(&r->limit) ||
			    (r->keeps_gap && fkt_ring_in_gap(word))) {
				if (fkt_ring_lose(r, word, s->clock))
					return false;
				continue;
			}
			s->time = false;
			s->pid = false;
			/* An interrupt has lost an event after our stamp, which would end the gap too early. */
			if (READ_ONCE(r->lost) != s->lost_count)
				continue;
			FKT_RING_STEP(before_open);
			s->lost = fkt_ring_in_gap(word);
			s->bytes = FKT_PAGE_HEADER_BYTES +
				   8 * (words + (s->lost ? 1 + FKT_LOST_WORDS : 0));
			next = fkt_ring_word(s->run, s->bytes);
			WRITE_ONCE(r->open_page, fkt_ring_no_page(r, FKT_RING_OPENING));
			FKT_RING_STEP(before_no_page);
		}
		if (fkt_local_cmpxchg(&r->word, word, next))
			break;
		FKT_RING_STEP(exchange_failed);
		if (opens)
			fkt_local_cmpxchg(&r->open_page, fkt_ring_no_page(r, FKT_RING_OPENING),
					  fkt_ring_no_page(r, FKT_RING_NOWHERE));
	}
	FKT_RING_STEP(after_exchange);

	WRITE_ONCE(r->last_clock, s->clock);
	if (s->back)
		fkt_local_inc(&r->clock_back);
	if (pid_after == pid)
		WRITE_ONCE(r->last_pid, fkt_ring_remembered(pid));
	else
		fkt_local_cmpxchg32(&r->last_pid, FKT_PID_NONE, pid_after);

	s->page = fkt_ring_page(r, s->run);
	if (opens) {
		if (!fkt_ring_is_closed(word))
			fkt_ring_close_page(r, word, s->clock);
		s->page->first_clock = s->clock;
		s->page->lost = s->lost_count;
		s->page->pid = pid;
		offset = FKT_PAGE_HEADER_BYTES;
		FKT_RING_STEP(before_open_page);
		fkt_local_cmpxchg(&r->open_page, fkt_ring_no_page(r, FKT_RING_OPENING), (u64)(unsigned long)s->page);
	}
	s->at = (u64 *)((char *)s->page + offset);
	return true;
}

/* The words after an event word, then an optional string, padded with zeros to whole words. */
struct fkt_body {
	const u64 *words;
	u32 n;
	u32 tail_bytes;
	const void *tail;
	u32 page_flags; /* FKT_PAGE_* of the page that it goes into */
};

static __always_inline u32 fkt_body_words(const struct fkt_body *body)
{
	return body ? body->n + (body->tail_bytes + 7) / 8 : 0;
}

/* Largest tail (bytes) behind n words that fits a page together with all words that may have to precede it. */
static inline u32 fkt_ring_tail_room(const struct fkt_ring *r, u32 n)
{
	u32 page = r->page_bytes - FKT_PAGE_HEADER_BYTES - 8 * (1 + FKT_LOST_WORDS + 1 + n);
	u32 words = 8 * (FKT_VAR_MASK - n);

	return page < words ? page : words;
}

static inline void fkt_body_copy(u64 *at, const struct fkt_body *body)
{
	u32 i;

	for (i = 0; i < body->n; i++)
		at[i] = body->words[i];
	if (body->tail_bytes) {
		at[fkt_body_words(body) - 1] = 0;
		memcpy(at + body->n, body->tail, body->tail_bytes);
	}
}

/*
 * Writes an event, including any PID, TIME and LOST words and a page switch. head: fkt_word() with
 * clock 0; pid, pid_after: see fkt_ring_reserve(); body: may be NULL. Returns false if the event is lost.
 *
 * Page flags are only for callers in a task with migration disabled: no other context writes the flags of an open page,
 * and the commit publishes them.
 */
static noinline bool fkt_ring_write_any(struct fkt_ring *r, u64 head, u32 pid, u32 pid_after,
					const struct fkt_body *body)
{
	struct fkt_reserved s;

	if (!fkt_ring_reserve(r, pid, pid_after, 1 + fkt_body_words(body), &s))
		return false;
	if (s.time)
		*s.at++ = fkt_word(s.clock, FKT_W_TIME, (u32)(s.clock >> FKT_TIME_BITS));
	if (s.pid)
		*s.at++ = fkt_word(s.clock, FKT_W_PID, pid);
	if (s.lost) {
		*s.at++ = fkt_word(s.clock, FKT_W_LOST, 0);
		*s.at++ = s.lost_count;
		*s.at++ = s.gap_from;
	}
	*s.at++ = head | (s.clock & FKT_TIME_MASK);
	if (body) {
		fkt_body_copy(s.at, body);
		if (body->page_flags)
			s.page->flags |= body->page_flags;
	}
	fkt_ring_commit(r, s.page, s.run, s.bytes);
	return true;
}

/*
 * Writes one event of thread `pid`: its head and n words after it. Interrupts may occur, migration must
 * not. n and kind are constants, so that the compiler unrolls the loop and drops dead code. kind: the
 * kind of a begin without words that its end may be joined to; FKT_PAIR_KINDS for other events.
 */
static __always_inline void fkt_ring_write_event(struct fkt_ring *r, u64 head, u32 pid,
						 const u64 *words, u32 n,
						 enum fkt_pair_kind kind)
{
	const u32 bytes = 8 * (1 + n);
	struct fkt_page_header *h;
	u64 word, next, clock, *at;
	u32 i;

	do {
		word = READ_ONCE(r->word);
		next = word + bytes; /* even with FKT_RING_GAP this does not overflow into the joins */
		clock = fkt_ring_fast_clock();
		/*
		 * The slow path, if the page is full or closed (the offset is then larger than any
		 * page), if the low bits of the stamp are not sufficient or the clock has stepped back
		 * (the difference is then huge), or if the last event was of another thread.
		 */
		if (unlikely(fkt_ring_offset(next) > r->page_bytes ||
			     fkt_local_sub_from(&r->last_clock, clock) > FKT_TIME_MASK ||
			     fkt_local_differs32(&r->last_pid, pid))) {
			struct fkt_body body = {
				.words = words, .n = n, .tail_bytes = 0, .tail = NULL, .page_flags = 0,
			};

			fkt_ring_write_any(r, head, pid, pid, n ? &body : NULL);
			return;
		}
		FKT_RING_STEP(before_exchange);
	} while (unlikely(!fkt_local_cmpxchg(&r->word, word, next)));
	FKT_RING_STEP(after_exchange);

	WRITE_ONCE(r->last_clock, clock);
	h = fkt_ring_page(r, word >> 32);
	at = (u64 *)((char *)h + fkt_ring_offset(next) - bytes);
	WRITE_ONCE(at[0], head | (clock & FKT_TIME_MASK));
	for (i = 0; i < n; i++)
		at[1 + i] = words[i];
	if (kind < FKT_PAIR_KINDS) {
		FKT_RING_STEP(before_pair);
		/* After the event is written: an end that finds this word may add to the event. */
		WRITE_ONCE(r->pair[kind], next);
	}
	fkt_ring_commit(r, h, word >> 32, bytes);
}

/*
 * Reserves `bytes` bytes for an event of thread `pid`, if that takes no more than these instructions, and `small` is
 * not larger than FKT_TIME_MASK. Returns false if nothing was reserved: the caller must use another function. For
 * callers that do not want the other paths in their code, nor arrays or calls for which registers must be saved. They
 * must write the event at fkt_ring_tried(), with the stamp `clock`, and call fkt_ring_try_commit(). *h: the page;
 * *next: the reservation word, `bytes` more than the one before.
 *
 * clock: may have been read long before the word is, on another CPU too. Each event that was written since, and each
 * page that was closed, has left a later last_clock: those in interrupts have stored theirs before they return, and one
 * that this code interrupts has an earlier stamp. Then the difference is huge.
 */
static __always_inline bool fkt_ring_try_reserve(struct fkt_ring FKT_RING_HERE *r, u32 pid, u64 bytes, u64 small,
						 u64 clock, struct fkt_page_header **h, u64 *next)
{
	u64 word = fkt_here_read(&r->word);

	*next = word + bytes;
	/*
	 * Not earlier than the word, like all that is read here. The mask is of low bits, so one comparison is enough
	 * for both of the others.
	 */
	if (unlikely(fkt_here_differs32(&r->last_pid, pid) ||
		     (fkt_here_sub_from(&r->last_clock, clock) | small) > FKT_TIME_MASK))
		return false;
	*h = (struct fkt_page_header *)(unsigned long)fkt_here_read(&r->open_page);
	/*
	 * If an interrupt comes here, the page may have been reused meanwhile: then this value is arbitrary, but the
	 * exchange fails.
	 */
	if (unlikely(fkt_local_is_less32(fkt_ring_page_bytes(*h), fkt_ring_offset(*next))))
		return false;
	FKT_RING_STEP(before_exchange);
	if (unlikely(!fkt_here_cmpxchg(&r->word, &word, *next)))
		return false;
	FKT_RING_STEP(after_exchange);

	fkt_here_write(&r->last_clock, clock);
	return true;
}

/* Returns where the event is written. */
static __always_inline u64 *fkt_ring_tried(struct fkt_page_header *h, u64 next, u32 bytes)
{
	return (u64 *)((char *)h + fkt_ring_offset(next) - bytes);
}

/*
 * B: commits what was reserved. Returns true if that completes the page: the caller must then call fkt_ring_wake(r,
 * next >> 32), and may do so as the last thing it does.
 */
static __always_inline bool fkt_ring_try_commit(struct fkt_page_header *h, u32 bytes)
{
	fkt_local_inc32(&h->events);
	FKT_RING_STEP(before_commit);
	/* The drain may take the page from here on: it must not be accessed any more. */
	return unlikely(fkt_local_add_is_zero(&h->commit, bytes));
}

/*
 * As fkt_ring_try_commit(), in one instruction instead of two. to_commit: fkt_ring_to_commit(). The commit count has a
 * carry when it becomes 0, and only then: it rises from 0 to less than its range while the page is open, and to 0, no
 * further, from the close on, which has taken off more than it was if this event was not committed yet.
 */
static __always_inline bool fkt_ring_try_commit_by(struct fkt_page_header *h, u64 to_commit)
{
	static_assert(offsetof(struct fkt_page_header, commit) == offsetof(struct fkt_page_header, events) + 4 &&
			      offsetof(struct fkt_page_header, events) % 8 == 0,
		      "one addition is of both");

	FKT_RING_STEP(before_commit);
	/* The drain may take the page from here on: it must not be accessed any more. */
	return unlikely(fkt_local_add_two_is_zero(&h->events, to_commit));
}

static __always_inline void fkt_ring_write(struct fkt_ring *r, u64 head, u32 pid, const u64 *words,
					   u32 n)
{
	fkt_ring_write_event(r, head, pid, words, n, FKT_PAIR_KINDS);
}

/* Writes the begin event with number `number` of `kind`; first: the first id of the kind. */
static __always_inline void fkt_ring_write_begin(struct fkt_ring *r, enum fkt_pair_kind kind,
						 u32 first, u32 number, u32 pid)
{
	fkt_ring_write_event(r, fkt_word(0, first + number, 0), pid, NULL, 0, kind);
}

/* An end event to be joined to its begin. */
struct fkt_end {
	enum fkt_pair_kind kind;
	u32 id, known; /* the bits of `known` must be equal in `id` and in the id of the begin */
	u32 pid;
	s64 value; /* result */
};

/* The short form of a pair's argument: 11 bits of result, 10 bits of ticks; always split 4. */
#define FKT_PAIR_SHORT_TICKS 1024
#define FKT_PAIR_SHORT_BIAS 1024
#define FKT_PAIR_SHORT_VALUE(value) ((u64)(value) + FKT_PAIR_SHORT_BIAS < 2 * FKT_PAIR_SHORT_BIAS)

static __always_inline u32 fkt_pair_arg_short(u64 ticks, s64 value)
{
	/*
	 * The biased sum was computed for the range check and has no bits above the result's; its top
	 * bit is inverted, which the exclusive or corrects.
	 */
	const u32 biased = (u64)value + FKT_PAIR_SHORT_BIAS;

	return (biased << 10 | (u32)ticks) ^ (4U << FKT_PAIR_SPLIT_SHIFT | FKT_PAIR_SHORT_BIAS << 10);
}

/*
 * Joins an end to the word of its begin, if that is the last event on this CPU and both fit. is_short
 * (a constant): tries only the short form, which takes fewer instructions. Returns false if nothing was
 * changed; the end must then be written as an event.
 */
static __always_inline bool fkt_ring_join(struct fkt_ring *r, const struct fkt_end *end,
					  bool is_short)
{
	u64 word = READ_ONCE(r->word), clock, ticks, *at;
	struct fkt_page_header *h;
	u32 arg;

	if (fkt_local_differs(&r->pair[end->kind], word) ||
	    fkt_local_differs32(&r->last_pid, end->pid) || (is_short && !FKT_PAIR_SHORT_VALUE(end->value)))
		return false;
	h = fkt_ring_page(r, word >> 32);
	at = (u64 *)((char *)h + fkt_ring_offset(word) - 8);
	clock = fkt_ring_fast_clock();
	/*
	 * last_clock is not later than the begin, so `ticks` is at least the begin's age: the check
	 * below ensures that the begin is less than 2^28 ticks ago.
	 */
	ticks = fkt_local_sub_from(&r->last_clock, clock);
	if (ticks >= (is_short ? FKT_PAIR_SHORT_TICKS : FKT_TIME_MASK))
		return false;
	if (!is_short) {
		/*
		 * If the page was closed and recycled meanwhile, this value is arbitrary, but the
		 * exchange then fails.
		 */
		const u64 begin = READ_ONCE_NOCHECK(*at);

		arg = fkt_pair_arg((clock - begin) & FKT_TIME_MASK, end->value);
		if (!arg || (fkt_word_id(begin) ^ end->id) & end->known)
			return false;
	}
	FKT_RING_STEP(before_exchange);
	if (!fkt_local_cmpxchg(&r->word, word, word + FKT_RING_JOIN))
		return false;
	FKT_RING_STEP(after_exchange);

	WRITE_ONCE(r->last_clock, clock);
	if (is_short)
		arg = fkt_pair_arg_short(fkt_local_sub_from(at, clock) & FKT_TIME_MASK, end->value);
	fkt_local_or(at, (u64)arg << FKT_ARG_SHIFT);
	fkt_ring_commit_added(r, h, word >> 32, FKT_RING_JOIN);
	return true;
}

/*
 * Closes the open page so that the drain gets it before it is full. Called on the ring's own CPU, or on
 * any CPU if that one is dead or no probe runs any more. Returns false if no page was open.
 */
static inline bool fkt_ring_close(struct fkt_ring *r)
{
	u64 word, clock, last_clock;

	do {
		word = READ_ONCE(r->word);
		if (fkt_ring_is_closed(word))
			return false;
		clock = fkt_ring_clock();
		last_clock = READ_ONCE(r->last_clock);
		if (clock < last_clock)
			clock = last_clock;
		fkt_ring_forget_page(r);
		FKT_RING_STEP(before_exchange);
	} while (!fkt_local_cmpxchg(&r->word, word, fkt_ring_word(word >> 32, FKT_RING_CLOSED)));
	/* The next page must not begin before this one has ended, even if the clock steps back. */
	WRITE_ONCE(r->last_clock, clock);
	fkt_ring_close_page(r, word, clock);
	return true;
}

#endif /* FKT_RING_WRITE_H */
