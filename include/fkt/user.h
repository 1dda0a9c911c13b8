/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Events of user programs, on the recording's time line: for C11 and C++20, without a library.
 *
 *   fkt_user_probe2(17, length, result);                          a number of yours, and up to six values
 *   FKT_USER_EVENT("request", FKT_U32("bytes", n), FKT_TEXT("path", path));
 *   { FKT_USER_SCOPE("parse"); ... }                              a span, from here to the end of the block
 *   FKT_USER_BEGIN("load", FKT_INT("id", i)); ... FKT_USER_END("load");
 *   FKT_USER_COUNTER("queue", depth);
 *   FKT_USER_ASYNC_BEGIN("job", id); ... FKT_USER_ASYNC_END("job", id);     begun and ended in any thread
 *
 * A program that is not run by fkt_record tests one variable at each event. In one that is, a thread's first event
 * asks fkt_record for a ring (fkt/user_ring.h), and the first event of each name for a number; after that an event
 * makes no system call and takes no lock. Events may be written from signal handlers. A child process gets rings of
 * its own. Where the ring is full, events are lost, and counted.
 *
 * Names and values' names are string literals. A text is cut after 64 bytes, the last one of an event after 1000.
 */
#ifndef FKT_USER_H
#define FKT_USER_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* madvise(2), sigset_t, also with -std=c11 */
#endif
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <fkt/user_attach.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FKT_USER_TEXT_WORDS 8 /* of a text that is not an event's last value */
#define FKT_USER_LAST_TEXT 1000 /* bytes, at most, of the last text */
#define FKT_USER_MOST_VALUES 16

/* A text in a program's source, and what the recorder made of it. */
struct fkt_user_event {
	const char *name;
	char kind; /* enum fkt_user_kind */
	int plain; /* the event is recorded without its values */
	int number; /* 0: not asked for yet; -1: refused */
};

/* A value of an event. type: of the catalogue ("u", "s", "x"); 't': a text. */
struct fkt_user_value {
	const char *name;
	char type;
	unsigned char bits; /* 32 or 64 */
	__u64 number;
	const char *text;
};

/* ---- writing ---- */

/* Sets *p to `to` if it is `from`: one instruction, for a word that only this thread and its handlers change. */
FKT_USER_INLINE int fkt_user_exchange(__u64 *p, __u64 from, __u64 to)
{
#if defined(__x86_64__)
	unsigned char done;

	__asm__ volatile("cmpxchgq %[to], %[p]" : "=@ccz"(done), [p] "+m"(*p), "+a"(from) : [to] "r"(to) : "memory");
	return done;
#else
	return __atomic_compare_exchange_n(p, &from, to, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
#endif
}

/* Adds 1 in one instruction: a signal handler comes before it or after it. */
FKT_USER_INLINE void fkt_user_count(__u64 *p)
{
#if defined(__x86_64__)
	__asm__ volatile("incq %[p]" : [p] "+m"(*p) : : "memory");
#else
	__atomic_fetch_add(p, 1, __ATOMIC_RELAXED);
#endif
}

/* Completes what was reserved at `head`: the first word comes last, so that nothing is seen in part. */
FKT_USER_INLINE void fkt_user_fill(struct fkt_user_thread *t, __u64 head, __u64 first, const __u64 *after,
				   unsigned int n)
{
	__u64 *at = t->words + (head & t->mask);
	unsigned int i;

	if (n) {
		__atomic_store_n(&at[0], FKT_USER_UNFINISHED(n), __ATOMIC_RELAXED);
		FKT_USER_BARRIER();
#pragma GCC unroll 8
		for (i = 0; i < n; i++)
			at[1 + i] = after[i];
	}
	/* The recorder, which loads this word first, then sees the others. */
	__atomic_store_n(&at[0], first, __ATOMIC_RELEASE);
}

/*
 * Makes room for `need` words at `head`, or writes the LOST or TIME word that must precede an event at `clock`. Returns
 * 0 if the event is lost, else 1: the caller must begin again.
 */
FKT_USER_COLD int fkt_user_prepare(struct fkt_user_thread *t, __u64 head, unsigned int need, __u64 clock)
{
	struct fkt_user_ring *ring = t->ring;
	__u64 lost[FKT_LOST_WORDS];

	if (__atomic_load_n(&ring->stopped, __ATOMIC_RELAXED)) {
		__atomic_store_n(&fkt_user_on, 0, __ATOMIC_RELAXED);
		return 0;
	}
	/* Acquire: the words up to there are zeros again. */
	t->limit = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) + t->mask + 1;
	if (head + need + FKT_LOST_WORDS + 2 > t->limit) {
		if (!t->untold)
			ring->gap_from = clock;
		/* In this order: a handler that writes a LOST word in between would not report this event. */
		fkt_user_count(&ring->lost);
		t->untold = 1;
		return 0;
	}
	if (clock - t->last > FKT_TIME_MASK) {
		if (fkt_user_exchange(&ring->head, head, head + 1)) {
			t->last = clock;
			fkt_user_fill(t, head, fkt_word(clock, FKT_W_TIME, (__u32)(clock >> FKT_TIME_BITS)), NULL, 0);
		}
	} else if (t->untold) {
		/* Before the count is read: the next LOST word reports what a handler loses from here on. */
		t->untold = 0;
		FKT_USER_BARRIER();
		lost[0] = ring->lost;
		lost[1] = ring->gap_from;
		if (fkt_user_exchange(&ring->head, head, head + 1 + FKT_LOST_WORDS)) {
			t->last = clock;
			fkt_user_fill(t, head, fkt_word(clock, FKT_W_LOST, 0), lost, FKT_LOST_WORDS);
		} else {
			t->untold = 1;
		}
	}
	return 1;
}

