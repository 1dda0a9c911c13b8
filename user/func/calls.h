/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The calls that a thread is in, and what is written of them. Part of func.c.
 *
 * A call's begin is written when it begins; if short calls are left out (fkt_user_ring.least), when it or one that it
 * makes turns out to be long enough: then those of the calls around it come first. So the ring's events are in the order
 * of their times in both cases.
 *
 * Signal handlers: a call has its stack pointer before it is counted in the depth, and until it is no more: a handler that
 * jumps out of the functions it has interrupted ends the calls that it leaves by that. A call that is not filled in yet has
 * number 0, as all that are above the depth.
 */
#ifndef FKT_FUNC_CALLS_H
#define FKT_FUNC_CALLS_H

#include "numbers.h"

#define MOST_CALLS (1 << 16)

struct call {
	uint64_t function; /* address */
	uint64_t entered; /* clock */
	uint64_t sp; /* the function's part of the stack is above it; its return address may be there */
	uint64_t returns_to; /* 0: the function says itself that it returns */
	uint32_t number; /* 0: it has no events */
	uint16_t rules; /* FKT_USER_INSIDE, ... */
	uint16_t told; /* its begin was written */
};

struct calls {
	uint32_t depth;
	uint32_t deeper; /* calls that there was no room for */
	uint32_t inside, outside; /* calls with these rules */
	uint32_t only_inside; /* fkt_user_ring */
	uint32_t wanted; /* what is called now has events */
	uint32_t unhooked; /* return addresses on the stack were put back (hooked.h) since a vfork() */
	uint64_t least; /* fkt_user_ring */
	struct call *telling; /* its begin is being written at `telling_from` */
	uint64_t telling_from; /* fkt_user_ring.head */
	struct call all[MOST_CALLS];
};

static __thread struct calls *thread_calls;
/* The thread is asking the recorder: what it calls for that has no events. */
static __thread int asking;
static pthread_key_t calls_key;
static int has_key;
static int has_xsave; /* the processor has registers that fxsave does not know */

static int begin(void);

/* The hooks may be called before this library's constructor: by those of other libraries. */
static inline int is_recorded(void)
{
	return fkt_user_recorded() || begin();
}

static void decide(struct calls *c)
{
	c->wanted = !c->outside && (!c->only_inside || c->inside);
}

/* Writes all calls of a thread that has a new ring: a child process, which begins in the midst of them. */
static void tell_again(struct calls *c)
{
	const uint64_t now = fkt_user_clock(fkt_user_self);
	uint32_t i;

	c->telling = NULL;
	for (i = 0; i < c->depth; i++) {
		struct call *call = &c->all[i];

		call->entered = now;
		call->told = !c->least;
		if (call->number && call->told)
			fkt_user_write_to(fkt_user_self, now, FKT_E_USER_BEGIN, call->number, NULL, 0);
	}
}

/* What asking the recorder must not change in the function that is entered or left. */
struct before_asking {
	/* The registers for floating point and vectors, which may hold arguments or results. */
	unsigned char registers[4096] __attribute__((aligned(64)));
	struct fkt_user_asked since;
	sigset_t blocked;
	int cancels;
	int error;
};

#define XSAVE_PARTS 0xe7U /* of the registers: x87, SSE, AVX, AVX-512 */
#define XSAVE_HEADER 512 /* offset in the memory, whose next 64 bytes must be 0 */

/* No handler comes while the thread asks: its calls would have no events. */
static void begin_asking(struct before_asking *before)
{
	uint64_t *const header = (uint64_t *)(before->registers + XSAVE_HEADER);
	sigset_t all;
	int i;

	for (i = 0; i < 8; i++)
		header[i] = 0;
	if (has_xsave)
		__asm__ volatile("xsave64 %0" : "=m"(before->registers) : "a"(XSAVE_PARTS), "d"(0) : "memory");
	else
		__asm__ volatile("fxsave64 %0" : "=m"(before->registers) : : "memory");
	before->error = errno;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before->blocked);
	before->since = fkt_user_asks();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->cancels);
	asking = 1;
}

