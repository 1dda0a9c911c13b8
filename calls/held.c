// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that are held until it is known whether a caller of theirs is recorded (frames FKT_CALLS_HELD).
 *
 * Each task has a list of calls, in the order of their returns, in chunks of a page. A call that is dropped is
 * appended. What a call has called is at the end of the list when it returns: all that has begun since it began. If it
 * is recorded, these are taken out and given to the user; if it is dropped and is the outermost one, all are forgotten.
 *
 * The per-CPU variable `fkt_held_at` has the place behind the last call of the task that runs on the CPU, and says all
 * of the list. The switch saves it for the previous task and loads that of the next one, so a task may use it with
 * preemption enabled: between two instructions it may move to another CPU, where it finds the same value. An interrupt
 * uses the list of the task that it interrupts. It appends calls behind those that are there, and takes or forgets none
 * that are not its own. So the interrupted code finds the place unchanged, or one further behind, and changes it with
 * an exchange that fails in the second case. In NMIs nothing is held.
 */

#include <linux/gfp.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "call.h"
#include "held.h"
#include "held_pool.h"
#include "tasks.h"
#include "trampoline.h"

/*
 * Shorter calls are not held; U64_MAX: none is, but for calls whose duration is none. Read by trampoline.S without a
 * lock.
 */
u64 fkt_calls_held_shortest = U64_MAX;

/*
 * Changed while no call is held: before `is_on` is set, and when it has been cleared and no code of this file runs for
 * a call any more.
 */
static struct fkt_calls_keep keep;
/*
 * From `keep`, for the fast path of fkt_calls_hold(): calls of fewer levels than `levels` above the outermost one may
 * be held there, where preempt_count() has none of the bits `unlike`.
 */
static struct {
	u64 levels; /* 0: nothing is held */
	u32 unlike;
} fast;
/* A word for each thread number, as `fkt_held_at`, while the thread is not on a CPU: save(). */
static u32 *saved;
static u32 count;
static DEFINE_PER_CPU(u32, idle_saved); /* such a word for the CPU's idle task, whose thread number is 0 */
static bool is_on, is_paused;

/* NULL: the task has no chunk. The end of a chunk, never the begin of one that is not the first. */
static DEFINE_PER_CPU(struct fkt_held_call *, fkt_held_at);
/* Calls of tasks without a chunk that were not held because there was none. */
static DEFINE_PER_CPU(u64, lost_early);

/* ---- places in a list ---- */

/* The chunk of a place that is not NULL; the end of a chunk belongs to it. */
static struct fkt_held_chunk *chunk_of(const struct fkt_held_call *at)
{
	return (struct fkt_held_chunk *)(((unsigned long)at - 1) & ~(FKT_HELD_CHUNK_BYTES - 1UL));
}

/* Also of NULL. */
static bool is_at_end(const struct fkt_held_call *at)
{
	return !((unsigned long)at & (FKT_HELD_CHUNK_BYTES - 1));
}

/* Returns the call before the place; NULL: it is the begin of the list. */
static struct fkt_held_call *before(struct fkt_held_call *at)
{
	const struct fkt_held_chunk *chunk = chunk_of(at);

	if (at != chunk->calls)
		return at - 1;
	return chunk->before ? &chunk->before->calls[FKT_HELD_CHUNK_CALLS - 1] : NULL;
}

/* Returns the call behind the place, which must not be the end of the list. */
static struct fkt_held_call *behind(struct fkt_held_call *at)
{
	return is_at_end(at) ? chunk_of(at)->after->calls : at;
}

/* Returns the place as the end of a list: the begin of a chunk becomes the end of the chunk before it. */
static struct fkt_held_call *as_end(struct fkt_held_call *at)
{
	const struct fkt_held_chunk *chunk = chunk_of(at);

	return at == chunk->calls && chunk->before ? &chunk->before->calls[FKT_HELD_CHUNK_CALLS] : at;
}

/* Whether a list that ends here has no calls. */
static bool is_empty(const struct fkt_held_call *at)
{
	const struct fkt_held_chunk *chunk = chunk_of(at);

	return at == chunk->calls && !chunk->before;
}

