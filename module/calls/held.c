// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that are held until it is known whether a call that contains them is recorded (frames FKT_CALLS_HELD).
 *
 * Each task has a list of calls, in the order of their returns, in chunks of a page. A dropped call is appended. When a
 * call returns, the calls that it contains are at the end of the list: all that began after it. If it is recorded,
 * these are taken out and given to the user; if it is dropped and is the outermost one, the list is emptied.
 *
 * The per-CPU variable `fkt_held_at` points behind the last call of the task that runs on the CPU; the whole list can
 * be found from it. The switch saves it for the previous task and loads that of the next one, so a task may use it with
 * preemption enabled: between two instructions it may move to another CPU, where it finds the same value. An interrupt
 * uses the list of the task that it interrupts. It appends calls at the end, and takes or forgets only its own. So the
 * interrupted code finds `fkt_held_at` unchanged, or further behind, and changes it with an exchange that fails in the
 * second case. In NMIs nothing is held.
 */

#include <linux/gfp.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "arch/arch.h"
#include "base/compat.h"
#include "call.h"
#include "held.h"
#include "held_pool.h"
#include "tasks.h"
#include "trampoline.h"

/*
 * Shorter calls are not held; U64_MAX: no call is held, unless its duration is invalid. Read by trampoline.S without
 * a lock.
 */
u64 fkt_calls_held_shortest = U64_MAX;

/*
 * Changed while no call is held: before `is_on` is set, or after it was cleared and no code of this file runs for a
 * call any more.
 */
static struct fkt_calls_keep keep;
/*
 * Made from `keep` for the fast path of fkt_calls_hold(): calls of fewer than `levels` levels above the outermost one
 * may be held, in contexts where preempt_count() has none of the bits `unlike`.
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

/* NULL: the task has no chunk. At the edge of two chunks, the end of the first, not the begin of the second. */
static DEFINE_PER_CPU(struct fkt_held_call *, fkt_held_at);
/* Calls of tasks without a chunk that were not held because there was none. */
static DEFINE_PER_CPU(u64, lost_early);

/* ---- places in a list ---- */

/* Returns the chunk of a place that is not NULL; the end of a chunk belongs to it. */
static struct fkt_held_chunk *chunk_of(const struct fkt_held_call *at)
{
	return (struct fkt_held_chunk *)(((unsigned long)at - 1) & ~(FKT_HELD_CHUNK_BYTES - 1UL));
}

/* Returns whether the place is the end of a chunk, or NULL. */
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

/* Returns whether a list that ends here has no calls. */
static bool is_empty(const struct fkt_held_call *at)
{
	const struct fkt_held_chunk *chunk = chunk_of(at);

	return at == chunk->calls && !chunk->before;
}

/*
 * Makes `to` the end of the list, if `from` is still its end. `to` is before `from`. The chunks between the two are
 * free then.
 */
static bool cut(struct fkt_held_call *from, struct fkt_held_call *to)
{
	struct fkt_held_chunk *chunk = chunk_of(to);
	/* Read before the exchange: an interrupt after it may append another chunk. */
	struct fkt_held_chunk *rest = chunk == chunk_of(from) ? NULL : chunk->after;

	if (this_cpu_cmpxchg(fkt_held_at, from, to) != from)
		return false;
	if (rest)
		fkt_held_give_chunks(rest, chunk_of(from));
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
	chunk->first = last ? last->first : chunk;
	chunk->number = last ? last->number + 1 : 0;
	chunk->lost = 0;
	if (this_cpu_cmpxchg(fkt_held_at, at, chunk->calls + 1) != at) {
		fkt_held_give_chunks(chunk, chunk);
		return NULL;
	}
	/* An interrupt before this removes only its own calls, behind this one: it does not read last->after. */
	if (last)
		last->after = chunk;
	return chunk->calls;
}