/*
 * Writes an event with n words after its event word into the thread's ring. when: its time, which becomes that of the
 * thread's last event if it is before that; 0: now.
 */
FKT_USER_INLINE void fkt_user_write_to(struct fkt_user_thread *t, __u64 when, __u32 id, __u32 arg, const __u64 *words,
				       unsigned int n)
{
	__u64 head, clock;

	for (;;) {
		head = __atomic_load_n(&t->ring->head, __ATOMIC_RELAXED);
		clock = when ? when : fkt_user_clock(t);
		/* A clock that steps back stands still. */
		if (FKT_USER_UNLIKELY(clock < t->last))
			clock = t->last;
		if (FKT_USER_UNLIKELY(clock - t->last > FKT_TIME_MASK || head + 1 + n > t->limit || t->untold)) {
			if (!fkt_user_prepare(t, head, 1 + n, clock))
				return;
			continue;
		}
		if (__builtin_expect(fkt_user_exchange(&t->ring->head, head, head + 1 + n), 1))
			break;
	}
	t->last = clock;
	fkt_user_fill(t, head, fkt_word(clock, id, arg), words, n);
}

/* When a thread begins to ask the recorder, by both clocks: it may not know yet which one is its ring's. */
struct fkt_user_asked {
	__u64 at[2];
};

FKT_USER_COLD struct fkt_user_asked fkt_user_asks(void)
{
	const struct fkt_user_asked now = {{fkt_user_read(FKT_USER_TSC), fkt_user_read(FKT_USER_MONO)}};

	return now;
}

FKT_USER_INLINE __u64 fkt_user_asked_at(const struct fkt_user_asked *since, const struct fkt_user_thread *t)
{
	return since->at[t->clock == FKT_USER_MONO] + t->clock_offset;
}

/* Writes the span of the asking, if the thread has a ring now. */
FKT_USER_COLD void fkt_user_tell_asking(const struct fkt_user_asked *since)
{
	struct fkt_user_thread *t = fkt_user_self;

	if (!t || !t->words || !t->ring->asking)
		return;
	fkt_user_write_to(t, fkt_user_asked_at(since, t), FKT_E_USER_BEGIN, FKT_USER_ASKING, NULL, 0);
	fkt_user_write_to(t, 0, FKT_E_USER_END, FKT_USER_ASKING, NULL, 0);
}