static void end_asking(const struct before_asking *before)
{
	int disabled;

	asking = 0;
	pthread_setcancelstate(before->cancels, &disabled);
	pthread_sigmask(SIG_SETMASK, &before->blocked, NULL);
	errno = before->error;
	if (has_xsave)
		__asm__ volatile("xrstor64 %0" : : "m"(before->registers), "a"(XSAVE_PARTS), "d"(0) : "memory");
	else
		__asm__ volatile("fxrstor64 %0" : : "m"(before->registers) : "memory");
}

static void tell_asking(struct calls *c, const struct fkt_user_asked *since);

/* Call it while the thread is asking: gets a ring. Returns whether the thread has one. */
static int get_ring(struct calls *c, const struct before_asking *before)
{
	const struct fkt_user_thread *t = fkt_user_self;

	/* A handler may have been here before the thread was asking. */
	if (t && t->words)
		return 1;
	t = fkt_user_attach();
	if (!t)
		return 0;
	c->least = t->ring->least;
	c->only_inside = t->ring->only_inside;
	decide(c);
	if (c->wanted && !c->least)
		fkt_user_tell_asking(&before->since);
	tell_again(c);
	return 1;
}

/* Gets a ring. Returns whether the thread has one. */
static __attribute__((noinline, cold)) int attach(struct calls *c)
{
	struct before_asking before;
	struct fkt_user_asked since;
	int got;

	if (asking)
		return 0;
	begin_asking(&before);
	got = get_ring(c, &before);
	/* The rest of it, behind the begins of the calls that the thread is in. */
	since = fkt_user_asks();
	end_asking(&before);
	tell_asking(c, &since);
	return got;
}

static inline int has_ring(struct calls *c)
{
	const struct fkt_user_thread *t = fkt_user_self;

	return __builtin_expect(t && t->words, 1) || attach(c);
}

static __attribute__((noinline, cold)) struct calls *begin_calls(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	struct before_asking before;
	struct fkt_user_asked since;
	struct calls *c;

	if (asking || !has_key)
		return NULL;
	begin_asking(&before);
	/* A handler may have been here in between. */
	c = thread_calls;
	if (!c) {
		c = (struct calls *)mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, flags, -1, 0);
		if (c == MAP_FAILED) {
			c = NULL;
		} else {
			pthread_setspecific(calls_key, c);
			/* Before a handler finds the calls: without a ring it would take none as wanted. */
			get_ring(c, &before);
		}
		thread_calls = c;
	}
	since = fkt_user_asks();
	end_asking(&before);
	tell_asking(c, &since);
	return c;
}

static __attribute__((noinline, cold)) uint32_t learn(uint64_t function)
{
	struct before_asking before;
	uint32_t answer;

	if (asking)
		return ANSWER_GIVEN;
	begin_asking(&before);
	answer = ask_for_function(function);
	end_asking(&before);
	tell_asking(thread_calls, &before.since);
	return answer;
}

static __attribute__((noinline, cold)) void count_rules(struct calls *c, uint32_t rules, uint32_t change)
{
	if (rules & FKT_USER_INSIDE)
		c->inside += change;
	if (rules & FKT_USER_OUTSIDE)
		c->outside += change;
	decide(c);
}

static __attribute__((noinline, cold)) void drop_rules(struct calls *c, struct call *call)
{
	const uint32_t rules = call->rules;

	call->rules = 0;
	count_rules(c, rules, ~0U);
}

FKT_USER_INLINE void add_call(struct calls *c, struct call *call, uint64_t sp)
{
	call->sp = sp;
	FKT_USER_BARRIER();
	c->depth++;
	FKT_USER_BARRIER();
	/* Once more: a handler's call may have taken the place before it was counted. */
	call->sp = sp;
}