/* Counts a call that is not held. at: the end of the list. */
static void lose(struct fkt_held_call *at)
{
	/* One instruction each, so that an interrupt comes before or after it. */
	if (at)
		fkt_add_at_once(&chunk_of(at)->lost, 1);
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

/* Returns whether calls are held in this context. NMIs are excluded by has_list(). */
static bool is_in_context(void)
{
	if (in_hardirq() || in_serving_softirq())
		return keep.in_interrupt;
	return keep.in_task;
}

/*
 * Returns whether the task's list may be used: not in NMIs; nor by a dead task, because the switch would save the list
 * under its number, which may be another thread's.
 */
static bool has_list(void)
{
	return !in_nmi() && !current->exit_state;
}

/* Empties the task's list. Called when the outermost call returns, so no interrupted code uses the list. */
static void forget(void)
{
	struct fkt_held_call *at = this_cpu_read(fkt_held_at), *begin;
	struct fkt_held_chunk *first;

	while (at) {
		first = chunk_of(at)->first;
		begin = first->calls;
		if (first->lost)
			first->lost = 0;
		if (at == begin || cut(at, begin))
			return;
		at = this_cpu_read(fkt_held_at);
	}
}

/*
 * Returns whether the call is one that a kernel thread's function has made, and the thread's list is long. That
 * function may be traced (if it is not in never_return.def), and may never return.
 */
static bool is_of_long_thread(u32 depth)
{
	const struct fkt_held_call *at = this_cpu_read(fkt_held_at);

	return depth == 2 && at && current->flags & PF_KTHREAD && in_task() &&
	       chunk_of(at)->number >= DIV_ROUND_UP(fkt_held_pool.most, 8);
}

/* Empties such a thread's list, so that it does not keep the whole pool. In task context only its function is open. */
static void forget_thread(void)
{
	const u64 calls = (u64)chunk_of(this_cpu_read(fkt_held_at))->number * FKT_HELD_CHUNK_CALLS;

	forget();
	/* One instruction, as in lose(). */
	fkt_add_at_once(&chunk_of(this_cpu_read(fkt_held_at))->lost, calls);
}

/* A call returns; task: fkt_tasks_known(). If it is the outermost one, its task's list is emptied. */
void fkt_held_end(const struct fkt_call_task *task)
{
	if (fkt_call_depth(task) == 1 && has_list() && READ_ONCE(is_on))
		forget();
}

/* ---- the calls that a call contains ---- */

/* Returns the place of the first call in the list that began after this one. */
static struct fkt_held_call *first_of(const struct fkt_call *call, struct fkt_held_call *at)
{
	struct fkt_held_call *first = at, *one = at ? before(at) : NULL;

	while (one && (s64)(one->entry - call->entry) >= 0) {
		first = one;
		one = before(one);
	}
	return first;
}

/* A pass over the held calls that a call contains: those for which stays() returns false are removed. */
struct sieve {
	bool (*stays)(const struct sieve *sieve, const struct fkt_held_call *held);
	const struct fkt_call *call; /* that contains them */
	u64 ticks; /* its duration */
	u32 depth; /* fkt_call_depth() */
	fkt_take_held_fn take;
	void *context;
};

/* Returns the number of calls lost between the two places, and clears it. */
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
 * Does the pass. With `take`, returns how many calls were lost; not all of them need be calls that `call` contains.
 */
static u64 sieve(const struct sieve *sieve)
{
	struct fkt_held_call *at = this_cpu_read(fkt_held_at), *one, *to;
	u64 lost = 0;

	if (!at)
		return 0;
	one = first_of(sieve->call, at);
	to = one;
	/* The calls up to `one` are owned by this loop; an interrupt only appends at the end. */
	do {
		at = this_cpu_read(fkt_held_at);
		for (; as_end(one) != at; one = behind(one) + 1) {
			const struct fkt_held_call *held = behind(one);

			if (!sieve->stays(sieve, held))
				continue;
			to = behind(to);
			*to++ = *held;
		}
		/* Before cut() gives back chunks, which have the counts. */
		if (sieve->take)
			lost += take_lost(as_end(to), at);
	} while (as_end(to) != at && !cut(at, as_end(to)));
	return lost;
}

static bool stays_untaken(const struct sieve *sieve, const struct fkt_held_call *held)
{
	const u32 level = held->depth - sieve->depth;

	/* The held call began in an interrupt after the clock was read at the call's return. */
	if (held->entry - sieve->call->entry > sieve->ticks)
		return true;
	if ((!keep.levels || level <= keep.levels) && held->ticks * 100 >= sieve->ticks * keep.percent)
		sieve->take(held, sieve->context);
	return false;
}

/*
 * Called for a recorded call in a frame whose calls are held, with preemption disabled: takes the held calls that it
 * contains. task: fkt_tasks_known(), not NULL. Returns how many calls could not be held for lack of memory; not all of
 * them need be calls that this one contains.
 */
u64 fkt_calls_take_held(const struct fkt_call *call, u64 ticks, const struct fkt_call_task *task,
			fkt_take_held_fn take, void *context)
{
	const struct sieve taking = {
		.stays = stays_untaken, .call = call, .ticks = ticks, .depth = fkt_call_depth(task), .take = take,
		.context = context,
	};
	u64 lost;

	/* The second test: the clock stepped back. */
	if (!has_list() || ticks >> FKT_CALLS_TICK_BITS || !READ_ONCE(is_on))
		return 0;
	lost = sieve(&taking);
	if (!this_cpu_read(fkt_held_at))
		lost += this_cpu_xchg(lost_early, 0);
	return lost;
}
EXPORT_SYMBOL_GPL(fkt_calls_take_held);

/* Returns whether the held call is within keep.levels of the next outer call, which may still be recorded. */
static bool stays_near(const struct sieve *sieve, const struct fkt_held_call *held)
{
	return held->depth - sieve->depth < keep.levels;
}

/* Forgets held calls in this one that are more than keep.levels below all calls that may still be recorded. */
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
	held->context = fkt_interrupts_of(preempt_count());
	/* With PREEMPT_RT, preempt_count() does not show softirqs. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && in_serving_softirq())
		held->context |= FKT_IN_SOFTIRQ;
}

/* fkt_calls_hold(), all cases. */
static noinline void hold_any(const struct fkt_call *call, u64 ticks, unsigned long body)
{
	const struct fkt_call_task *task = fkt_tasks_known(fkt_call_task_behind(call));
	struct fkt_held_call *held;
	u32 depth;

	/* The test of `is_on` pairs with fkt_held_stop(). */
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
	if (unlikely(is_of_long_thread(depth)))
		return forget_thread();
	if (keep.levels)
		forget_deep(call, ticks, depth);
	if (ticks < keep.shortest || (keep.deepest && depth > keep.deepest) || !is_in_context())
		return;
	held = append();
	if (likely(held))
		write_held(held, call, ticks, body, depth);
}

/* Empties a list of at most one chunk. Returns false if nothing was done. */
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
 * A call in a frame whose calls are held was dropped. Any context. Also called by trampoline.S for calls that are too
 * short to be recorded, if they are not shorter than keep.shortest, or are the outermost call.
 */
void fkt_calls_hold(const struct fkt_call *call, u64 ticks, unsigned long body)
{
	/* Larger than any depth if the frame is of another period. */
	const u64 above = fkt_call_task_behind(call)->depth ^ READ_ONCE(fkt_tasks_mark);
	struct fkt_held_call *at = this_cpu_read(fkt_held_at);

	if (unlikely(above >= READ_ONCE(fast.levels) || preempt_count() & fast.unlike || current->exit_state))
		return hold_any(call, ticks, body);
	if (!above) {
		if (unlikely(!forget_few(at)))
			hold_any(call, ticks, body);
		return;
	}
	/* The second test: it may contain held calls; before the first call of a chunk the value is arbitrary. */
	if (unlikely(is_at_end(at) || (keep.levels && (s64)(at[-1].entry - call->entry) >= 0) ||
		     this_cpu_cmpxchg(fkt_held_at, at, at + 1) != at))
		return hold_any(call, ticks, body);
	write_held(at, call, ticks, body, above + 1);
}

/* ---- switches of tasks; called with interrupts disabled, while calls are held or not ---- */

/* Returns NULL if the task's number is too high, or the task is dead: then its number may be another thread's. */
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
	/* A chunk that the previous task does not need stays for the next one, if that has none. */
	if (at && come) {
		fkt_held_give_chunks(chunk_of(at)->first, chunk_of(at));
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
	/* With PREEMPT_RT, preempt_count() does not show softirqs: no fast path if they are excluded. */
	if (keep.in_task && (keep.in_interrupt || !IS_ENABLED(CONFIG_PREEMPT_RT)))
		/* Release: for fkt_calls_hold(), as above. */
		smp_store_release(&fast.levels, keep.deepest ?: U32_MAX);
	WRITE_ONCE(fkt_calls_held_shortest, keep.shortest);
}

/*
 * Until fkt_held_go_on() the lists and the pool do not change, so that an image of the memory, which is copied page by
 * page, has them in a consistent state. No task may be switched meanwhile.
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
 * Begins to hold calls; does nothing if that has begun. Called before the first function is traced in a frame whose
 * calls are held. threads: as for fkt_switches_begin(). Returns 0 or -ENOMEM.
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