/* fkt_user_attach(), and a span for it. */
FKT_USER_COLD struct fkt_user_thread *fkt_user_attach_named(void)
{
	struct fkt_user_thread *t;
	struct fkt_user_asked since;
	sigset_t all, before;

	/* First of all: handlers that come here again and again would take the whole stack. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	since = fkt_user_asks();
	t = fkt_user_attach();
	if (t)
		fkt_user_tell_asking(&since);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return t;
}

/*
 * Writes an event with the present time into the ring of the calling thread, which gets a ring if it has none. The
 * caller has checked fkt_user_recorded().
 */
FKT_USER_INLINE void fkt_user_write(__u32 id, __u32 arg, const __u64 *words, unsigned int n)
{
	struct fkt_user_thread *t = fkt_user_self;

	if (FKT_USER_UNLIKELY(!t || !t->words)) {
		t = fkt_user_attach_named();
		if (!t)
			return;
	}
	fkt_user_write_to(t, 0, id, arg, words, n);
}

/* ---- numbered probes ---- */

/* A probe whose code or values do not fit the short forms. */
FKT_USER_COLD void fkt_user_probe_long(__u32 code, const __u64 *values, unsigned int n)
{
	__u64 words[7];

	words[0] = code;
	memcpy(words + 1, values, n * sizeof(*values));
	fkt_user_write(FKT_E_USER_PROBE, 1 + n, words, 1 + n);
}

FKT_USER_INLINE void fkt_user_probe0(__u32 code)
{
	if (!fkt_user_recorded())
		return;
	if (code <= FKT_ARG_MASK)
		fkt_user_write(FKT_E_USER_PROBE0, code, NULL, 0);
	else
		fkt_user_probe_long(code, NULL, 0);
}

FKT_USER_INLINE void fkt_user_probe1(__u32 code, __s64 a0)
{
	const __u64 word = (__u64)a0;

	if (!fkt_user_recorded())
		return;
	if (code <= FKT_ARG_MASK)
		fkt_user_write(FKT_E_USER_PROBE1, code, &word, 1);
	else
		fkt_user_probe_long(code, &word, 1);
}

FKT_USER_INLINE void fkt_user_probe2(__u32 code, __s64 a0, __s64 a1)
{
	if (!fkt_user_recorded())
		return;
	if (code <= FKT_ARG_MASK && a0 == (__s32)a0 && a1 == (__s32)a1) {
		const __u64 word = (__u32)a0 | (__u64)a1 << 32;

		fkt_user_write(FKT_E_USER_PROBE2, code, &word, 1);
	} else {
		const __u64 words[] = {(__u64)a0, (__u64)a1};

		fkt_user_probe_long(code, words, 2);
	}
}

FKT_USER_INLINE void fkt_user_probe3(__u32 code, __s64 a0, __s64 a1, __s64 a2)
{
	const __u64 words[] = {(__u64)a0, (__u64)a1, (__u64)a2};

	if (fkt_user_recorded())
		fkt_user_probe_long(code, words, 3);
}

FKT_USER_INLINE void fkt_user_probe4(__u32 code, __s64 a0, __s64 a1, __s64 a2, __s64 a3)
{
	const __u64 words[] = {(__u64)a0, (__u64)a1, (__u64)a2, (__u64)a3};

	if (fkt_user_recorded())
		fkt_user_probe_long(code, words, 4);
}

FKT_USER_INLINE void fkt_user_probe5(__u32 code, __s64 a0, __s64 a1, __s64 a2, __s64 a3, __s64 a4)
{
	const __u64 words[] = {(__u64)a0, (__u64)a1, (__u64)a2, (__u64)a3, (__u64)a4};

	if (fkt_user_recorded())
		fkt_user_probe_long(code, words, 5);
}

FKT_USER_INLINE void fkt_user_probe6(__u32 code, __s64 a0, __s64 a1, __s64 a2, __s64 a3, __s64 a4, __s64 a5)
{
	const __u64 words[] = {(__u64)a0, (__u64)a1, (__u64)a2, (__u64)a3, (__u64)a4, (__u64)a5};

	if (fkt_user_recorded())
		fkt_user_probe_long(code, words, 6);
}

/* ---- named events ---- */

#define FKT_INT(name, value) {name, 's', 64, (__u64)(__s64)(value), NULL}
#define FKT_UINT(name, value) {name, 'u', 64, (__u64)(value), NULL}
#define FKT_HEX(name, value) {name, 'x', 64, (__u64)(value), NULL}
#define FKT_I32(name, value) {name, 's', 32, (__u32)(__s32)(value), NULL}
#define FKT_U32(name, value) {name, 'u', 32, (__u32)(value), NULL}
#define FKT_X32(name, value) {name, 'x', 32, (__u32)(value), NULL}
#define FKT_TEXT(name, text) {name, 't', 0, 0, text}

/* Where the next value goes: values of 32 bits share a word, in their order. */
struct fkt_user_place {
	unsigned int words; /* in use */
	unsigned int half; /* the last one has room for 32 bits more */
};

/* Returns the bit at which a value of so many bits begins, from the first word on. */
FKT_USER_INLINE unsigned int fkt_user_put(struct fkt_user_place *p, unsigned int bits)
{
	const unsigned int second = bits == 32 && p->half;
	const unsigned int at = second ? p->words * 64 - 32 : p->words * 64;

	if (!second)
		p->words += (bits + 63) / 64;
	p->half = bits == 32 && !second;
	return at;
}

/* Makes the definition's text. Returns its length, without a zero; 0: it is too long. */
FKT_USER_COLD size_t fkt_user_describe(char *text, size_t room, const struct fkt_user_event *event,
				       const struct fkt_user_value *values, unsigned int n)
{
	struct fkt_user_place place = {0, 0};
	size_t length;
	unsigned int i;

	length = (size_t)snprintf(text, room, "%c\t%s\t", event->kind, event->name);
	for (i = 0; i < n && length < room; i++) {
		const struct fkt_user_value *v = &values[i];
		const int is_last_text = v->type == 't' && i + 1 == n;
		const unsigned int bits = v->type == 't' ? (is_last_text ? 0 : 64 * FKT_USER_TEXT_WORDS) : v->bits;
		const unsigned int at = fkt_user_put(&place, bits);
		const char *const type = v->type == 't' ? "str" : v->type == 's' ? "s" : v->type == 'x' ? "x" : "u";

		length += (size_t)snprintf(text + length, room - length, "%s%s:%s:%u:%u:%u", i ? " " : "", v->name,
					   type, 1 + at / 64, at % 64, bits);
	}
	return length < room ? length : 0;
}

/* Asks for the event's number. Returns whether it has one. */
FKT_USER_COLD int fkt_user_define(struct fkt_user_event *event, const struct fkt_user_value *values, unsigned int n)
{
	const int error = errno;
	struct fkt_user_answer answer;
	struct fkt_user_asked since;
	struct fkt_user_ask ask;
	sigset_t all, before;
	size_t length;
	int fd = -1, number = -1;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	since = fkt_user_asks();
	ask.magic = FKT_USER_MAGIC;
	ask.version = FKT_USER_VERSION;
	ask.request = FKT_USER_DEFINE;
	ask.tid = 0;
	length = fkt_user_describe(ask.text, sizeof(ask.text), event, values, n);
	if (length && !fkt_user_ask(&ask, FKT_USER_ASK_BYTES + length, &answer, &fd)) {
		event->plain = answer.plain != 0;
		number = (int)answer.number;
	}
	if (fd >= 0)
		close(fd);
	__atomic_store_n(&event->number, number, __ATOMIC_RELEASE);
	fkt_user_tell_asking(&since);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return number > 0;
}

/* Writes a value to its place among `words`. is_last: no value comes after it. */
FKT_USER_INLINE void fkt_user_pack_one(__u64 *words, struct fkt_user_place *place, const struct fkt_user_value *v,
				       int is_last)
{
	if (v->type != 't') {
		const unsigned int at = fkt_user_put(place, v->bits);

		if (at % 64)
			words[at / 64] |= v->number << 32;
		else
			words[at / 64] = v->number;
	} else {
		const size_t room = is_last ? FKT_USER_LAST_TEXT : 8 * FKT_USER_TEXT_WORDS;
		const size_t length = v->text ? strnlen(v->text, room) : 0;
		const unsigned int used = is_last ? (unsigned int)(length + 7) / 8 : FKT_USER_TEXT_WORDS;
		const unsigned int at = fkt_user_put(place, 64 * used) / 64;

		if (used) {
			memset(words + at, 0, 8 * used);
			memcpy(words + at, v->text ? v->text : "", length);
		}
	}
}

#define FKT_USER_EACH_OF_6(what) \
	what(0);                 \
	what(1);                 \
	what(2);                 \
	what(3);                 \
	what(4);                 \
	what(5)

/* Writes the words of the values to `words`, and returns how many there are. */
FKT_USER_INLINE unsigned int fkt_user_pack(__u64 *words, const struct fkt_user_value *values, unsigned int n)
{
	struct fkt_user_place place = {0, 0};
	unsigned int i;

	/* Not a loop: so the compiler keeps the elements in registers, without an array. */
#define FKT_USER_PACK(i)        \
	if ((i) < n)            \
	fkt_user_pack_one(words, &place, &values[i], (i) + 1 == n)
	FKT_USER_EACH_OF_6(FKT_USER_PACK);
#undef FKT_USER_PACK
	for (i = 6; i < n; i++)
		fkt_user_pack_one(words, &place, &values[i], i + 1 == n);
	return place.words;
}

/* Writes an event with a name. plain_id, id: its forms without and with values. */
FKT_USER_INLINE void fkt_user_emit(struct fkt_user_event *event, __u32 plain_id, __u32 id,
				   const struct fkt_user_value *values, unsigned int n)
{
	__u64 words[(FKT_USER_MOST_VALUES - 1) * FKT_USER_TEXT_WORDS + FKT_USER_LAST_TEXT / 8];
	int number = __atomic_load_n(&event->number, __ATOMIC_ACQUIRE);
	unsigned int used;

	if (FKT_USER_UNLIKELY(number <= 0)) {
		struct fkt_user_value copy[FKT_USER_MOST_VALUES];
		unsigned int i;

		/* A copy, so that the compiler need not keep `values` in memory when the number is known. */
		memset(copy, 0, sizeof(copy));
#define FKT_USER_COPY(i) \
	if ((i) < n)     \
	copy[i] = values[i]
		FKT_USER_EACH_OF_6(FKT_USER_COPY);
#undef FKT_USER_COPY
		for (i = 6; i < n; i++)
			copy[i] = values[i];
		if (number < 0 || !fkt_user_define(event, copy, n))
			return;
		number = event->number;
	}
	used = n && !event->plain ? fkt_user_pack(words, values, n) : 0;
	if (used)
		fkt_user_write(id, (__u32)number << FKT_VAR_BITS | used, words, used);
	else
		fkt_user_write(plain_id, (__u32)number, NULL, 0);
}

#ifdef __cplusplus
}
#endif

