// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes the calls, entries, exits and stacks out of the pages of a recording that /proc/kft began, and derives from
 * their times which calls contain which others, as the tools do when they read a file.
 */

#include <linux/align.h>
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/vmalloc.h>

#include <fkt/call_event.h>
#include <fkt/events.h>
#include <fkt/page_walk.h>
#include <fkt/program.h>
#include <fkt/wire.h>

#include "log.h"
#include "plan.h"

#define SLACK 1024 /* lines that the log has room for beside those that stay, at least */

/* ---- the lines that stay ---- */

static u64 end_of(const struct fkt_kft_call *call)
{
	return call->kind == FKT_KFT_WHOLE ? call->begin + call->ticks : call->begin;
}

static int compare_numbers(u64 left, u64 right)
{
	/* A log may have a million lines. */
	cond_resched();
	return left < right ? -1 : left > right;
}

/* Compares two lines with equal times: a call comes before the calls that it contains. */
static int compare_equal(const struct fkt_kft_call *left, const struct fkt_kft_call *right)
{
	const bool left_is_frame = left->kind == FKT_KFT_FRAME, right_is_frame = right->kind == FKT_KFT_FRAME;

	if (left_is_frame || right_is_frame)
		return compare_numbers(left_is_frame, right_is_frame) ?: compare_numbers(left->cpu, right->cpu) ?:
		       compare_numbers(left->number, right->number);
	if (left->kind == FKT_KFT_WHOLE || right->kind == FKT_KFT_WHOLE)
		return compare_numbers(end_of(right), end_of(left));
	return compare_numbers(left->sequence, right->sequence);
}

static int compare_ends(const void *a, const void *b)
{
	return compare_numbers(end_of(a), end_of(b)) ?: compare_equal(a, b);
}

/* Returns whether the first one rather stays. */
static bool is_better(const struct fkt_kft_log *log, const struct fkt_kft_call *a, const struct fkt_kft_call *b)
{
	return log->newest ? compare_ends(b, a) < 0 : compare_ends(a, b) < 0;
}

/*
 * Moves lines from `low` to `high` that are better than one of them before those that it is better than. Returns the
 * last place of the former. With that in the middle, lines in any order of times are halved.
 */
static u32 part(struct fkt_kft_log *log, u32 low, u32 high)
{
	struct fkt_kft_call *calls = log->calls;
	const struct fkt_kft_call middle = calls[low + (high - low) / 2];
	u32 i = low, j = high;

	for (;; i++, j--) {
		while (is_better(log, &calls[i], &middle))
			i++;
		while (is_better(log, &middle, &calls[j]))
			j--;
		if (i >= j)
			return j;
		swap(calls[i], calls[j]);
	}
}

/* Drops the lines that do not stay. Takes time in proportion to their number. */
static void prune(struct fkt_kft_log *log)
{
	u32 low = 0, high = log->count - 1, last;

	if (log->count <= log->most)
		return;
	while (low < high) {
		last = part(log, low, high);
		if (log->most - 1 <= last)
			high = last;
		else
			low = last + 1;
	}
	log->dropped += log->count - log->most;
	log->count = log->most;
}

/* ---- names of the functions in stacks ---- */

static u32 *next_of(const struct fkt_kft_names *names, u32 place)
{
	return (u32 *)(names->text + place) - 1;
}

/* Makes room for `add` more bytes. Returns whether there is room. */
static bool make_room(struct fkt_kft_names *names, u32 add)
{
	const u32 room = max(2 * names->room, (u32)SZ_16K);
	char *larger;

	if (names->bytes + add <= names->room)
		return true;
	larger = kvmalloc(room, GFP_KERNEL_ACCOUNT);
	if (!larger)
		return false;
	if (names->bytes)
		memcpy(larger, names->text, names->bytes);
	kvfree(names->text);
	names->text = larger;
	names->room = room;
	return true;
}

/* Returns the name's place; 0: there is no memory for it. */
static u32 add_name(struct fkt_kft_names *names, const char *name)
{
	const u32 bytes = strlen(name) + 1;
	u32 *first = &names->first[full_name_hash(NULL, name, bytes - 1) % FKT_KFT_NAME_CHAINS], place;

	for (place = *first; place; place = *next_of(names, place))
		if (!strcmp(names->text + place, name))
			return place;
	if (!make_room(names, sizeof(u32) + ALIGN(bytes, sizeof(u32))))
		return 0;
	place = names->bytes + sizeof(u32);
	*next_of(names, place) = *first;
	memcpy(names->text + place, name, bytes);
	names->bytes = place + ALIGN(bytes, sizeof(u32));
	*first = place;
	return place;
}