/* The innermost call is none any more. From here on a handler's calls may take its place. */
FKT_USER_INLINE void remove_call(struct calls *c, struct call *call)
{
	FKT_USER_BARRIER();
	c->depth--;
	FKT_USER_BARRIER();
	call->sp = 0;
}

/*
 * Call it if is_recorded(). sp: as in struct call. only_wanted: the call needs not be known if it has no events. Returns it;
 * NULL: it is not among the calls.
 */
FKT_USER_INLINE struct call *enter_call(uint64_t function, uint64_t sp, int only_wanted)
{
	struct calls *c = thread_calls;
	uint32_t answer, number;
	struct call *call;

	if (FKT_USER_UNLIKELY(!c)) {
		c = begin_calls();
		if (!c)
			return NULL;
	}
	if (FKT_USER_UNLIKELY(c->depth == MOST_CALLS)) {
		c->deeper += !only_wanted;
		if (c->wanted && fkt_user_self && fkt_user_self->words)
			fkt_user_count(&fkt_user_self->ring->too_deep);
		return NULL;
	}
	answer = find_answer(function);
	if (FKT_USER_UNLIKELY(!answer))
		answer = learn(function);
	number = answer_number(answer);
	if (only_wanted && !(c->wanted && number) && !answer_rules(answer))
		return NULL;
	call = &c->all[c->depth];
	add_call(c, call, sp);
	call->function = function;
	call->returns_to = 0;
	call->told = 0;
	call->rules = (uint16_t)answer_rules(answer);
	if (FKT_USER_UNLIKELY(call->rules))
		count_rules(c, call->rules, 1);
	if (!c->wanted || !number || !has_ring(c))
		return call;
	if (c->least) {
		call->entered = fkt_user_clock(fkt_user_self);
	} else {
		fkt_user_write_to(fkt_user_self, 0, FKT_E_USER_BEGIN, number, NULL, 0);
		call->told = 1;
	}
	FKT_USER_BARRIER();
	call->number = number;
	return call;
}

/*
 * For most calls while short ones are left out: without a function call, and nothing is written. Where these functions
 * say no, nothing is changed, and callers go the long way.
 */

/* Whether this may be such a thread: it has a ring whose clock is the processor's, and records all functions. */
FKT_USER_INLINE int is_quick(const struct calls *c)
{
	const struct fkt_user_thread *t = fkt_user_self;

	return __builtin_expect(c && c->wanted && c->least && t && t->words && t->clock == FKT_USER_TSC &&
				fkt_user_recorded(), 1);
}

/* As enter_call(), of a thread that is_quick() and is less deep than MOST_CALLS. Returns NULL if it is no such call. */
FKT_USER_INLINE struct call *enter_quickly(struct calls *c, uint64_t function, uint64_t sp, uint64_t returns_to)
{
	const struct known *known = &known_functions[place_of(function)];
	struct call *call = &c->all[c->depth];
	uint32_t answer;

	if (__atomic_load_n(&known->function, __ATOMIC_RELAXED) != function)
		return NULL;
	answer = (uint32_t)__atomic_load_n(&known->answer, __ATOMIC_RELAXED);
	if (!answer_number(answer) || answer_rules(answer))
		return NULL;
	add_call(c, call, sp);
	call->function = function;
	call->returns_to = returns_to;
	call->told = 0;
	call->rules = 0;
	call->entered = __builtin_ia32_rdtsc();
	FKT_USER_BARRIER();
	call->number = answer_number(answer);
	return call;
}

/* Ends the innermost call of a thread that is_quick(), if it was short. Returns where it returns to; 0: no such call. */
FKT_USER_INLINE uint64_t leave_quickly(struct calls *c, uint64_t sp)
{
	struct call *call = &c->all[c->depth - 1];
	uint32_t number;
	uint64_t to;

	if (FKT_USER_UNLIKELY(!c->depth || call->sp != sp))
		return 0;
	number = call->number;
	if (FKT_USER_UNLIKELY(!number || call->told || call->rules ||
			      __builtin_ia32_rdtsc() - call->entered >= c->least))
		return 0;
	to = call->returns_to;
	if (FKT_USER_UNLIKELY(!to))
		return 0;
	call->number = 0;
	FKT_USER_BARRIER();
	/* As in tell_end(). */
	if (FKT_USER_UNLIKELY(call->told)) {
		call->number = number;
		return 0;
	}
	remove_call(c, call);
	return to;
}