/* Declares one event in the source, and the values with it. */
#define FKT_USER_EMIT(event_kind, event_name, plain_id, id, ...)                                             \
	do {                                                                                                 \
		static struct fkt_user_event fkt_user_here = {event_name, event_kind, 0, 0};                 \
		if (fkt_user_recorded()) {                                                                   \
			const struct fkt_user_value fkt_user_values[] = {{NULL, 0, 0, 0, NULL}, ##__VA_ARGS__}; \
			fkt_user_emit(&fkt_user_here, plain_id, id, fkt_user_values + 1,                     \
				      sizeof(fkt_user_values) / sizeof(fkt_user_values[0]) - 1);             \
		}                                                                                            \
	} while (0)

#define FKT_USER_EVENT(name, ...) FKT_USER_EMIT(FKT_USER_POINT, name, FKT_E_USER, FKT_E_USER_VALUES, ##__VA_ARGS__)
#define FKT_USER_COUNTER(name, number) FKT_USER_EVENT(name, FKT_INT("value", number))
#define FKT_USER_BEGIN(name, ...) \
	FKT_USER_EMIT(FKT_USER_SPAN, name, FKT_E_USER_BEGIN, FKT_E_USER_BEGIN_VALUES, ##__VA_ARGS__)
#define FKT_USER_END(name) FKT_USER_EMIT(FKT_USER_SPAN, name, FKT_E_USER_END, FKT_E_USER_END)
#define FKT_USER_ASYNC_BEGIN(name, id, ...) \
	FKT_USER_EMIT(FKT_USER_ASYNC_FROM, name, FKT_E_USER, FKT_E_USER_VALUES, FKT_HEX("id", id), ##__VA_ARGS__)
#define FKT_USER_ASYNC_END(name, id, ...) \
	FKT_USER_EMIT(FKT_USER_ASYNC_TO, name, FKT_E_USER, FKT_E_USER_VALUES, FKT_HEX("id", id), ##__VA_ARGS__)

/* The end of FKT_USER_SCOPE(), by whatever way its block is left, exceptions included. */
static inline __attribute__((unused)) FKT_USER_UNSEEN void fkt_user_scope_end(struct fkt_user_event *const *event)
{
	if (*event && fkt_user_recorded())
		fkt_user_emit(*event, FKT_E_USER_END, FKT_E_USER_END, NULL, 0);
}

#define FKT_USER_JOIN_(a, b) a##b
#define FKT_USER_JOIN(a, b) FKT_USER_JOIN_(a, b)
#define FKT_USER_SCOPE(name) FKT_USER_SCOPE_(name, FKT_USER_JOIN(fkt_user_scope_, __COUNTER__))
#define FKT_USER_SCOPE_(event_name, var)                                                                     \
	static struct fkt_user_event FKT_USER_JOIN(var, _event) = {event_name, FKT_USER_SPAN, 0, 0};         \
	struct fkt_user_event *const var __attribute__((cleanup(fkt_user_scope_end), unused)) =             \
		fkt_user_recorded() ? &FKT_USER_JOIN(var, _event) : NULL;                                    \
	if (var)                                                                                             \
	fkt_user_emit(var, FKT_E_USER_BEGIN, FKT_E_USER_BEGIN, NULL, 0)

#endif /* FKT_USER_H */