/* Returns the place of the name of the function that a return address is in, as above. */
static u32 name_at(struct fkt_kft_names *names, u64 address)
{
	const u32 i = hash_64(address, ilog2(FKT_KFT_NAME_CHAINS));
	char name[KSYM_SYMBOL_LEN];

	if (names->known[i].name && names->known[i].address == address)
		return names->known[i].name;
	/* A call that never returns may be the last instruction of its function. */
	sprint_symbol_no_offset(name, address - 1);
	/* Behind a blank there is the name of its module. */
	name[strcspn(name, " ")] = 0;
	names->known[i].address = address;
	names->known[i].name = add_name(names, name);
	return names->known[i].name;
}

/* Called before pages are added some time after the last ones: modules may have been unloaded and loaded meanwhile. */
void fkt_kft_log_refresh(struct fkt_kft_log *log)
{
	if (log->names)
		memset(log->names->known, 0, sizeof(log->names->known));
}

/* frame: a line of the log. */
const char *fkt_kft_log_name(const struct fkt_kft_log *log, const struct fkt_kft_call *frame)
{
	return frame->name ? log->names->text + frame->name : "?";
}

/* ---- pages ---- */

static void add_line(struct fkt_kft_log *log, const struct fkt_kft_call *call)
{
	if (log->count == log->room)
		prune(log);
	log->calls[log->count++] = *call;
	log->seen++;
}

/* call: what the page says is set; words: of an event CALL_VALUES or CALL_VALUES_LONG, the last one is a value. */
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
	add_line(log, &call);
}

/* An entry of a watched function: its stack follows, unless events are lost. */
static void add_watched(struct fkt_kft_log *log, const struct fkt_kft_call *call)
{
	struct fkt_kft_watched *watched = &log->watched[call->cpu];

	/* In a task, no entry comes between a watched entry and its stack: stacks still awaited were lost. */
	if (call->level == FKT_LEVEL_TASK || watched->count == FKT_KFT_LEVELS)
		watched->count = 0;
	watched->entries[watched->count++] = *call;
}

/* call: what the page says is set; words: of an event with a function's number and one value. */
static void add_end(struct fkt_kft_log *log, struct fkt_kft_call call, enum fkt_kft_kind kind, const u64 *words)
{
	call.number = words[0] & ~FKT_KFT_WATCHED;
	call.level = words[1];
	call.kind = kind;
	call.sequence = log->seen;
	if (!(words[0] & FKT_KFT_WATCHED))
		add_line(log, &call);
	else if (log->watched)
		add_watched(log, &call);
}

/* frames: return addresses, the innermost one first. The outermost one gets the first line, the entry the last one. */
static void add_stack(struct fkt_kft_log *log, u16 cpu, const u64 *frames, u32 n)
{
	struct fkt_kft_watched *watched = log->watched ? &log->watched[cpu] : NULL;
	struct fkt_kft_call line;
	u32 i, entered;

	if (!watched || !watched->count)
		return;
	line = watched->entries[--watched->count];
	entered = line.number;
	line.kind = FKT_KFT_FRAME;
	for (i = 0; i < n; i++) {
		line.name = name_at(log->names, frames[n - 1 - i]);
		line.number = i;
		add_line(log, &line);
	}
	line.name = add_name(log->names, fkt_kft_symbol_name(log->symbols, &log->symbols->symbols[entered]));
	line.number = n;
	add_line(log, &line);
}

static void add_hit(struct fkt_kft_log *log, u32 instrument, u64 clock)
{
	if (instrument == FKT_KFT_PRIMES)
		log->primed = clock;
	if (instrument == FKT_KFT_BEGINS && !log->begun)
		log->begun = clock;
	if (instrument == FKT_KFT_ENDS)
		log->ended = clock;
}

/* Adds the events of a complete page. May sleep. */
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
		call.begin = clock;
		if (id == FKT_W_PID)
			call.pid = arg & FKT_PID_MASK;
		else if (id == FKT_E_CALL_VALUES && n == FKT_CALL_VALUES_HEAD + 1)
			add_call(log, call, &words[i + 1], n);
		else if (id == FKT_E_CALL_VALUES_LONG && n == FKT_CALL_VALUES_LONG_HEAD + 1)
			add_call(log, call, &words[i + 1], n);
		else if (id == FKT_E_FUNCTION_ENTRY_VALUES && n == 2)
			add_end(log, call, FKT_KFT_ENTERED, &words[i + 1]);
		else if (id == FKT_E_FUNCTION_EXIT_VALUES && n == 2)
			add_end(log, call, FKT_KFT_LEFT, &words[i + 1]);
		else if (id == FKT_E_STACK)
			add_stack(log, page->cpu, &words[i + 1], n);
		else if (id == FKT_E_HIT)
			add_hit(log, arg, clock);
	}
}

/* ---- order ---- */

static int compare_begins(const void *a, const void *b)
{
	return compare_numbers(((const struct fkt_kft_call *)a)->begin, ((const struct fkt_kft_call *)b)->begin) ?:
	       compare_equal(a, b);
}

/*
 * Returns a number that two calls share if one can contain the other: the context, and the thread (in an interrupt the
 * interrupted one; for idle tasks the CPU). Frames have a number of their own.
 */