/* Gives back the chunks from `first` to that of `last`. */
static void give_chunks(struct fkt_held_chunk *first, const struct fkt_held_call *last)
{
	const struct fkt_held_chunk *end = chunk_of(last);
	struct fkt_held_chunk *after;

	for (; first != end; first = after) {
		/* It changes that. */
		after = first->after;
		fkt_held_give_chunk(first);
	}
	fkt_held_give_chunk(first);
}

/*
 * Makes `to` the end of the list, if `from` is still its end. `to` is before `from`. The chunks between the two are
 * free then.
 */
static bool cut(struct fkt_held_call *from, struct fkt_held_call *to)
{
	struct fkt_held_chunk *chunk = chunk_of(to);
	/* Read before: an interrupt that comes behind the exchange may append another chunk. */
	struct fkt_held_chunk *rest = chunk == chunk_of(from) ? NULL : chunk->after;

	if (this_cpu_cmpxchg(fkt_held_at, from, to) != from)
		return false;
	if (rest)
		give_chunks(rest, from);
	return true;
}

/* ---- a call is dropped ---- */

/* Appends a chunk, with room for one call taken from it, which it returns; NULL: there is none, or `at` has changed. */
static struct fkt_held_call *append_chunk(struct fkt_held_call *at, bool *is_full)
{
	struct fkt_held_chunk *last = at ? chunk_of(at) : NULL;
	struct fkt_held_chunk *chunk = last && last->number + 1 >= fkt_held_pool.most ? NULL : fkt_held_take_chunk();

	*is_full = !chunk;
	if (!chunk)
		return NULL;
	chunk->before = last;
	chunk->number = last ? last->number + 1 : 0;
	chunk->lost = 0;
	if (this_cpu_cmpxchg(fkt_held_at, at, chunk->calls + 1) != at) {
		fkt_held_give_chunk(chunk);
		return NULL;
	}
	/* An interrupt that comes before this goes back to its own calls only, which are behind. */
	if (last)
		last->after = chunk;
	return chunk->calls;
}

/* Counts a call that is not held. at: the end of the list. */
static void lose(struct fkt_held_call *at)
{
	/* One instruction each, so that an interrupt comes before or after it. */
	if (at)
		asm volatile("incq %0" : "+m"(chunk_of(at)->lost));
	else
		this_cpu_inc(lost_early);
}

/* Returns room for a call at the end of the list, which then belongs to it; NULL: there is none. */
static struct fkt_held_call *append(void)
{
	struct fkt_held_call *at, *made;
	bool is_full;

	for (;;) {
		at = this_cpu_read(fkt_held_at);
		if (likely(!is_at_end(at))) {
			if (likely(this_cpu_cmpxchg(fkt_held_at, at, at + 1) == at))
				return at;
			continue;
		}
		made = append_chunk(at, &is_full);
		if (made)
			return made;
		if (is_full) {
			lose(at);
			return NULL;
		}
	}
}

/* Whether calls are held here, in which nothing else is in the way. */
static bool is_in_context(void)
{
	if (in_hardirq() || in_serving_softirq())
		return keep.in_interrupt;
	return keep.in_task;
}

/*
 * Whether the task's list may be used. In NMIs it may not; and a dead task has none, because its number, by which the
 * switch would save it, may be another thread's.
 */
static bool has_list(void)
{
	return !in_nmi() && !current->exit_state;
}

/* Forgets all that is held. Called when the outermost call returns, so nothing that was interrupted uses the list. */
static void forget(void)
{
	struct fkt_held_call *at = this_cpu_read(fkt_held_at), *begin;
	struct fkt_held_chunk *first;

	while (at) {
		for (first = chunk_of(at); first->before; first = first->before)
			;
		begin = first->calls;
		if (first->lost)
			first->lost = 0;
		if (at == begin || cut(at, begin))
			return;
		at = this_cpu_read(fkt_held_at);
	}
}

/* A call returns; task: fkt_tasks_known(). If it is the outermost one, what is held of its task is forgotten. */
void fkt_held_end(const struct fkt_call_task *task)
{
	if (fkt_call_depth(task) == 1 && has_list() && READ_ONCE(is_on))
		forget();
}