/*
 * Whether the call's begin is in the ring. A handler may ask that while the thread is writing it: if `head` has changed
 * since the thread looked, it is there. For another handler that has written events in between has told all begins
 * before them. What is found is kept in the call, because the handler's own calls are the next in `telling`.
 */
static inline int is_told(const struct calls *c, struct call *call)
{
	if (!call->told && c->telling == call && fkt_user_self->ring->head != c->telling_from)
		call->told = 1;
	return call->told;
}

/* Writes the begin of a call, unless a handler does so meanwhile. Returns how many words it has written. */
static uint64_t tell_begin(struct calls *c, struct call *call)
{
	const uint64_t word = fkt_word(0, FKT_E_USER_BEGIN, call->number);
	struct fkt_user_thread *t = fkt_user_self;
	uint64_t written = 0;

	for (;;) {
		const uint64_t head = __atomic_load_n(&t->ring->head, __ATOMIC_RELAXED);
		uint64_t clock;

		/* In this order: a handler that tells it after that changes `head`, so that the exchange fails. */
		FKT_USER_BARRIER();
		if (call->told)
			break;
		clock = call->entered < t->last ? t->last : call->entered;
		if (FKT_USER_UNLIKELY(clock - t->last > FKT_TIME_MASK || head + 1 > t->limit || t->untold)) {
			/* It changes `head`, and the begin is not there: the thread that a handler interrupts was telling it. */
			c->telling = NULL;
			FKT_USER_BARRIER();
			if (!fkt_user_prepare(t, head, 1, clock))
				break;
			continue;
		}
		c->telling_from = head;
		FKT_USER_BARRIER();
		c->telling = call;
		FKT_USER_BARRIER();
		if (fkt_user_exchange(&t->ring->head, head, head + 1)) {
			t->last = clock;
			fkt_user_fill(t, head, word | (clock & FKT_TIME_MASK), NULL, 0);
			written = 1;
			break;
		}
		c->telling = NULL;
	}
	call->told = 1;
	FKT_USER_BARRIER();
	c->telling = NULL;
	return written;
}

/*
 * Writes the begins of the calls up to this depth that are not written yet. Returns `now`, a time before that; 0: a
 * handler may have written events meanwhile, which are later.
 */
static uint64_t tell_begins(struct calls *c, uint32_t depth, uint64_t now)
{
	const uint64_t head = __atomic_load_n(&fkt_user_self->ring->head, __ATOMIC_RELAXED);
	uint64_t written = 0;
	uint32_t i = depth;

	FKT_USER_BARRIER();
	while (i > 0 && !(c->all[i - 1].number && is_told(c, &c->all[i - 1])))
		i--;
	for (; i < depth; i++) {
		if (c->all[i].number)
			written += tell_begin(c, &c->all[i]);
	}
	return __atomic_load_n(&fkt_user_self->ring->head, __ATOMIC_RELAXED) == head + written ? now : 0;
}

/* The thread has asked the recorder within the calls that it is in. */
static __attribute__((noinline, cold)) void tell_asking(struct calls *c, const struct fkt_user_asked *since)
{
	const struct fkt_user_thread *t = fkt_user_self;

	if (!c || !c->wanted || !t || !t->words)
		return;
	if (c->least) {
		const uint64_t from = fkt_user_asked_at(since, t);

		if (fkt_user_clock(t) - from < c->least)
			return;
		(void)tell_begins(c, c->depth, from);
	}
	fkt_user_tell_asking(since);
}