static u64 place_of(const struct fkt_kft_call *call)
{
	if (call->kind == FKT_KFT_FRAME)
		return U64_MAX;
	return (u64)call->level << 48 | (u64)(call->pid ? 1 : 0) << 40 | (call->pid ?: call->cpu);
}

static int compare_places(const void *a, const void *b)
{
	return compare_numbers(place_of(a), place_of(b)) ?: compare_begins(a, b);
}

/* ---- nesting ---- */

/* Returns the place in the log of the innermost call that contains this one, plus 1. around: of the previous call. */
static u32 around_call(const struct fkt_kft_call *calls, u32 i, u32 around)
{
	while (around && end_of(&calls[around - 1]) < end_of(&calls[i]))
		around = calls[around - 1].caller;
	return around;
}

#define OPEN_MOST 1000 /* entries searched for that of an exit, at most */

/* Returns the place of the exit's entry, plus 1; 0: not seen. open: the same of the innermost open entry. */
static u32 entry_of(const struct fkt_kft_call *calls, u32 i, u32 open)
{
	u32 n;

	for (n = 0; open && n < OPEN_MOST; n++) {
		if (calls[open - 1].number == calls[i].number)
			return open;
		open = calls[open - 1].caller;
	}
	return 0;
}

/* Sets `caller` of a line. Returns the place of the line that can contain the next one, plus 1; 0: none can. */
static u32 find_caller(struct fkt_kft_call *calls, u32 i, u32 around)
{
	u32 entry;

	switch (calls[i].kind) {
	case FKT_KFT_WHOLE:
		calls[i].caller = around_call(calls, i, around);
		return i + 1;
	case FKT_KFT_ENTERED:
		calls[i].caller = around;
		return i + 1;
	case FKT_KFT_LEFT:
		entry = entry_of(calls, i, around);
		calls[i].caller = entry ? calls[entry - 1].caller : 0;
		return entry ? calls[i].caller : around;
	default:
		calls[i].caller = 0;
		return 0;
	}
}

/* Sets `caller` of all lines, which are sorted by place_of(): first to the caller's place in the log, plus 1. */
static void find_callers(struct fkt_kft_log *log)
{
	struct fkt_kft_call *calls = log->calls;
	u32 i, around = 0;

	for (i = 0; i < log->count; i++) {
		if (i && place_of(&calls[i - 1]) != place_of(&calls[i]))
			around = 0;
		around = find_caller(calls, i, around);
		if (!(i % 1024))
			cond_resched();
	}
	/* A caller's line precedes its callees, so going backwards its place is read before it is replaced. */
	for (i = log->count; i--;)
		if (calls[i].caller)
			calls[i].caller = calls[calls[i].caller - 1].number + 1;
}

/* ---- the whole ---- */

/*
 * most: lines that stay, those that end last with `newest`, else first; watches: stacks are watched. All memory for
 * lines is allocated here. Returns 0 or -ENOMEM; in any case the caller must call fkt_kft_log_free().
 */
int fkt_kft_log_begin(struct fkt_kft_log *log, const struct fkt_kft_symbols *symbols, u32 most, bool newest,
		      bool watches)
{
	*log = (struct fkt_kft_log){
		.symbols = symbols, .most = most, .newest = newest, .room = most + max_t(u32, most / 2, SLACK),
	};
	mutex_init(&log->lock);
	/* There may be a million lines: rather none than that other tasks are killed for them. */
	log->calls = __vmalloc(array_size(log->room, sizeof(*log->calls)),
			       GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	if (!log->calls)
		return -ENOMEM;
	if (!watches)
		return 0;
	log->watched = kvcalloc(nr_cpu_ids, sizeof(*log->watched), GFP_KERNEL_ACCOUNT);
	log->names = kvzalloc(sizeof(*log->names), GFP_KERNEL_ACCOUNT);
	return log->watched && log->names ? 0 : -ENOMEM;
}

/* The log is complete. */
void fkt_kft_log_finish(struct fkt_kft_log *log)
{
	prune(log);
}

/*
 * Finds the callers, and sorts the lines by their begins, unless that was done. May take a second, so it is not done
 * before somebody reads the log, which must be complete. Returns 0, or -EINTR: the task is being killed.
 */
int fkt_kft_log_sort(struct fkt_kft_log *log)
{
	if (mutex_lock_killable(&log->lock))
		return -EINTR;
	if (!log->is_sorted) {
		sort(log->calls, log->count, sizeof(*log->calls), compare_places, NULL);
		find_callers(log);
		sort(log->calls, log->count, sizeof(*log->calls), compare_begins, NULL);
		log->is_sorted = true;
	}
	mutex_unlock(&log->lock);
	return 0;
}

void fkt_kft_log_free(struct fkt_kft_log *log)
{
	vfree(log->calls);
	kvfree(log->watched);
	if (log->names)
		kvfree(log->names->text);
	kvfree(log->names);
	*log = (struct fkt_kft_log){};
}