/* ---- what a call has called ---- */

/* Returns where the calls begin that this one has called: all that have begun since it began. */
static struct fkt_held_call *first_of(const struct fkt_call *call, struct fkt_held_call *at)
{
	struct fkt_held_call *first = at, *one = at ? before(at) : NULL;

	while (one && (s64)(one->entry - call->entry) >= 0) {
		first = one;
		one = before(one);
	}
	return first;
}

/* What is done with each of the calls; returns whether it stays held. */
struct sieve {
	bool (*stays)(const struct sieve *sieve, const struct fkt_held_call *held);
	const struct fkt_call *call; /* that has called them */
	u64 ticks; /* its duration */
	u32 depth; /* fkt_call_depth() */
	fkt_take_held_fn take;
	void *context;
};

/* Returns how many calls were lost between the place and the end of the list, and forgets that. */
static u64 take_lost(const struct fkt_held_call *from, const struct fkt_held_call *to)
{
	const struct fkt_held_chunk *first = chunk_of(from);
	struct fkt_held_chunk *chunk = chunk_of(to);
	u64 lost = 0;

	for (;; chunk = chunk->before) {
		if (chunk->lost) {
			lost += chunk->lost;
			chunk->lost = 0;
		}
		if (chunk == first)
			return lost;
	}
}

/*
 * Does it with the calls that the call has called. Returns how many calls were lost, of which it has made some or all.
 */
static u64 sieve(const struct sieve *sieve)
{
	struct fkt_held_call *at = this_cpu_read(fkt_held_at), *one, *to;
	u64 lost = 0;

	if (!at)
		return 0;
	one = first_of(sieve->call, at);
	to = one;
	/* What the loop has passed is its own; an interrupt only appends at the end. */
	do {
		at = this_cpu_read(fkt_held_at);
		for (; as_end(one) != at; one = behind(one) + 1) {
			const struct fkt_held_call *held = behind(one);

			if (!sieve->stays(sieve, held))
				continue;
			to = behind(to);
			*to++ = *held;
		}
		/* Before chunks are given back. */
		if (sieve->take)
			lost += take_lost(as_end(to), at);
	} while (as_end(to) != at && !cut(at, as_end(to)));
	return lost;
}

static bool stays_untaken(const struct sieve *sieve, const struct fkt_held_call *held)
{
	const u32 level = held->depth - sieve->depth;

	/* It came in an interrupt behind the clock's reading at the call's return. */
	if (held->entry - sieve->call->entry > sieve->ticks)
		return true;
	if ((!keep.levels || level <= keep.levels) && held->ticks * 100 >= sieve->ticks * keep.percent)
		sieve->take(held, sieve->context);
	return false;
}

/*
 * Called for a call that is recorded, in a frame whose calls are held, with preemption disabled: takes the calls that
 * it brings along. task: fkt_tasks_known(), not NULL. Returns how many calls were not held because there was no room,
 * of which the call has made some or all.
 */
u64 fkt_calls_take_held(const struct fkt_call *call, u64 ticks, const struct fkt_call_task *task,
			fkt_take_held_fn take, void *context)
{
	const struct sieve taking = {
		.stays = stays_untaken, .call = call, .ticks = ticks, .depth = fkt_call_depth(task), .take = take,
		.context = context,
	};
	u64 lost;

	/* The second: the clock stepped back. */
	if (!has_list() || ticks >> FKT_CALLS_TICK_BITS || !READ_ONCE(is_on))
		return 0;
	lost = sieve(&taking);
	if (!this_cpu_read(fkt_held_at))
		lost += this_cpu_xchg(lost_early, 0);
	return lost;
}
EXPORT_SYMBOL_GPL(fkt_calls_take_held);

/* Whether it may still be near enough to a call that is recorded: the one that has called this one, or further out. */
static bool stays_near(const struct sieve *sieve, const struct fkt_held_call *held)
{
	return held->depth - sieve->depth < keep.levels;
}