/* Writes the end of a call. */
FKT_USER_INLINE void tell_end(struct calls *c, struct call *call)
{
	const uint32_t number = call->number;
	uint64_t now = 0;

	if (number && fkt_user_recorded() && has_ring(c)) {
		if (c->least) {
			now = fkt_user_clock(fkt_user_self);
			if (call->told || now - call->entered >= c->least)
				now = tell_begins(c, (uint32_t)(call - c->all) + 1, now);
		}
		/*
		 * A handler that comes before this tells the begin, if its own calls are long enough; one that comes
		 * after it does not know the call.
		 */
		if (!call->told)
			call->number = 0;
		FKT_USER_BARRIER();
		if (call->told)
			fkt_user_write_to(fkt_user_self, now, FKT_E_USER_END, number, NULL, 0);
	}
	call->number = 0;
}

/* The innermost call has ended. */
FKT_USER_INLINE void end_call(struct calls *c)
{
	struct call *call = &c->all[c->depth - 1];

	tell_end(c, call);
	if (FKT_USER_UNLIKELY(call->rules))
		drop_rules(c, call);
	remove_call(c, call);
}

/* A call ends that others seem to be in: these run on another stack. */
static __attribute__((noinline, cold)) void leave_out(struct calls *c, struct call *call)
{
	tell_end(c, call);
	if (call->rules)
		drop_rules(c, call);
	for (; call + 1 < &c->all[c->depth]; call++)
		*call = call[1];
	call->number = 0;
	remove_call(c, call);
}

/* After calls were left by a jump: maybe out of a handler that had interrupted the telling of one of them. */
static void forget_telling(struct calls *c)
{
	if (c->telling >= &c->all[c->depth])
		c->telling = NULL;
}

/* Returns whether the function is among the calls; those in it were left without a word, and end here. */
static __attribute__((noinline, cold)) int leave_inner(struct calls *c, uint64_t function)
{
	uint32_t depth = c->depth;

	while (depth > 0 && c->all[depth - 1].function != function)
		depth--;
	if (!depth)
		return 0;
	while (c->depth > depth)
		end_call(c);
	forget_telling(c);
	return 1;
}

FKT_USER_INLINE void leave_call(uint64_t function)
{
	struct calls *c = thread_calls;

	if (FKT_USER_UNLIKELY(!c))
		return;
	if (FKT_USER_UNLIKELY(c->deeper)) {
		c->deeper--;
		return;
	}
	if (FKT_USER_UNLIKELY(!c->depth))
		return;
	if (FKT_USER_UNLIKELY(c->all[c->depth - 1].function != function) && !leave_inner(c, function))
		return;
	end_call(c);
}

/* The thread goes on in a function whose stack pointer is `to`. here: the stack pointer now. */
static void unwind_calls(uint64_t here, uint64_t to)
{
	struct calls *c = thread_calls;

	if (!c)
		return;
	if (c->depth && to > here)
		c->deeper = 0;
	while (c->depth && c->all[c->depth - 1].sp >= here && c->all[c->depth - 1].sp < to)
		end_call(c);
	forget_telling(c);
}

/* Writes the end events of all calls. The calls stay in the list, because their functions may still return. */
static void tell_ends(struct calls *c)
{
	uint32_t i;

	for (i = c->depth; i > 0; i--)
		tell_end(c, &c->all[i - 1]);
}

/* The destructor of the thread's key. */
static void end_thread(void *calls)
{
	tell_ends((struct calls *)calls);
	thread_calls = NULL;
	munmap(calls, sizeof(struct calls));
}

static void begin_calls_of_process(void)
{
	has_xsave = __builtin_cpu_supports("xsave") && __builtin_cpu_supports("avx");
	has_key = !pthread_key_create(&calls_key, end_thread);
}

__attribute__((destructor)) static void end_process(void)
{
	if (thread_calls)
		tell_ends(thread_calls);
}

#endif /* FKT_FUNC_CALLS_H */
