// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the calls out of the pages of a recording that /proc/kft began, and finds by their times which of them lie in
 * which others, as the tools do when they read a file.
 */

#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <fkt/call_event.h>
#include <fkt/events.h>
#include <fkt/page_walk.h>
#include <fkt/program.h>
#include <fkt/wire.h>

#include "log.h"
#include "plan.h"

#define FIRST_ROOM 1024

/* ---- pages ---- */

static bool make_room(struct fkt_kft_log *log)
{
	const u32 more = log->room ? 2 * log->room : FIRST_ROOM;
	struct fkt_kft_call *larger;

	if (log->count < log->room)
		return true;
	larger = kvmalloc_array(more, sizeof(*larger), GFP_KERNEL | __GFP_NOWARN);
	if (!larger)
		return false;
	if (log->count)
		memcpy(larger, log->calls, array_size(log->count, sizeof(*larger)));
	kvfree(log->calls);
	log->calls = larger;
	log->room = more;
	return true;
}

/* call: with what the page says; words: of an event CALL_VALUES or CALL_VALUES_LONG, of which the last is a value. */
static void add_call(struct fkt_kft_log *log, struct fkt_kft_call call, const u64 *words, u32 n)
{
	if (n == FKT_CALL_VALUES_HEAD + 1) {
		call.number = words[0] & ((1U << FKT_CALL_NUMBER_BITS) - 1);
		call.ticks = words[0] >> FKT_CALL_NUMBER_BITS;
	} else {
		call.number = words[0];
		call.ticks = words[1];
	}
	call.begin = words[n - 2];
	call.level = words[n - 1];
	if (make_room(log))
		log->calls[log->count++] = call;
	else
		log->dropped++;
}

static void add_hit(struct fkt_kft_log *log, u32 instrument, u64 clock)
{
	if (instrument == FKT_KFT_BEGINS && !log->begun)
		log->begun = clock;
	if (instrument == FKT_KFT_ENDS)
		log->ended = clock;
}

/* Adds the calls of a complete page. May sleep. */
void fkt_kft_log_add(struct fkt_kft_log *log, const struct fkt_page_header *page)
{
	const u64 *words = (const u64 *)(page + 1);
	const u32 count = (page->used - FKT_PAGE_HEADER_BYTES) / sizeof(*words);
	struct fkt_kft_call call = { .pid = page->pid, .cpu = page->cpu };
	u64 clock = page->first_clock;
	u32 i, n;

	for (i = 0; i < count; i += 1 + n) {
		const u32 id = fkt_word_id(words[i]), arg = fkt_word_arg(words[i]);

		n = fkt_words_after(id, arg);
		if (n >= count - i)
			return;
		clock = id == FKT_W_TIME ? fkt_time_word_clock(words[i], clock) : fkt_word_clock(words[i], clock);
		if (id == FKT_W_PID)
			call.pid = arg & FKT_PID_MASK;
		else if (id == FKT_E_CALL_VALUES && n == FKT_CALL_VALUES_HEAD + 1)
			add_call(log, call, &words[i + 1], n);
		else if (id == FKT_E_CALL_VALUES_LONG && n == FKT_CALL_VALUES_LONG_HEAD + 1)
			add_call(log, call, &words[i + 1], n);
		else if (id == FKT_E_HIT)
			add_hit(log, arg, clock);
	}
}

/* ---- nesting ---- */

static u64 end_of(const struct fkt_kft_call *call)
{
	return call->begin + call->ticks;
}

static int compare_numbers(u64 left, u64 right)
{
	/* A log may have a million calls. */
	cond_resched();
	return left < right ? -1 : left > right;
}

static int compare_ends(const void *a, const void *b)
{
	return compare_numbers(end_of(a), end_of(b));
}

/*
 * Returns a number, which two calls share if one can lie in the other: that of the thread, or in interrupts and idle
 * tasks of the CPU.
 */
static u64 place_of(const struct fkt_kft_call *call)
{
	if (call->level != FKT_LEVEL_TASK)
		return (u64)call->level << 32 | call->cpu;
	return (u64)(call->pid ? 1 : 0) << 40 | (call->pid ?: call->cpu);
}

static int compare_places(const void *a, const void *b)
{
	return compare_numbers(place_of(a), place_of(b)) ?:
	       compare_numbers(((const struct fkt_kft_call *)a)->begin, ((const struct fkt_kft_call *)b)->begin) ?:
	       compare_ends(b, a);
}

static int compare_begins(const void *a, const void *b)
{
	return compare_numbers(((const struct fkt_kft_call *)a)->begin, ((const struct fkt_kft_call *)b)->begin) ?:
	       compare_ends(b, a);
}

/* Sets `caller` of all calls, which are sorted by their places. First it is the place of a call in the log, plus 1. */
static void find_callers(struct fkt_kft_log *log)
{
	struct fkt_kft_call *calls = log->calls;
	u32 i;

	for (i = 0; i < log->count; i++) {
		u32 around = i;

		if (i && place_of(&calls[i - 1]) != place_of(&calls[i]))
			around = 0;
		while (around && end_of(&calls[around - 1]) < end_of(&calls[i]))
			around = calls[around - 1].caller;
		calls[i].caller = around;
	}
	/* What is around a call is before it, so its place is read before it is replaced. */
	for (i = log->count; i--;)
		if (calls[i].caller)
			calls[i].caller = calls[calls[i].caller - 1].number + 1;
}

/*
 * Leaves the `most` calls that returned first, or last, finds their callers, and sorts them by their begins. May take a
 * second.
 */
void fkt_kft_log_finish(struct fkt_kft_log *log, u32 most, bool newest)
{
	if (!log->count)
		return;
	if (log->count > most) {
		sort(log->calls, log->count, sizeof(*log->calls), compare_ends, NULL);
		if (newest)
			memmove(log->calls, log->calls + log->count - most, array_size(most, sizeof(*log->calls)));
		log->dropped += log->count - most;
		log->count = most;
	}
	sort(log->calls, log->count, sizeof(*log->calls), compare_places, NULL);
	find_callers(log);
	sort(log->calls, log->count, sizeof(*log->calls), compare_begins, NULL);
}

void fkt_kft_log_free(struct fkt_kft_log *log)
{
	kvfree(log->calls);
	*log = (struct fkt_kft_log){};
}