/* Of what the call has called, forgets what is too many levels below all that may still be recorded. */
static void forget_deep(const struct fkt_call *call, u64 ticks, u32 depth)
{
	const struct sieve near = { .stays = stays_near, .call = call, .ticks = ticks, .depth = depth };
	struct fkt_held_call *at = this_cpu_read(fkt_held_at), *last = at ? before(at) : NULL;

	if (last && (s64)(last->entry - call->entry) >= 0)
		sieve(&near);
}

static void write_held(struct fkt_held_call *held, const struct fkt_call *call, u64 ticks, unsigned long body,
		       u32 depth)
{
	held->entry = call->entry;
	held->ticks = ticks;
	held->body = body;
	held->depth = depth;
	held->context = preempt_count() >> SOFTIRQ_SHIFT;
	/* There preempt_count() does not say it. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && in_serving_softirq())
		held->context |= SOFTIRQ_OFFSET >> SOFTIRQ_SHIFT;
}

/* fkt_calls_hold(), whatever is the case. */
static noinline void hold_any(const struct fkt_call *call, u64 ticks, unsigned long body)
{
	const struct fkt_call_task *task = fkt_tasks_known(fkt_call_task_behind(call));
	struct fkt_held_call *held;
	u32 depth;

	/* The second pairs with fkt_held_stop(). */
	if (unlikely(!task || !READ_ONCE(is_on)))
		return;
	depth = fkt_call_depth(task);
	if (unlikely(!has_list())) {
		if (depth > 1 && in_nmi())
			lose(this_cpu_read(fkt_held_at));
		return;
	}
	if (depth == 1)
		return forget();
	if (keep.levels)
		forget_deep(call, ticks, depth);
	if (ticks < keep.shortest || (keep.deepest && depth > keep.deepest) || !is_in_context())
		return;
	held = append();
	if (likely(held))
		write_held(held, call, ticks, body, depth);
}

/* Forgets what is held, if that is one chunk at most. Returns false if nothing was done. */
static __always_inline bool forget_few(struct fkt_held_call *at)
{
	struct fkt_held_chunk *chunk;

	if (!at)
		return true;
	chunk = chunk_of(at);
	if (unlikely(chunk->before || chunk->lost))
		return false;
	return at == chunk->calls || this_cpu_cmpxchg(fkt_held_at, at, chunk->calls) == at;
}

/*
 * A call in a frame whose calls are held was dropped. Any context; also called by trampoline.S, if the call was shorter
 * than those that may be recorded: then it is not shorter than keep.shortest, or is the outermost one.
 */
void fkt_calls_hold(const struct fkt_call *call, u64 ticks, unsigned long body)
{
	/* More than any call has if the frame is of another period. */
	const u64 above = fkt_call_task_behind(call)->depth ^ READ_ONCE(fkt_tasks_mark);
	struct fkt_held_call *at = this_cpu_read(fkt_held_at);

	if (unlikely(above >= READ_ONCE(fast.levels) || preempt_count() & fast.unlike || current->exit_state))
		return hold_any(call, ticks, body);
	if (!above) {
		if (unlikely(!forget_few(at)))
			hold_any(call, ticks, body);
		return;
	}
	/* The second: it may have called others; before the first call of a chunk this is any number. */
	if (unlikely(is_at_end(at) || (keep.levels && (s64)(at[-1].entry - call->entry) >= 0) ||
		     this_cpu_cmpxchg(fkt_held_at, at, at + 1) != at))
		return hold_any(call, ticks, body);
	write_held(at, call, ticks, body, above + 1);
}

/* ---- switches of tasks; called with interrupts disabled, while calls are held or not ---- */

/* Returns NULL if the task's thread number is too high, or it is dead: its number may be another thread's then. */
static u32 *saved_of(const struct task_struct *task)
{
	if (!task->pid)
		return this_cpu_ptr(&idle_saved);
	return (u32)task->pid < count && !READ_ONCE(task->exit_state) ? &saved[task->pid] : NULL;
}

/* Places are stored in units of 8 bytes, from the pool's begin on; 0: no chunk. */
static u32 save(const struct fkt_held_call *at)
{
	return at ? ((unsigned long)at - (unsigned long)fkt_held_pool.chunks) / 8 : 0;
}

static struct fkt_held_call *load(u32 place)
{
	return place ? (void *)fkt_held_pool.chunks + 8UL * place : NULL;
}

static void give_all(struct fkt_held_call *at)
{
	struct fkt_held_chunk *first = chunk_of(at);

	while (first->before)
		first = first->before;
	give_chunks(first, at);
}

/* is_in_call: the previous task is in a traced call. */
void fkt_held_switch(const struct task_struct *prev, const struct task_struct *next, bool is_in_call)
{
	struct fkt_held_call *at, *come;
	u32 *leaves, *comes;

	/* Acquire: pairs with the release in fkt_held_begin(). */
	if (!smp_load_acquire(&is_on))
		return;
	leaves = saved_of(prev);
	comes = saved_of(next);
	at = this_cpu_read(fkt_held_at);
	come = comes ? load(*comes) : NULL;
	/* A dead task's word stays as it is, so it must be 0 while the task runs. */
	if (comes)
		*comes = 0;
	if (at && leaves && is_in_call && !is_empty(at)) {
		*leaves = save(at);
		at = NULL;
	}
	/* What is not needed for the previous task stays for the next one if that has none. */
	if (at && come) {
		give_all(at);
	} else if (at) {
		forget();
		come = this_cpu_read(fkt_held_at);
	}
	this_cpu_write(fkt_held_at, come);
}

/* Called in the parent before the new thread runs. Clears what an earlier thread with this number has left. */
void fkt_held_newtask(const struct task_struct *task)
{
	/* Acquire: as in fkt_held_switch(). */
	if (smp_load_acquire(&is_on) && task->pid && (u32)task->pid < count)
		saved[task->pid] = 0;
}

/* ---- begin and end ---- */

/* Frees the memory. Caller must make sure that none of the code above runs, or will before fkt_held_begin(). */
void fkt_held_end_all(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		per_cpu(fkt_held_at, cpu) = NULL;
		per_cpu(idle_saved, cpu) = 0;
		per_cpu(lost_early, cpu) = 0;
	}
	fkt_held_pool_free();
	vfree(saved);
	saved = NULL;
	count = 0;
}

/* Nothing is held from now on. Calls that do it already are not waited for. */
void fkt_held_stop(void)
{
	WRITE_ONCE(fkt_calls_held_shortest, U64_MAX);
	WRITE_ONCE(fast.levels, 0);
	WRITE_ONCE(is_on, false);
}

/* Calls are held from now on, as `keep` says. */
static void start(void)
{
	/* Release: pairs with the acquire in fkt_held_switch(), which then uses `saved`, `count` and the pool. */
	smp_store_release(&is_on, true);
	/* With PREEMPT_RT, preempt_count() does not say everything. */
	if (keep.in_task && (keep.in_interrupt || !IS_ENABLED(CONFIG_PREEMPT_RT)))
		/* Release: likewise. */
		smp_store_release(&fast.levels, keep.deepest ?: U32_MAX);
	WRITE_ONCE(fkt_calls_held_shortest, keep.shortest);
}

/*
 * Until fkt_held_go_on() the lists and the pool do not change, so that an image of the memory, which is copied page by
 * page, has them as they are. No task may be switched meanwhile.
 */
void fkt_held_pause(void)
{
	is_paused = is_on;
	fkt_held_stop();
}

void fkt_held_go_on(void)
{
	if (is_paused)
		start();
}

/*
 * Begins to hold calls; does nothing if it has begun. Called before the first function is traced in a frame whose calls
 * are held. threads: as for fkt_switches_begin(). Returns 0 or -ENOMEM.
 */
int fkt_held_begin(const struct fkt_calls_keep *asked, u32 threads)
{
	int err;

	if (fkt_held_pool.chunks)
		return 0;
	keep = *asked;
	err = fkt_held_pool_make();
	if (err)
		return err;
	saved = __vmalloc((unsigned long)threads * sizeof(*saved), GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN);
	if (!saved) {
		fkt_held_pool_free();
		return -ENOMEM;
	}
	count = threads;
	fast.unlike = NMI_MASK | (keep.in_interrupt ? 0 : HARDIRQ_MASK | SOFTIRQ_OFFSET);
	start();
	return 0;
}
